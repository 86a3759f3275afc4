//! Consequences of an achievement in other features, so that they can be read together: what
//! quests, agents and the player itself hear of it, and what a host does for those who come to it.

use std::sync::Arc;

use super::Outcome;
use crate::content::NpcKind;
use crate::entity::ids::CharacterId;
use crate::features::agents::Agent;
use crate::features::quests::Achievement;
use crate::features::training::skill::Skill;
use crate::features::visit::{self, Interface};
use crate::features::{prayer, vitals};
use crate::geometry::tile::Tile;
use crate::item::COINS;
use crate::world::World;

impl World {
    /// Returns the state of an agent that is here, to change it.
    pub(crate) fn agent_mut(&mut self, who: &CharacterId) -> Option<&mut Agent> {
        self.players.get_mut(who)?.agent.as_mut()
    }

    /// Counts an NPC that `killer` has killed: for its quests, its agent and its kills.
    pub(crate) fn killed(&mut self, killer: CharacterId, kind: &NpcKind, out: &mut Outcome) {
        self.did(&killer, Achievement::Killed(&kind.id), out);
        if let Some(agent) = self.agent_mut(&killer) {
            agent.killed();
        }
        let kills = out.changes.kills.entry(killer).or_default();
        *kills.entry(Arc::clone(&kind.id)).or_default() += 1;
    }

    /// Lets the agent of `who`, if it has one, know that it died at `tile`.
    pub(crate) fn died(&mut self, who: &CharacterId, tile: Tile) {
        let now = self.now;
        if let Some(agent) = self.agent_mut(who) {
            agent.died(tile, now);
        }
    }

    /// Lets the agent of `who`, if it has one, know that it took an item off the ground.
    pub(crate) fn took(&mut self, who: &CharacterId, item: &Arc<str>, quantity: u32) {
        let (content, now) = (Arc::clone(&self.content), self.now);
        if let Some(agent) = self.agent_mut(who) {
            let name = content.item(item).map_or(&**item, |kind| &*kind.name);
            agent.took(name, quantity, **item == *COINS, now);
        }
    }

    /// Plays what experience in `skill` means elsewhere. A new level in prayer fills the points.
    pub(crate) fn trained(
        &mut self,
        who: &CharacterId,
        skill: Skill,
        leveled_up: bool,
        out: &mut Outcome,
    ) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        if let Some(agent) = &mut player.agent {
            agent.trained(skill);
        }
        if leveled_up && skill == Skill::Constitution {
            out.emit(vitals::Event::Changed { who: who.clone() });
            out.touched.insert(who.entity());
        }
        let level = player.record.level(Skill::Prayer);
        if leveled_up && skill == Skill::Prayer && player.record.prayer.fill(level) {
            out.emit(prayer::Event::Changed { who: who.clone() });
        }
    }

    /// Lets a player do what it has come to a host for. All but an altar is open by now.
    pub(crate) fn come_for(&mut self, who: &CharacterId, what: Interface, out: &mut Outcome) {
        match what {
            Interface::Altar => self.pray_at_altar(who, out),
            Interface::Dialogue { .. } => self.begin_talk(who, out),
            Interface::Shop => out.events.extend(self.shop_shown(who)),
            Interface::Bank | Interface::Offer { .. } => {
                let who = who.clone();
                out.emit(visit::Event::Opened { who, what });
            }
        }
    }
}
