//! Gathering, and the changes to resources that it causes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::rules;
use crate::content::Fixture;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::persistent::LASTS_TICKS;
use crate::features::skilling::tick::put_down;
use crate::features::skilling::{Job, Work};
use crate::features::training::skill::Skill;
use crate::geometry::Ground;
use crate::geometry::tile::{Chunk, Tile};
use crate::item::ledger::Cause;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::rng;
use crate::tick::Outcome;
use crate::time::Tick;
use crate::world::World;

/// Steps that a shoal strays from its place in content.
const STRAY_TILES: i32 = 3;

impl World {
    /// Goes to something and gathers there.
    pub(crate) fn gather(
        &mut self,
        Asked { who, number }: Asked<'_>,
        target: EntityId,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let Some(place) = self.workplace(&target) else {
            return self.no_workplace(who, target);
        };
        let kind = place.resource.ok_or(Refusal::Unsupported)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if place.empty {
            return Err(Refusal::Depleted);
        }
        rules::gear(&player.record, &self.content, kind)?;
        if !rules::has_room(&player.record) {
            return Err(Refusal::InventoryFull);
        }
        let work = Work {
            number,
            job: Job::Gather,
            region: Some(place.region),
            target: Some(target),
            begun: false,
            due_at: self.now,
            left: u32::MAX,
        };
        self.set_out(who, work, searches_end, out)
    }

    /// Plays one try of a player that gathers.
    pub(crate) fn gather_once(
        &mut self,
        who: &CharacterId,
        work: &Work,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let target = work.target.as_ref().ok_or(Refusal::NotFound)?;
        let place = self.workplace(target).ok_or(Refusal::Depleted)?;
        let kind = Arc::clone(place.resource.ok_or(Refusal::Unsupported)?);
        let skill = kind.skill.ok_or(Refusal::Unsupported)?;
        let mut dice = self.work_dice(who);
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let record = &player.record;
        let gear = rules::gear(record, &self.content, &kind)?;
        let got = rules::tried(&kind, gear, record.level(skill), &mut dice);
        let ticks = rules::cycle_ticks(&kind, gear, &mut dice);
        let due_at = self.now.after(ticks);
        let mut given = got.len();
        if let Some(main) = got.first() {
            let (all, least) = (
                rules::legs(record, &kind, &got),
                rules::legs(record, &kind, &got[..1]),
            );
            if let Err(why) = self.transfer(Some(Cause::Gather), &all, out) {
                // A gem for which there is no room stays in the rock.
                if given == 1 {
                    return Err(why);
                }
                given = 1;
                self.transfer(Some(Cause::Gather), &least, out)?;
            }
            let xp = got.iter().take(given).map(|got| u64::from(got.xp_tenths));
            self.train(who, skill, xp.sum(), out);
            self.gathered(who, &main.item, main.quantity);
            let state = self.resources.get(target);
            if rules::was_last(&kind, state, &mut dice) {
                self.empty(target, kind.respawn_ticks, out);
            } else if rules::ages(&kind) {
                let state = self.resources.entry(target);
                state.cut_ticks = state.cut_ticks.max(1);
            }
        }
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let full = !rules::has_room(&player.record);
        if let Some(work) = &mut player.skilling.work {
            work.due_at = due_at;
        }
        if full {
            put_down(player, Some(Refusal::InventoryFull), out);
        }
        Ok(())
    }

    /// Makes an agent remember an item that it gathered.
    fn gathered(&mut self, who: &CharacterId, item: &Arc<str>, quantity: u32) {
        let agent = self.players.get_mut(who).and_then(|p| p.agent.as_mut());
        if let Some(agent) = agent {
            let of = agent.tally.gathered.entry(item.to_string()).or_default();
            *of = of.saturating_add(quantity);
        }
    }

    /// Empties a resource for a while.
    fn empty(&mut self, id: &EntityId, usual_ticks: u32, out: &mut Outcome) {
        let fixture = self.content.fixture(id);
        let own = fixture.and_then(|f| f.respawn_ticks);
        let ticks = own.unwrap_or(usual_ticks).max(1);
        if let Some(fixture) = fixture.filter(|_| u64::from(ticks) > LASTS_TICKS) {
            out.changes
                .persistent_objects
                .insert(Chunk::from(fixture.tile));
        }
        let state = self.resources.entry(id);
        state.back_at = Some(self.now.after(u64::from(ticks)));
        state.cut_ticks = 0;
        out.touched.insert(id.clone());
    }

