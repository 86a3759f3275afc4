//! Deaths, the remains, and respawns.
//!
//! Always: the dead do nothing, and nobody does anything to them. A player stands up at the spawn
//! with full health, after [`timing::DYING_TICKS`]. An NPC comes back at its spawn.

use std::sync::Arc;

use super::Event;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::persistent::LASTS_TICKS;
use crate::features::combat::{Dying, NpcCombat, loot, timing};
use crate::features::{movement, prayer, visit, vitals};
use crate::geometry::tile::{Chunk, Region, Tile};
use crate::item::Stack;
use crate::item::ledger::Cause;
use crate::tick::value::Lying;
use crate::tick::value::Origin;
use crate::tick::{Outcome, interrupt};
use crate::world::World;

/// Sets the dice of the loot apart from others of the same NPC.
const LOOT_DICE: u64 = 0x10_07;

/// Most things of one entry that an NPC leaves behind if they cannot be stacked.
const LOOSE_MAX: u32 = 28;

impl World {
    /// Buries those that a blow has just killed, each with the one who dealt the blow.
    pub(crate) fn bury(&mut self, dead: Vec<(EntityId, EntityId)>, out: &mut Outcome) {
        for (id, killer) in dead {
            if self.npcs.contains_key(&id) {
                self.npc_dies(&id, out);
            } else {
                self.player_dies(&id.character(), Some(&killer), out);
            }
        }
    }

    /// Takes an NPC away until it comes back; its loot belongs to the one who hurt it most.
    fn npc_dies(&mut self, id: &EntityId, out: &mut Outcome) {
        let now = self.now;
        let Some(npc) = self.npcs.get_mut(id) else {
            return;
        };
        let combat = std::mem::take(&mut npc.state.combat);
        let back_at = now.after(u64::from(npc.placement.respawn_ticks.max(1)));
        npc.state.combat = NpcCombat {
            back_at: Some(back_at),
            ..NpcCombat::default()
        };
        npc.state.goal = None;
        if back_at.since(now) > LASTS_TICKS {
            let chunk = Chunk::from(npc.placement.tile);
            out.changes.persistent_objects.insert(chunk);
        }
        let (kind, key) = (Arc::clone(&npc.placement.kind), npc.placement.key);
        let (tile, region) = (npc.state.tile, npc.region);
        self.index.take(Chunk::from(tile), id);
        out.touched.insert(id.clone());
        let last = combat.clash.attacked.map(|foe| foe.who.character());
        let knew = combat.hurt_by.iter().map(|(who, _)| who).chain(&last);
        for who in knew {
            self.released(who, id);
        }
        let killer = loot::killer(&combat.hurt_by).cloned();
        let mut dice = self.mint.dice(key ^ LOOT_DICE, now);
        let place = Lying {
            tile,
            region,
            owner: killer.clone(),
        };
        for stack in loot::left(&self.content, &kind.drops, &mut dice) {
            self.leave_behind(&stack, &place, out);
        }
        if let Some(killer) = killer.filter(|who| self.players.contains_key(who)) {
            self.killed(killer, &kind, out);
        }
    }

    /// Lets a player that fought the dead one fight others at once.
    fn released(&mut self, who: &CharacterId, dead: &EntityId) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let clash = &mut player.fight.clash;
        clash.attacked_by.take_if(|foe| foe.who == *dead);
        clash.attacked.take_if(|foe| foe.who == *dead);
    }

    /// Lays the possessions of an NPC on the ground: those that cannot be stacked, thing by thing.
    fn leave_behind(&mut self, stack: &Stack, place: &Lying, out: &mut Outcome) {
        let piles = if self.content.stackable(&stack.item) {
            vec![stack.clone()]
        } else {
            let one = || Stack::new(stack.item.clone(), 1);
            (0..stack.quantity.min(LOOSE_MAX)).map(|_| one()).collect()
        };
        for pile in piles {
            // If the world is full of things, it makes no more.
            let origin = Origin {
                cause: Cause::Loot,
                legs: &[],
            };
            let _ = self.lay(pile, place, origin, out);
        }
    }

    /// Ends all that a player does when it has no health left.
    pub(crate) fn player_dies(
        &mut self,
        who: &CharacterId,
        killer: Option<&EntityId>,
        out: &mut Outcome,
    ) {
        let until = self.now.after(timing::DYING_TICKS);
        let name = killer.and_then(|id| self.name_of(id));
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        interrupt(player, out);
        visit::tick::close(player, out);
        player.gait.path.clear();
        player.skilling.tiles_gone = 0;
        player.fight.clash.forget();
        player.fight.clash.coming.clear();
        player.fight.drained = 0;
        player.fight.dying = Some(Dying { until });
        player.record.health = 0;
        player.record.prayer.active.clear();
        let tile = player.tile();
        out.changes.altered.insert(who.clone());
        out.touched.insert(who.entity());
        self.bequeath(who, killer, out);
        self.died(who, tile);
        let whose = || who.clone();
        out.emit(Event::Died {
            who: whose(),
            killer: name,
            tile,
            until,
        });
        out.emit(vitals::Event::Changed { who: whose() });
        out.emit(prayer::Event::Changed { who: whose() });
    }

    fn name_of(&self, id: &EntityId) -> Option<Arc<str>> {
        if let Some(npc) = self.npcs.get(id) {
            return Some(Arc::clone(&npc.placement.name));
        }
        let player = self.players.get(&id.character())?;
        Some(player.record.name.as_str().into())
    }

    /// Lets those who have been dead for long enough stand up, or sends them to the place for it.
    pub(crate) fn raise_the_dead(&mut self, out: &mut Outcome) {
        let now = self.now;
        let due = self.players.values().filter(|player| {
            let dying = player.fight.dying.as_ref();
            let ripe = dying.is_some_and(|dying| dying.until <= now);
            // If a player fell in a ring, it rises when that duel is over.
            let fell = player.dealings.duel.is_some();
            ripe && !fell && !player.gait.held && player.leaving_for().is_none()
        });
        let due: Vec<CharacterId> = due.map(|p| p.record.id.clone()).collect();
        for who in due {
            let place = self.content.home_of(&who);
            if self.regions.contains_key(&Region::from(place)) {
                self.revive(&who, Some(place), out);
            } else if let Some(player) = self.players.get_mut(&who) {
                // It is dead until it is there, or until the way there comes to nothing.
                let _ = player.homeward.send(place, now);
            }
        }
    }

    /// Makes a dead player well: at `place`, or where it stands.
    pub(crate) fn revive(&mut self, who: &CharacterId, place: Option<Tile>, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        player.fight.dying = None;
        player.fight.clash.forget();
        player.record.health = player.record.max_health();
        if let Some(place) = place {
            let before = Chunk::from(player.tile());
            player.gait.path.clear();
            player.stand(self.content.terrain(), place);
            self.index.shift(before, Chunk::from(place), &who.entity());
            out.emit(movement::Event::Teleported {
                who: who.clone(),
                tile: place,
            });
        }
        let tile = player.tile();
        out.changes.altered.insert(who.clone());
        out.touched.insert(who.entity());
        out.emit(Event::Respawned {
            who: who.clone(),
            tile,
        });
        out.emit(vitals::Event::Changed { who: who.clone() });
    }
}
