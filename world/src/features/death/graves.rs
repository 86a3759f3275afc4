//! Graves: the things that a dead player leaves, their owner's return, and the fate of the rest.
//!
//! Always: the ledger counts the contents of a grave as on the ground, and no grave is empty; a
//! death is one transfer.

use super::rules::{self, Lost, Place};
use super::told::GraveUpdate;
use crate::entity::ground_item::{GRAVE_PREFIX, GroundChange, GroundItem, ID_PREFIX};
use crate::entity::ids::{CharacterId, EntityId};
use crate::event::Event;
use crate::features::agents::Grave;
use crate::features::duel::DuelEnd;
use crate::features::trade::TradeEnd;
use crate::features::{death, newcomer};
use crate::geometry::tile::Chunk;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::tick::Outcome;
use crate::time::{TICK_MS, Tick};
use crate::told::Stack;
use crate::world::World;

/// Ticks for which only its owner opens a grave: 15 min. Then the contents lie about.
const GRAVE_TICKS: u64 = 1_500;

/// Times of the things of the dead.
struct Term {
    /// Tick until which only the owner takes them.
    opens_at: Tick,
    /// Tick from which others see them.
    public_at: Tick,
    /// Tick at which they go.
    expires_at: Tick,
}

impl World {
    /// Returns the times of the things of somebody who dies at `place` now.
    fn term(&self, place: Place, newcomer: bool) -> Term {
        let own_ticks = if place == Place::Contested {
            self.rules.ground_own_ticks
        } else {
            GRAVE_TICKS
        };
        let lies_ticks = match place {
            Place::Contested => self.rules.ground_ticks.saturating_sub(own_ticks),
            Place::Safe | Place::Wild => self.rules.ground_ticks,
        };
        let opens_at = self.now.after(own_ticks);
        let (public_at, expires_at) = if newcomer {
            (GroundItem::never_public(opens_at), opens_at)
        } else {
            (opens_at, opens_at.after(lies_ticks))
        };
        Term {
            opens_at,
            public_at,
            expires_at,
        }
    }

    /// Divides the things of the dead player `who`: it keeps some, and the rest go to a grave or to
    /// its killer.
    pub(crate) fn bequeath(
        &mut self,
        who: &CharacterId,
        killer: Option<&EntityId>,
        out: &mut Outcome,
    ) {
        self.end_trades_of(who, TradeEnd::PlayerDied, out);
        self.end_duels_of(who, DuelEnd::PlayerDied, out);
        let Some(player) = self.players.get(who) else {
            return;
        };
        let (tile, region) = (player.tile(), player.region);
        let newcomer = newcomer::is_newcomer(player.record(), &self.rules);
        let place = match rules::place(&self.content, tile) {
            // Nobody gets the things of a newcomer.
            Place::Contested if newcomer => Place::Wild,
            place => place,
        };
        let lost = rules::lost(player.record(), &self.content, place);
        if lost.is_empty() {
            return;
        }
        let killer = killer.map(EntityId::character);
        let killer = killer.filter(|killer| self.players.contains_key(killer));
        let Ok(grave) = self.mint(GRAVE_PREFIX) else {
            return;
        };
        let term = self.term(place, newcomer);
        let mut legs = Vec::with_capacity(2 * lost.len());
        for Lost { legs: taken, stack } in lost {
            let Ok(id) = self.mint(ID_PREFIX) else {
                return;
            };
            let item = GroundItem {
                id,
                region,
                tile,
                item: stack.item,
                quantity: stack.quantity,
                owner: Some(match &killer {
                    Some(killer) if place == Place::Contested => killer.clone(),
                    Some(_) | None => who.clone(),
                }),
                public_at: term.public_at,
                expires_at: term.expires_at,
                grave: (place != Place::Contested).then(|| grave.clone()),
            };
            legs.extend(taken);
            let merges_with = None;
            legs.push(Leg::ToGround { item, merges_with });
        }
        // Everything is there and nothing has the same id, so that the transfer can refuse nothing.
        if self.transfer(Some(Cause::Death), &legs, out).is_err() {
            return;
        }
        if place == Place::Contested {
            // The rest of the pile stays as it is if the transfer refuses it.
            let _ = self.clear_pile(tile, out);
        } else {
            self.show_grave(who, &grave, out);
            let grave = Grave {
                id: grave,
                tile,
                until: term.opens_at,
            };
            if let Some(agent) = self.agent_mut(who) {
                agent.grave = Some(grave);
            }
        }
    }

    /// Shows the contents of a grave to its owner.
    pub(crate) fn show_grave(&self, who: &CharacterId, grave: &EntityId, out: &mut Outcome) {
        if !self.players.contains_key(who) {
            return;
        }
        let things = self.ground.in_grave(grave);
        let mut shown = GraveUpdate {
            grave_id: grave.clone(),
            position: None,
            items: Vec::new(),
            expires_in_ms: 0,
        };
        for item in things {
            let ticks = item.public_at.min(item.expires_at).since(self.now);
            shown.position = Some(item.tile);
            shown.expires_in_ms = ticks.saturating_mul(TICK_MS);
            shown.items.push(Stack {
                item_id: item.item.clone(),
                quantity: item.quantity,
            });
        }
        out.emit(death::Event::Grave(who.clone(), shown));
    }

    /// Returns the graves of `who` that are here, as they are now.
    pub fn graves_shown(&self, who: &CharacterId) -> Vec<Event> {
        let mut out = Outcome::default();
        for grave in self.ground.graves_of(who) {
            self.show_grave(who, &grave, &mut out);
        }
        out.events
    }

    /// Takes out of a grave as much as the player at it can carry.
    pub(crate) fn loot(
        &mut self,
        who: &CharacterId,
        grave: &EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let things: Vec<EntityId> = self.ground.in_grave(grave).map(|i| i.id.clone()).collect();
        let mut taken = Err(Refusal::NotFound);
        for id in things {
            let player = self.players.get(who).ok_or(Refusal::NotFound)?;
            let item = self.ground.get(&id).ok_or(Refusal::NotFound)?;
            item.may_take(who, player.tile(), self.now)?;
            let legs = Leg::taking(item, player.record());
            let moved = self.transfer(Some(Cause::Pickup), &legs, out);
            taken = taken.or(moved);
        }
        if taken.is_ok() {
            self.show_grave(who, grave, out);
        }
        taken
    }

    /// Lays out the items that have been in a grave for long enough: from now on anybody may take
    /// them.
    pub(crate) fn open_graves(&mut self, out: &mut Outcome) {
        let due = self.ground.graves_due(self.now);
        let mut opened = Vec::new();
        for id in due {
            let Some(mut item) = self.ground.get(&id).cloned() else {
                continue;
            };
            let chunk = Chunk::from(item.tile);
            if let Some(grave) = item.grave.take() {
                self.index.take(chunk, &grave);
                out.touched.insert(grave.clone());
                opened.extend(item.owner.clone().map(|owner| (owner, grave)));
            }
            self.index.put(chunk, id.clone());
            out.touched.insert(id.clone());
            self.ground.put(item.clone());
            out.changes.ground.insert(id, GroundChange::Put(item));
        }
        opened.dedup();
        for (owner, grave) in opened {
            self.show_grave(&owner, &grave, out);
        }
    }
}

#[cfg(test)]
#[path = "graves_tests.rs"]
mod tests;
