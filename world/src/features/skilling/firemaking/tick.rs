//! Lighting fires, and how they go out.

use super::rules;
use crate::entity::fire::{Fire, ID_PREFIX};
use crate::entity::ground_item::GroundItem;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::quests::Achievement;
use crate::features::skilling::make;
use crate::features::skilling::make::recipe::{self, ASHES};
use crate::features::skilling::tick::put_down;
use crate::features::skilling::{Craft, Work};
use crate::features::training::skill::Skill;
use crate::geometry::tile::{Chunk, Region, Tile};
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::item::{Stack, Value};
use crate::refusal::Refusal;
use crate::tick::{Outcome, PhaseClock};
use crate::world::World;

impl World {
    /// Plays one try to light a fire. If the fire burns, the player steps aside.
    pub(crate) fn light_once(
        &mut self,
        who: &CharacterId,
        work: &Work,
        craft: &Craft,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let recipe = recipe::recipe(&self.content, craft, None).ok_or(Refusal::NotFound)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let (record, tile) = (&player.record, player.tile());
        make::rules::able(record, &recipe, &player.skilling.spools, 1)?;
        self.may_light(who, tile)?;
        let mut dice = self.work_dice(who);
        let catches = rules::catches(record.level(Skill::Firemaking), &mut dice);
        let mut left = work.left;
        if catches {
            let id = self.next_id(ID_PREFIX)?;
            let leg = Leg::FromPack {
                who: who.clone(),
                stack: Stack::new(craft.key.clone(), 1),
            };
            self.transfer(Some(Cause::Burn), &[leg], out)?;
            self.mint.used();
            left = left.saturating_sub(1);
            let out_at = rules::out_at(self.now, &mut dice);
            let lit_by = who.clone();
            let fire = Fire {
                id,
                region: Region::from(tile),
                tile,
                lit_by,
                out_at,
            };
            out.touched.insert(fire.id.clone());
            out.changes.persistent_objects.insert(Chunk::from(tile));
            self.settle_fire(fire);
            self.did(who, Achievement::Lit, out);
            self.train(who, Skill::Firemaking, u64::from(recipe.xp_tenths), out);
        }
        let due_at = self.now.after(rules::TRY_TICKS);
        let aside = rules::aside(self.content.terrain(), tile);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if catches {
            player.gait.path = aside.into_iter().collect();
        }
        let next = make::rules::able(&player.record, &recipe, &player.skilling.spools, left);
        if left == 0 || next.is_err() {
            put_down(player, None, out);
        } else if let Some(work) = &mut player.skilling.work {
            (work.left, work.due_at) = (left, due_at);
        }
        Ok(())
    }

    /// Checks whether `who` may light a fire at `tile`. This world must play the tile: past a
    /// border nobody would remember the fire.
    pub(crate) fn may_light(&self, who: &CharacterId, tile: Tile) -> Result<(), Refusal> {
        if !self.regions.contains_key(&Region::from(tile)) {
            return Err(Refusal::NoFireHere);
        }
        rules::may_light(&self.fires, &self.content, who, tile)
    }

    /// Puts a fire into the world: it burns from now on.
    pub(crate) fn settle_fire(&mut self, fire: Fire) {
        self.index.come(Chunk::from(fire.tile), fire.id.clone());
        self.fires.insert(fire.id.clone(), fire);
    }

    /// Puts due fires out; they leave ashes.
    pub(crate) fn play_fires(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        if value == Value::Unavailable {
            return;
        }
        let due = self.fires.values().filter(|fire| fire.out_at <= self.now);
        let due: Vec<EntityId> = due.map(|fire| fire.id.clone()).collect();
        for id in due {
            let Some(fire) = self.fires.remove(&id) else {
                continue;
            };
            phases.region(fire.region);
            self.index.take(Chunk::from(fire.tile), &id);
            out.touched.insert(id);
            self.leave_ashes(&fire, out);
        }
    }

    fn leave_ashes(&mut self, fire: &Fire, out: &mut Outcome) {
        if self.content.item(ASHES).is_none() {
            return;
        }
        let Ok(id) = self.next_id(crate::entity::ground_item::ID_PREFIX) else {
            return;
        };
        let item = GroundItem {
            id,
            region: fire.region,
            tile: fire.tile,
            item: ASHES.into(),
            quantity: 1,
            owner: None,
            public_at: self.now,
            expires_at: self.now.after(rules::ASHES_TICKS),
            grave: None,
        };
        let leg = Leg::ToGround {
            item,
            merges_with: None,
        };
        // Its id is new, so that the transfer can refuse nothing.
        if self.transfer(Some(Cause::Ashes), &[leg], out).is_ok() {
            self.mint.used();
        }
    }
}
