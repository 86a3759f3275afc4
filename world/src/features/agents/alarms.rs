//! Alarms of agents under attack: they eat when they are hurt, drink when they are poisoned, and run
//! from foes that are too strong.
//!
//! Always: alarms never act for an agent that is paused, or that somebody plays. Such an agent
//! fights back as any player does.

use super::fight::{self, Beast};
use super::tick::stop;
use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::features::combat::reach::CHASE_TILES;
use crate::features::combat::timing::SINGLE_TICKS;
use crate::features::{movement, use_item};
use crate::item::Value;
use crate::request::Limits;
use crate::tick::{Outcome, PhaseClock};
use crate::time::Tick;
use crate::world::World;

/// Ticks for which a fleeing agent does not hit back.
const FLIGHT_TICKS: u64 = 25;
/// Divisor of a tick's searches: the share for agents that flee.
const SEARCH_SHARE: u64 = 8;
/// Most beasts that an agent looks at.
const BEASTS_MAX: usize = 16;

impl World {
    /// Lets each agent under attack or with poison in it eat, if it is hurt and has food, or drink
    /// what ends the poison. Otherwise lets it flee from a foe that is too strong.
    pub(crate) fn alarm_agents(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let now = self.now;
        let ails = |p: &&Player| is_struck(p, now) || p.record.potions.poison.is_some();
        let ailing = self.players.values().filter(|p| acts(p)).filter(ails);
        let ailing: Vec<CharacterId> = ailing.map(|p| p.record.id.clone()).collect();
        let mut searches = self.share_searches(SEARCH_SHARE, ailing.iter());
        for who in ailing {
            let end = searches.turn(&who);
            let Some(player) = self.players.get(&who) else {
                continue;
            };
            phases.region(player.region);
            let struck = is_struck(player, now);
            let remedy = fight::remedy(player.record(), &self.content);
            let ready = player.skilling.next_action_at <= now && value.open().is_ok();
            match remedy {
                Some(slot) if ready => {
                    let limits = Limits {
                        value,
                        searches_end: end,
                    };
                    let request = use_item::Intent::Use { slot, skill: None };
                    self.asks(&who, request, limits, out);
                }
                Some(_) => {}
                None if struck => self.flee(&who, end, out),
                None => {}
            }
        }
    }

    /// Sends an agent to the nearest bank, if its attacker is too strong for it now.
    fn flee(&mut self, who: &CharacterId, end: u64, out: &mut Outcome) {
        let now = self.now;
        let Some(player) = self.players.get(who) else {
            return;
        };
        let foe = player.fight.clash.attacked_by.as_ref();
        let npc = foe.and_then(|foe| self.npcs.get(&foe.who));
        let level = npc.map_or(0, |npc| npc.placement.kind.level);
        let runs = player.agent.as_ref().is_some_and(|agent| agent.flees(now));
        if runs || !fight::flees(player.record(), level) {
            return;
        }
        let refuge = fight::refuge(&self.content, player.tile());
        let (router, terrain) = (&mut self.router, self.content.terrain());
        let Ok(path) = movement::way(player, router, terrain, end, refuge) else {
            return;
        };
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        stop(player, out);
        player.gait.path = path;
        if let Some(agent) = &mut player.agent {
            agent.flees_until = now.after(FLIGHT_TICKS);
        }
    }

    /// Returns the beasts near an agent that it may fight, the nearest first.
    pub(crate) fn beasts(&self, player: &Player) -> Vec<Beast> {
        let (from, level) = (player.tile(), player.record.combat_level);
        let near = self.entities_near(from, CHASE_TILES);
        let fit = near.into_iter().filter_map(|id| {
            let npc = self.npcs.get(id).filter(|npc| npc.lives())?;
            let suits = fight::suits(&npc.placement.kind, level);
            let free = suits && self.may_attack(&player.record.id.entity(), id).is_ok();
            (free && from.steps_to(npc.state.tile) <= CHASE_TILES).then(|| Beast {
                id: id.clone(),
                tile: npc.state.tile,
                level: npc.placement.kind.level,
            })
        });
        let mut beasts: Vec<Beast> = fit.collect();
        beasts.sort_by_key(|beast| (from.steps_to(beast.tile), beast.id.clone()));
        beasts.truncate(BEASTS_MAX);
        beasts
    }
}

/// Returns whether somebody attacked a player just now.
fn is_struck(player: &Player, now: Tick) -> bool {
    let foe = player.fight.clash.attacked_by.as_ref();
    foe.is_some_and(|foe| now.since(foe.at) < SINGLE_TICKS)
}

/// Returns whether a player is an agent that may react by itself.
fn acts(player: &Player) -> bool {
    let agent = player.agent.as_ref();
    let own = agent.is_some_and(|agent| !agent.played() && !agent.orders().paused);
    own && player.free()
}
