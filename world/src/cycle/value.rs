//! What moves items and coins: intents that do it at once, and the phase of the ground.

use super::{Answer, Outcome, PhaseClock, failed, turn_away};
use crate::content::EquipSlot;
use crate::event::Event;
use crate::ids::{CharacterId, EntityId};
use crate::item::ground::{GRAVE_PREFIX, GroundItem, ID_PREFIX};
use crate::item::ledger::Cause;
use crate::item::possessions::Touched;
use crate::item::transfer::{self, Holdings, Leg};
use crate::item::{COINS, Stack, Value};
use crate::player::Player;
use crate::refusal::Refusal;
use crate::rules::{agent, coins, ground_items, movement};
use crate::tile::{Chunk, Region, Tile};
use crate::world::World;

/// Ids that a world can give out in one tick.
const MINTED_MAX: u64 = 1 << 20;

/// Where something comes to lie, and whose it is at first.
pub(super) struct Lying {
    pub(super) tile: Tile,
    pub(super) region: Region,
    pub(super) owner: Option<CharacterId>,
}

impl World {
    /// Moves value, all or nothing, and tells whose it was and is.
    pub(super) fn transfer(
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
        if let Some(cause) = cause {
            self.count_work(cause, legs, out);
        }
        for (who, touched) in receipt.people {
            if let Some(player) = self.players.get_mut(&who) {
                player.carries(&touched);
            }
            let pack = !touched.slots.is_empty();
            let rearmed = touched.worn.contains(&EquipSlot::Weapon);
            tell(who.clone(), touched, out);
            if rearmed {
                self.rearm(&who, out);
            }
            if pack {
                self.has_with_it(&who, out);
            }
        }
        Ok(())
    }

    /// The id that the next thing made here gets: no other thing ever has it, for a run plays a
    /// tick once.
    pub(super) fn next_id(&self, prefix: &str) -> Result<EntityId, Refusal> {
        if self.minted >= MINTED_MAX {
            return Err(Refusal::Busy);
        }
        let number = self.now.0.saturating_mul(MINTED_MAX);
        let number = number.saturating_add(self.minted);
        Ok(format!("{prefix}{}-{number}", self.run_id).into())
    }

    /// An id for something that is made now.
    pub(super) fn mint(&mut self, prefix: &str) -> Result<EntityId, Refusal> {
        let id = self.next_id(prefix)?;
        self.minted += 1;
        Ok(id)
    }

    pub(super) fn drop(
        &mut self,
        who: &CharacterId,
        slot: u8,
        quantity: Option<u32>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let id = self.next_id(ID_PREFIX)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let (content, ground, asked) = (&self.content, &self.ground, (slot, quantity));
        let by = (self.now, &self.rules);
        let legs = ground_items::drop(player, content, ground, by, asked, id)?;
        let tile = player.tile();
        self.transfer(Some(Cause::Drop), &legs, out)?;
        self.minted += 1;
        self.clear_pile(tile, out)
    }

    /// Lays `stack` on the ground, which comes `from` somewhere for a cause.
    ///
    /// # Errors
    /// `Busy`: too much lies about; else as [`World::transfer`].
    pub(super) fn lay(
        &mut self,
        stack: Stack,
        place: &Lying,
        (cause, from): (Cause, &[Leg]),
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
        let mut legs = from.to_vec();
        legs.push(ground_items::laid(
            &self.content,
            &self.ground,
            self.now,
            item,
        )?);
        self.transfer(Some(cause), &legs, out)?;
        self.minted += 1;
        self.clear_pile(place.tile, out)
    }

    /// What a pile is too high for is gone.
    fn clear_pile(&mut self, tile: Tile, out: &mut Outcome) -> Result<(), Refusal> {
        while let Some(id) = ground_items::buried(&self.ground, tile) {
            self.transfer(Some(Cause::Expire), &[Leg::FromGround { id }], out)?;
        }
        Ok(())
    }

    pub(super) fn pick_up(
        &mut self,
        who: &CharacterId,
        number: u64,
        target: EntityId,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let from = player.tile();
        let Some(item) = self.ground.seen(&target) else {
            return self.absent(who, target);
        };
        ground_items::may_take(item, who, from, self.now)?;
        if item.tile == from {
            self.take(who, &target, out)?;
            return Ok(Answer::Done { value: true });
        }
        let (router, terrain) = (&mut self.router, self.content.terrain());
        player.path = movement::way_onto(player, router, terrain, searches_end, item.tile)?;
        turn_away(player, out);
        player.pickup = Some(ground_items::pending(item, number));
        Ok(Answer::Done { value: false })
    }