    /// Brings due resources back, moves shoals on, and ages the trees that somebody cuts.
    pub(crate) fn play_resources(&mut self, out: &mut Outcome) {
        let working = self
            .players
            .values()
            .filter_map(|p| p.skilling.work.as_ref());
        let working = working.filter(|work| work.begun && work.job == Job::Gather);
        let cut: BTreeSet<EntityId> = working.filter_map(|work| work.target.clone()).collect();
        let content = Arc::clone(&self.content);
        let states = self.resources.iter().map(|state| state.id.clone());
        let ids: Vec<EntityId> = states.collect();
        for id in ids {
            let Some(fixture) = content.fixture(&id) else {
                continue;
            };
            self.play_resource(fixture, cut.contains(&id), out);
        }
    }

    fn play_resource(&mut self, fixture: &Fixture, cut: bool, out: &mut Outcome) {
        let (now, id) = (self.now, &fixture.id);
        let state = self.resources.entry(id);
        if state.back_at.is_some_and(|at| at <= now) {
            state.back_at = None;
            out.touched.insert(id.clone());
        }
        if state.cut_ticks > 0
            && let Some(kind) = self.content.resources().get(&fixture.of)
        {
            rules::age(kind, state, cut);
        }
        let swims = state.moves_at.is_some_and(|at| at <= now);
        if state.is_plain() {
            self.resources.take(id);
        }
        if swims {
            self.swim(fixture, out);
        }
    }

    /// Moves a shoal to another place near its own.
    fn swim(&mut self, fixture: &Fixture, out: &mut Outcome) {
        let mut dice = self.mint.dice(rng::key(fixture.id.as_str()), self.now);
        let from = self.resources.tile(fixture);
        let places = self.shores(fixture, from);
        let many = u32::try_from(places.len()).unwrap_or(u32::MAX);
        let to = places.get(dice.below(many) as usize).copied();
        let moves_at = rules::shoal_moves(self.now, &mut dice);
        let state = self.resources.entry(&fixture.id);
        state.moves_at = Some(moves_at);
        if let Some(to) = to {
            state.tile = Some(to).filter(|to| *to != fixture.tile);
            self.index
                .shift(Chunk::from(from), Chunk::from(to), &fixture.id);
            out.touched.insert(fixture.id.clone());
        }
    }

    /// Returns the tiles to which a shoal can swim: water beside a tile on which one can stand, and
    /// without another shoal. They are one to three steps away from its tile and from its place in
    /// content.
    fn shores(&self, fixture: &Fixture, from: Tile) -> Vec<Tile> {
        let terrain = self.content.terrain();
        let (home, reach) = (fixture.tile, -STRAY_TILES..=STRAY_TILES);
        let near = reach
            .clone()
            .flat_map(|dz| reach.clone().map(move |dx| home.moved(dx, dz)));
        let sides = [(-1, 0), (1, 0), (0, -1), (0, 1)];
        let shore = |tile: &Tile| {
            let water = matches!(terrain.kind(*tile), Ground::Water | Ground::DeepWater);
            let mut beside = sides.iter().map(|(dx, dz)| tile.moved(*dx, *dz));
            water && beside.any(|tile| terrain.walkable(tile))
        };
        let others: BTreeSet<Tile> = self
            .index
            .between(chunks_around(home))
            .filter(|id| **id != fixture.id)
            .filter_map(|id| Some(self.resources.tile(self.content.fixture(id)?)))
            .collect();
        near.filter(|tile| {
            let steps = from.steps_to(*tile);
            (1..=STRAY_TILES.unsigned_abs()).contains(&steps)
                && shore(tile)
                && !others.contains(tile)
        })
        .collect()
    }

    /// Puts shoals into a region that has just come in, if the world knows nothing of them yet.
    pub(crate) fn settle_shoals(&mut self, region: crate::geometry::tile::Region) {
        let content = Arc::clone(&self.content);
        for fixture in content.fixtures_in(region) {
            let kind = content.resources().get(&fixture.of);
            let swims = kind.is_some_and(|kind| kind.skill == Some(Skill::Fishing));
            let known = self.resources.get(&fixture.id);
            if !swims || known.is_some_and(|state| state.moves_at.is_some()) {
                continue;
            }
            let mut dice = self
                .mint
                .dice(rng::key(fixture.id.as_str()), Tick::default());
            let moves_at = rules::shoal_moves(self.now, &mut dice);
            self.resources.entry(&fixture.id).moves_at = Some(moves_at);
        }
    }
}

/// Returns the chunks in which something near `tile` may be: a few too many.
fn chunks_around(tile: Tile) -> std::ops::RangeInclusive<Chunk> {
    Chunk::from(tile.moved(-8, -8))..=Chunk::from(tile.moved(8, 8))
}
