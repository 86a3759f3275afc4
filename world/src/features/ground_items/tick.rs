//! Dropping and picking up, and the phase of the ground.

use super::Intent;
use super::rules::Dropped;
use crate::entity::ground_item::{GRAVE_PREFIX, ID_PREFIX};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::features::{ground_items, movement};
use crate::item::Value;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::{Outcome, PhaseClock, failed, turn_away};
use crate::world::World;

impl World {
    /// Plays a request about ground items.
    pub(crate) fn answer_ground_items(
        &mut self,
        asked: Asked<'_>,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Drop { slot, quantity } => {
                self.drop(asked.who, slot, quantity, out)?;
                Ok(Answer::Done { value: true })
            }
            Intent::Pickup { target } => {
                self.pick_up(asked.who, asked.number, target, searches_end, out)
            }
        }
    }

    pub(crate) fn drop(
        &mut self,
        who: &CharacterId,
        slot: u8,
        quantity: Option<u32>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let id = self.next_id(ID_PREFIX)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let (content, ground, rules) = (&self.content, &self.ground, &self.rules);
        let dropped = Dropped { slot, quantity, id };
        let legs = ground_items::rules::drop(player, content, ground, self.now, rules, dropped)?;
        let tile = player.tile();
        self.transfer(Some(Cause::Drop), &legs, out)?;
        self.mint.used();
        self.clear_pile(tile, out)
    }

    pub(crate) fn pick_up(
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
        item.may_take(who, from, self.now)?;
        if item.tile == from {
            self.take(who, &target, out)?;
            return Ok(Answer::Done { value: true });
        }
        let (router, terrain) = (&mut self.router, self.content.terrain());
        player.gait.path = movement::way_onto(player, router, terrain, searches_end, item.tile)?;
        turn_away(player, out);
        player.pickup = Some(ground_items::rules::pending(item, number));
        Ok(Answer::Done { value: false })
    }

    /// Answers a request to pick up something that does not lie here.
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
        if self.may_be_elsewhere(player.tile()) {
            return Ok(Answer::Elsewhere { target });
        }
        Err(Refusal::NotFound)
    }

    /// Lets `who` take a thing from its own tile, and ends the pickup.
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
            self.end_pickup(who, out);
            return Ok(());
        }
        item.may_take(who, player.tile(), self.now)?;
        let legs = Leg::taking(item, player.record());
        let (item, quantity) = (item.item.clone(), item.quantity);
        self.transfer(Some(Cause::Pickup), &legs, out)?;
        self.took(who, &item, quantity);
        self.end_pickup(who, out);
        Ok(())
    }

    /// Ends the pickup of `who`, who has the thing.
    fn end_pickup(&mut self, who: &CharacterId, out: &mut Outcome) {
        if let Some(player) = self.players.get_mut(who) {
            player.gait.path.clear();
            turn_away(player, out);
        }
    }

    /// Lets players take the things that they have reached; makes due things anybody's, or removes
    /// them.
    pub(crate) fn play_ground(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let coming = |player: &&Player| player.pickup.is_some() && !player.gait.held;
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
            // The thing lies there, so the transfer cannot refuse.
            let _ = self.transfer(Some(Cause::Expire), &[Leg::FromGround { id }], out);
        }
        graves.dedup();
        for (owner, grave) in graves {
            self.show_grave(&owner, &grave, out);
        }
    }

    /// Plays one step of picking something up.
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
            Some(_) if player.gait.path.is_empty() => Refusal::Unreachable,
            Some(_) => return,
        };
        if let Some(player) = self.players.get_mut(who) {
            player.pickup = None;
            player.gait.path.clear();
            out.events.push(failed(player, refusal));
        }
    }
}
