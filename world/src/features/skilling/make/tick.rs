//! Making things, alone or at a place.

use super::recipe::{self, Place};
use super::{Request, choose, rules};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::skilling::tick::put_down;
use crate::features::skilling::{Craft, Job, MAKE_MAX, RecipeKind, Work, firemaking, gather};
use crate::item::ledger::Cause;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Makes the named thing, or the only one possible.
    pub(crate) fn make(
        &mut self,
        asked: Asked<'_>,
        request: Request,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let place = request.target.as_ref().map(|id| self.workplace(id));
        let spot = match (place, request.target.clone()) {
            (Some(None), Some(target)) => return self.no_workplace(asked.who, target),
            (place, _) => place.flatten().map(|place| place.spot),
        };
        let player = self.players.get(asked.who).ok_or(Refusal::NotFound)?;
        let what = request.what.as_deref();
        let craft = choose::named(player.into(), &self.content, request.trade, what, spot)?;
        let many = request.quantity.unwrap_or(MAKE_MAX);
        self.take_up(asked, craft, request.target, many, searches_end, out)
    }

    /// Uses the items in two slots together.
    pub(crate) fn use_with(
        &mut self,
        asked: Asked<'_>,
        slot: u8,
        other: u8,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        if self.pour(asked.who, slot, other, out)? {
            return Ok(Answer::Done { value: true });
        }
        let player = self.players.get(asked.who).ok_or(Refusal::NotFound)?;
        let pack = &player.record.inventory;
        let item = &pack.get(&slot).ok_or(Refusal::EmptySlot)?.item;
        let other = &pack.get(&other).ok_or(Refusal::EmptySlot)?.item;
        let craft = choose::of_two(player.into(), &self.content, item, other)?;
        // One fire at a time; of all else as many as can be.
        let many = if craft.trade == RecipeKind::Light {
            1
        } else {
            MAKE_MAX
        };
        self.take_up(asked, craft, None, many, searches_end, out)
    }

    /// Uses the item in a slot on something: a tool or bait to gather there, else the item for a
    /// recipe there.
    pub(crate) fn use_on(
        &mut self,
        asked: Asked<'_>,
        slot: u8,
        target: EntityId,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get(asked.who).ok_or(Refusal::NotFound)?;
        let record = &player.record;
        let item = &record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?.item;
        let Some(place) = self.workplace(&target) else {
            return self.no_workplace(asked.who, target);
        };
        if let Some(kind) = place.resource {
            if !gather::rules::is_for(&self.content, kind, item) {
                return Err(Refusal::Unsupported);
            }
            return self.gather(asked, target, searches_end, out);
        }
        let craft = choose::at_spot(player.into(), &self.content, item, place.spot)?;
        self.take_up(asked, craft, Some(target), MAKE_MAX, searches_end, out)
    }

    /// Sets out to make `many` by a recipe.
    fn take_up(
        &mut self,
        Asked { who, number }: Asked<'_>,
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
        rules::able(&player.record, &recipe, &player.skilling.spools, many)?;
        if craft.trade == RecipeKind::Light {
            self.may_light(who, player.tile())?;
        }
        // If a recipe works anywhere, the player makes it here, whatever target it named.
        let bound = recipe.place != Place::Anywhere;
        let work = Work {
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
            player.gait.path.clear();
        }
        Ok(answer)
    }

    /// Returns the ticks until the first piece of work at a recipe.
    pub(crate) fn make_ticks(&self, craft: &Craft) -> u64 {
        let recipe = recipe::recipe(&self.content, craft, None);
        match recipe {
            Some(recipe) if recipe.at_once => 0,
            Some(_) if craft.trade == RecipeKind::Light => firemaking::rules::TRY_TICKS,
            Some(recipe) => recipe.ticks,
            None => 1,
        }
    }

    /// Plays one piece of work of a player that makes things.
    pub(crate) fn make_once(
        &mut self,
        who: &CharacterId,
        work: &Work,
        craft: &Craft,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        if craft.trade == RecipeKind::Light {
            return self.light_once(who, work, craft, out);
        }
        let place = work.target.as_ref().and_then(|id| self.workplace(id));
        let spot = place.map(|place| place.spot);
        let recipe = recipe::recipe(&self.content, craft, spot).ok_or(Refusal::NotFound)?;
        let mut dice = self.work_dice(who);
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let times = rules::able(&player.record, &recipe, &player.skilling.spools, work.left)?;
        let production = rules::production(
            &player.record,
            &recipe,
            &player.skilling.spools,
            times,
            &mut dice,
        );
        self.transfer(Some(Cause::Make), &production.legs, out)?;
        if let Some(skill) = recipe.skill {
            self.train(who, skill, production.xp_tenths, out);
        }
        let due_at = self.now.after(recipe.ticks);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        player.skilling.spools = production.spools;
        let left = work.left.saturating_sub(times);
        let next = rules::able(&player.record, &recipe, &player.skilling.spools, left);
        if left == 0 || recipe.at_once || next == Err(Refusal::NotEnough) {
            put_down(player, None, out);
        } else if let Some(work) = &mut player.skilling.work {
            (work.left, work.due_at) = (left, due_at);
        }
        Ok(())
    }
}
