//! Transfers of items and coins: intents that move them at once, and the phase of the ground.

use super::Outcome;
use crate::content::EquipSlot;
use crate::entity::ground_item::{GroundItem, ID_PREFIX};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::{bank, equipment, pack};
use crate::geometry::tile::{Chunk, Region, Tile};
use crate::item::Stack;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::item::possessions::Touched;
use crate::item::transfer::{self, Holdings};
use crate::refusal::Refusal;
use crate::world::World;

/// Place of something on the ground, and its first owner.
pub(crate) struct Lying {
    pub(crate) tile: Tile,
    pub(crate) region: Region,
    pub(crate) owner: Option<CharacterId>,
}

/// Source of a stack that is laid on the ground.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) cause: Cause,
    /// Movements that make the stack free; none: it is made of nothing.
    pub(crate) legs: &'a [Leg],
}

impl World {
    /// Moves value, all or nothing, and tells its old and new holders.
    pub(crate) fn transfer(
        &mut self,
        cause: Option<Cause>,
        legs: &[Leg],
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let mut holdings = Holdings {
            content: &self.content,
            players: &mut self.players,
            ground: &mut self.ground,
        };
        let receipt = transfer::transfer(&mut holdings, cause, legs, &mut out.changes)?;
        for (id, tile, lies) in receipt.ground {
            let chunk = Chunk::from(tile);
            if lies {
                self.index.put(chunk, id.clone());
            } else {
                self.index.take(chunk, &id);
            }
            out.touched.insert(id);
        }
        self.count_work(cause, legs, out);
        for (who, touched) in receipt.people {
            let pack = !touched.slots.is_empty();
            let player = self.players.get_mut(&who);
            if let Some(player) = player.filter(|_| pack || !touched.worn.is_empty()) {
                player.gait.carries_other();
            }
            let (rearmed, dressed) = (
                touched.worn.contains(&EquipSlot::Weapon),
                !touched.worn.is_empty(),
            );
            if touched.worn.iter().any(|place| equipment::is_seen(*place)) {
                out.touched.insert(who.entity());
            }
            tell(who.clone(), touched, out);
            if rearmed {
                self.rearm(&who, out);
            }
            if pack {
                self.has_with_it(&who, out);
            }
            if dressed {
                self.wears_now(&who, out);
            }
        }
        Ok(())
    }

    /// Returns the id of the next thing made here.
    pub(crate) fn next_id(&self, prefix: &str) -> Result<EntityId, Refusal> {
        self.mint.next(prefix, self.now)
    }

    /// Gives out an id for something made now.
    pub(crate) fn mint(&mut self, prefix: &str) -> Result<EntityId, Refusal> {
        let id = self.next_id(prefix)?;
        self.mint.used();
        Ok(id)
    }

    /// Lays `stack`, which comes from its origin, on the ground.
    ///
    /// # Errors
    /// `Busy`: too much lies about; else the errors of [`World::transfer`].
    pub(crate) fn lay(
        &mut self,
        stack: Stack,
        place: &Lying,
        origin: Origin<'_>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let item = GroundItem {
            id: self.next_id(ID_PREFIX)?,
            region: place.region,
            tile: place.tile,
            item: stack.item,
            quantity: stack.quantity,
            owner: place.owner.clone(),
            public_at: self.now.after(self.rules.ground_own_ticks),
            expires_at: self.now.after(self.rules.ground_ticks),
            grave: None,
        };
        let mut legs = origin.legs.to_vec();
        legs.push(Leg::laying(&self.ground, &self.content, self.now, item)?);
        self.transfer(Some(origin.cause), &legs, out)?;
        self.mint.used();
        self.clear_pile(place.tile, out)
    }

    /// Removes the items that are too many for the pile on `tile`.
    pub(crate) fn clear_pile(&mut self, tile: Tile, out: &mut Outcome) -> Result<(), Refusal> {
        while let Some(id) = self.ground.surplus(tile).cloned() {
            self.transfer(Some(Cause::Expire), &[Leg::FromGround { id }], out)?;
        }
        Ok(())
    }
}

/// Tells `who` about the changes to its possessions.
fn tell(who: CharacterId, touched: Touched, out: &mut Outcome) {
    let whose = || who.clone();
    if !touched.slots.is_empty() {
        let (who, slots) = (whose(), touched.slots);
        out.emit(pack::Event::Slots { who, slots });
    }
    if !touched.worn.is_empty() {
        let (who, slots) = (whose(), touched.worn);
        out.emit(equipment::Event::Changed { who, slots });
    }
    if let Some(items) = touched.bank {
        out.emit(bank::Event::Changed {
            who: whose(),
            items,
        });
    }
    if touched.coins {
        out.emit(pack::Event::Coins { who });
    }
}
