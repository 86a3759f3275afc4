//! Who makes things, alone or at something.

use std::sync::Arc;

use super::labour::put_down;
use super::{Answer, Outcome};
use crate::ids::{CharacterId, EntityId};
use crate::item::ledger::Cause;
use crate::labour::{Craft, Job, Labour, MAKE_MAX, Trade};
use crate::refusal::Refusal;
use crate::rules::make::recipe::{self, Place};
use crate::rules::make::{self, choose};
use crate::rules::{firemaking, gather};
use crate::world::World;

/// What somebody asks to be made.
pub(super) struct Wish {
    pub(super) trade: Trade,
    pub(super) what: Option<Arc<str>>,
    pub(super) target: Option<EntityId>,
    pub(super) quantity: Option<u32>,
}

impl World {
    /// Makes what is named, or whatever it can only be.
    pub(super) fn make(
        &mut self,
        by: (&CharacterId, u64),
        wish: Wish,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let place = wish.target.as_ref().map(|id| self.workplace(id));
        let spot = match (place, wish.target.clone()) {
            (Some(None), Some(target)) => return self.no_workplace(by.0, target),
            (place, _) => place.flatten().map(|place| place.spot),
        };
        let player = self.players.get(by.0).ok_or(Refusal::NotFound)?;
        let has = (&player.record, &player.spools);
        let what = wish.what.as_deref();
        let craft = choose::named(has, &self.content, wish.trade, what, spot)?;
        let many = wish.quantity.unwrap_or(MAKE_MAX);
        self.take_up(by, craft, wish.target, many, searches_end, out)
    }

    /// Uses what lies in two slots together.
    pub(super) fn use_with(
        &mut self,
        by: (&CharacterId, u64),
        slot: u8,
        other: u8,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get(by.0).ok_or(Refusal::NotFound)?;
        let pack = &player.record.inventory;
        let item = &pack.get(&slot).ok_or(Refusal::EmptySlot)?.item;
        let other = &pack.get(&other).ok_or(Refusal::EmptySlot)?.item;
        let has = (&player.record, &player.spools);
        let craft = choose::of_two(has, &self.content, item, other)?;
        // One fire at a time; of all else as many as can be.
        let many = if craft.trade == Trade::Light {
            1
        } else {
            MAKE_MAX
        };
        self.take_up(by, craft, None, many, searches_end, out)
    }

    /// Uses what lies in a slot on something: a tool on what it is for, else whatever can be made
    /// of it there.
    pub(super) fn use_on(
        &mut self,
        by: (&CharacterId, u64),
        slot: u8,
        target: EntityId,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get(by.0).ok_or(Refusal::NotFound)?;
        let record = &player.record;
        let item = &record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?.item;
        let Some(place) = self.workplace(&target) else {
            return self.no_workplace(by.0, target);
        };
        if let Some(kind) = place.resource {
            if !gather::is_for(&self.content, kind, item) {
                return Err(Refusal::Unsupported);
            }
            return self.gather(by, target, searches_end, out);
        }
        let has = (record, &player.spools);
        let craft = choose::at_spot(has, &self.content, item, place.spot)?;
        self.take_up(by, craft, Some(target), MAKE_MAX, searches_end, out)
    }

    /// Sets out to make `many` by a recipe.
    fn take_up(
        &mut self,
        (who, number): (&CharacterId, u64),
        craft: Craft,
        target: Option<EntityId>,
        many: u32,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        if many == 0 {
            return Err(Refusal::NotEnough);
        }
        let place = target.as_ref().and_then(|id| self.workplace(id));
        let (spot, region) = (place.as_ref().map(|p| p.spot), place.map(|p| p.region));
        let recipe = recipe::recipe(&self.content, &craft, spot).ok_or(Refusal::NotFound)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        make::able(&player.record, &recipe, &player.spools, many)?;
        if craft.trade == Trade::Light {
            self.may_light(who, player.tile())?;
        }
        // What is made anywhere is made here, whatever was named.
        let bound = recipe.place != Place::Anywhere;
        let work = Labour {
            number,
            job: Job::Make(craft),
            target: target.filter(|_| bound),
            region: region.filter(|_| bound),
            begun: false,
            due_at: self.now,
            left: many.min(MAKE_MAX),
        };
        let answer = self.set_out(who, work, searches_end, out)?;
        if !bound && let Some(player) = self.players.get_mut(who) {
            player.path.clear();
        }
        Ok(answer)
    }

    /// Ticks until the first deed of a recipe is done.
    pub(super) fn make_ticks(&self, craft: &Craft) -> u64 {
        let recipe = recipe::recipe(&self.content, craft, None);
        match recipe {
            Some(recipe) if recipe.at_once => 0,
            Some(_) if craft.trade == Trade::Light => firemaking::TRY_TICKS,
            Some(recipe) => recipe.ticks,
            None => 1,
        }
    }

    /// One deed of somebody who makes things.
    pub(super) fn make_once(
        &mut self,
        who: &CharacterId,
        work: &Labour,
        craft: &Craft,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        if craft.trade == Trade::Light {
            return self.light_once(who, work, craft, out);
        }
        let place = work.target.as_ref().and_then(|id| self.workplace(id));
        let spot = place.map(|place| place.spot);
        let recipe = recipe::recipe(&self.content, craft, spot).ok_or(Refusal::NotFound)?;
        let mut dice = self.work_dice(who);
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let times = make::able(&player.record, &recipe, &player.spools, work.left)?;
        let deed = make::deed(&player.record, &recipe, &player.spools, times, &mut dice);
        self.transfer(Some(Cause::Make), &deed.legs, out)?;
        if let Some(skill) = recipe.skill {
            self.train(who, skill, deed.xp_tenths, out);
        }
        let due_at = self.now.after(recipe.ticks);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        player.spools = deed.spools;
        let left = work.left.saturating_sub(times);
        let next = make::able(&player.record, &recipe, &player.spools, left);
        if left == 0 || recipe.at_once || next == Err(Refusal::NotEnough) {
            put_down(player, None, out);
        } else if let Some(labour) = &mut player.labour {
            (labour.left, labour.due_at) = (left, due_at);
        }
        Ok(())
    }
}