    /// What to say of something to pick up that does not lie here.
    fn absent(&self, who: &CharacterId, target: EntityId) -> Result<Answer, Refusal> {
        let prefixes = [ID_PREFIX, GRAVE_PREFIX];
        if !prefixes
            .iter()
            .any(|prefix| target.as_str().starts_with(prefix))
        {
            let there = self.look(&target).is_some();
            return Err(if there {
                Refusal::Unsupported
            } else {
                Refusal::NotFound
            });
        }
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let played = |region| self.regions.contains_key(&region);
        if ground_items::may_be_elsewhere(&self.content, player.tile(), played) {
            return Ok(Answer::Elsewhere { target });
        }
        Err(Refusal::NotFound)
    }

    /// One who stands where something lies takes it, and has done what it came for.
    fn take(
        &mut self,
        who: &CharacterId,
        target: &EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let item = self.ground.seen(target).ok_or(Refusal::NotFound)?;
        if item.grave.is_some() {
            self.loot(who, target, out)?;
            self.took(who, out);
            return Ok(());
        }
        ground_items::may_take(item, who, player.tile(), self.now)?;
        let legs = ground_items::take(player, item);
        let (item, quantity) = (item.item.clone(), item.quantity);
        self.transfer(Some(Cause::Pickup), &legs, out)?;
        let (content, now) = (&self.content, self.now);
        let agent = self.players.get_mut(who).and_then(|p| p.agent.as_mut());
        if let Some(agent) = agent {
            let name = content.item(&item).map_or(&*item, |kind| &*kind.name);
            agent::took(agent, name, quantity, *item == *COINS, now);
        }
        self.took(who, out);
        Ok(())
    }

    /// One has what it came for.
    fn took(&mut self, who: &CharacterId, out: &mut Outcome) {
        if let Some(player) = self.players.get_mut(who) {
            player.path.clear();
            turn_away(player, out);
        }
    }

    pub(super) fn move_slot(
        &mut self,
        who: &CharacterId,
        from: u8,
        to: u8,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = who.clone();
        self.transfer(None, &[Leg::Swap { who, from, to }], out)
    }

    pub(super) fn withdraw(
        &mut self,
        who: &CharacterId,
        amount: u32,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = coins::withdraw(player, amount);
        self.transfer(None, &legs, out)
    }

    pub(super) fn deposit(
        &mut self,
        who: &CharacterId,
        amount: Option<u32>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = coins::deposit(player, amount)?;
        self.transfer(None, &legs, out)
    }

    /// Who has come to what it is to take takes it; what is due is anybody's, or gone.
    pub(super) fn play_ground(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let coming = |player: &&Player| player.pickup.is_some() && !player.held;
        let coming = self.players.values().filter(coming);
        let mut coming: Vec<(u32, CharacterId)> = coming
            .map(|player| (player.pid, player.record.id.clone()))
            .collect();
        coming.sort_unstable();
        for (_, who) in coming {
            if let Some(player) = self.players.get(&who) {
                phases.region(player.region);
            }
            self.come_to(&who, value, out);
        }
        out.touched.extend(self.ground.published(self.now));
        if value == Value::Unavailable {
            return;
        }
        self.open_graves(out);
        let mut graves = Vec::new();
        for id in self.ground.expired(self.now) {
            if let Some(item) = self.ground.get(&id) {
                phases.region(item.region);
                graves.extend(item.owner.clone().zip(item.grave.clone()));
            }
            // It lies there, so that nothing can be refused.
            let _ = self.transfer(Some(Cause::Expire), &[Leg::FromGround { id }], out);
        }
        graves.dedup();
        for (owner, grave) in graves {
            self.show_grave(&owner, &grave, out);
        }
    }

    /// One step on in picking something up.
    fn come_to(&mut self, who: &CharacterId, value: Value, out: &mut Outcome) {
        let Some(player) = self.players.get(who) else {
            return;
        };
        let Some(pickup) = &player.pickup else { return };
        let refusal = match self.ground.seen(&pickup.target) {
            None if self.regions.contains_key(&pickup.region) => Refusal::NotFound,
            None => Refusal::Interrupted,
            Some(item) if item.tile == player.tile() => {
                let target = pickup.target.clone();
                let taken = value.open().and_then(|()| self.take(who, &target, out));
                match taken {
                    Ok(()) => return,
                    Err(refusal) => refusal,
                }
            }
            Some(_) if player.path.is_empty() => Refusal::Unreachable,
            Some(_) => return,
        };
        if let Some(player) = self.players.get_mut(who) {
            player.pickup = None;
            player.path.clear();
            out.events.push(failed(player, refusal));
        }
    }
}

/// Tells somebody what has become different of what it has.
fn tell(who: CharacterId, touched: Touched, out: &mut Outcome) {
    let whose = || who.clone();
    if !touched.slots.is_empty() {
        let (who, slots) = (whose(), touched.slots);
        out.events.push(Event::Inventory { who, slots });
    }
    if !touched.worn.is_empty() {
        let (who, slots) = (whose(), touched.worn);
        out.events.push(Event::Equipment { who, slots });
    }
    if let Some(items) = touched.bank {
        out.events.push(Event::Bank {
            who: whose(),
            items,
        });
    }
    if touched.coins {
        out.events.push(Event::Coins { who });
    }
}
