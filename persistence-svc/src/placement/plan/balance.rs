//! Chooses the regions that should go from one living run to another. It empties cells and runs
//! that drain, and relieves the busiest run for the least busy.
//!
//! Always: few at a time; for balance a region that changed its owner rests, unless it is to go to
//! a run that was not there then; nothing moves for a gain that is not worth it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::RegionView;
use super::block::{contacts, distance, holds_together};
use super::prospect::{FLOOR_US, Prospect, ratio_permille};
use super::takeover::is_well;
use crate::store::model::{NOBODY, Region, RunState};

/// Most regions that one run must give at a time.
pub(super) const MOVE_REQUESTS_PER_GIVER_MAX: usize = 4;
/// Most regions that all runs together must give at a time.
pub(super) const MOVE_REQUESTS_MAX: usize = 8;
/// Rest of a region after it came to an owner.
pub(super) const REST_MS: i64 = 20_000;
/// Load in thousandths of the mean above which the busiest run gives regions away.
pub(super) const UNEVEN_PERMILLE: i64 = 1_300;
/// Load in thousandths of the mean at which the busiest run stops giving.
pub(super) const EVEN_PERMILLE: i64 = 1_150;
/// Time after a change of owner for which the moves around it still go on.
const UNDER_WAY_MS: i64 = 3_000;

/// Returns the requested owner of each region of a living run that should move. It leaves out
/// regions that stay, and evens out load only if `even` is set.
pub(super) fn move_requests(prospect: Prospect<'_>, even: bool) -> BTreeMap<Region, i64> {
    let mut balance = Balance::new(prospect);
    balance.empty_cells();
    balance.drain();
    if even {
        balance.even_out();
    }
    balance.wanted
}

struct Balance<'a> {
    prospect: Prospect<'a>,
    wanted: BTreeMap<Region, i64>,
    /// Number of regions that each run must give.
    asked: BTreeMap<i64, usize>,
    /// Runs that can give regions.
    well: BTreeSet<i64>,
}

/// A region that could go, with its giver and its taker.
#[derive(Clone, Copy)]
struct Step {
    region: Region,
    from: i64,
    to: i64,
}

impl<'a> Balance<'a> {
    /// Keeps the move requests that make sense, except those that concern a cell.
    fn new(mut prospect: Prospect<'a>) -> Balance<'a> {
        let mut wanted = BTreeMap::new();
        let mut asked: BTreeMap<i64, usize> = BTreeMap::new();
        for one in &prospect.view.regions {
            let Some(to) = prospect.standing_request(one) else {
                continue;
            };
            if prospect.owner.get(&one.region) != Some(&to) {
                continue;
            }
            if prospect.is_at_odds(one.region, to) {
                prospect.put(one.region, one.run);
            } else {
                wanted.insert(one.region, to);
                *asked.entry(one.run).or_default() += 1;
            }
        }
        let view = prospect.view;
        let well = view.runs.iter().filter(|run| is_well(run, view.now_ms));
        Balance {
            well: well.map(|run| run.id).collect(),
            prospect,
            wanted,
            asked,
        }
    }

    fn may_ask(&self, run: i64) -> bool {
        let of_it = self.asked.get(&run).copied().unwrap_or_default();
        self.wanted.len() < MOVE_REQUESTS_MAX && of_it < MOVE_REQUESTS_PER_GIVER_MAX
    }

    fn ask(&mut self, step: Step) {
        self.prospect.put(step.region, step.to);
        self.wanted.insert(step.region, step.to);
        *self.asked.entry(step.from).or_default() += 1;
    }

    /// Returns the regions of well runs that have no move request yet.
    fn at_rest(&self) -> impl Iterator<Item = &'a RegionView> + use<'_, 'a> {
        let view = self.prospect.view;
        view.regions.iter().filter(|one| {
            self.well.contains(&one.run)
                && !one.paused
                && self.prospect.owns(one.run, one.region)
                && !self.wanted.contains_key(&one.region)
        })
    }

    /// Moves regions that must be alone to their cells, and others out of them.
    fn empty_cells(&mut self) {
        let cells = self.prospect.cells.clone();
        let regions: Vec<&RegionView> = self.at_rest().collect();
        for one in &regions {
            if let Some(cell) = cells.get(&one.region)
                && *cell != one.run
                && self.may_ask(one.run)
                && self.prospect.may_request(one.region, *cell)
            {
                let (region, from, to) = (one.region, one.run, *cell);
                self.ask(Step { region, from, to });
            }
        }
        for one in regions {
            let intruder =
                !cells.contains_key(&one.region) && cells.values().any(|c| *c == one.run);
            if intruder {
                self.send_away(one);
            }
        }
    }

    /// Moves regions of runs that drain to the run with the least load.
    fn drain(&mut self) {
        let runs = &self.prospect.view.runs;
        let draining: Vec<i64> = runs
            .iter()
            .filter(|run| run.state == RunState::Draining)
            .map(|run| run.id)
            .collect();
        let regions: Vec<&RegionView> = self.at_rest().collect();
        for one in regions {
            if draining.contains(&one.run) {
                self.send_away(one);
            }
        }
    }

    fn send_away(&mut self, one: &RegionView) {
        if !self.may_ask(one.run) {
            return;
        }
        let prospect = &self.prospect;
        let mut sharers = prospect.sharers();
        sharers.retain(|run, _| {
            let may_go = prospect.can_give(one.run, *run) && prospect.may_request(one.region, *run);
            *run != one.run && may_go
        });
        let even = prospect.total() / i64::try_from(sharers.len().max(1)).unwrap_or(1);
        let weight = prospect.weight(one.region);
        let best = sharers.into_iter().min_by_key(|(run, load)| {
            let near = contacts(one.region, |near| prospect.owns(*run, near));
            (load + weight > even, Reverse(near), *load, *run)
        });
        if let Some((to, _)) = best {
            let (region, from) = (one.region, one.run);
            self.ask(Step { region, from, to });
        }
    }

    fn even_out(&mut self) {
        let limit = if self.is_under_way() {
            EVEN_PERMILLE
        } else {
            UNEVEN_PERMILLE
        };
        let loads = self.prospect.sharers();
        if ratio_permille(&loads).is_none_or(|ratio| ratio <= limit) {
            return;
        }
        while let Some(step) = self.best_step() {
            self.ask(step);
        }
    }

    /// Returns whether regions of living runs are on the move.
    fn is_under_way(&self) -> bool {
        let view = self.prospect.view;
        let lately = view.now_ms.saturating_sub(UNDER_WAY_MS);
        let moved = |one: &RegionView| one.changed_ms > lately && one.run != NOBODY;
        !self.wanted.is_empty() || view.regions.iter().any(moved)
    }

    /// Returns the move that helps most the busiest run that can give a region.
    fn best_step(&self) -> Option<Step> {
        let loads = self.prospect.sharers();
        let total: i64 = loads.values().sum();
        let mean = total / i64::try_from(loads.len()).ok()?;
        let even = mean.saturating_mul(EVEN_PERMILLE) / 1_000;
        let mut busy: Vec<(i64, i64)> = loads
            .iter()
            .map(|(run, load)| (*load, *run))
            .filter(|(load, run)| *load > even && self.may_ask(*run))
            .collect();
        busy.sort_by_key(|(load, run)| (Reverse(*load), *run));
        busy.into_iter().find_map(|(_, from)| {
            let steps = self.steps(from, &loads, mean);
            steps.min_by_key(|step| self.rank(*step, &loads, mean))
        })
    }

    /// Returns all moves from one run whose gain is worth the cost.
    fn steps<'b>(
        &'b self,
        from: i64,
        loads: &'b BTreeMap<i64, i64>,
        mean: i64,
    ) -> impl Iterator<Item = Step> + use<'b, 'a> {
        let before = loads.get(&from).copied().unwrap_or_default();
        let mine = self.at_rest().filter(move |one| one.run == from);
        mine.flat_map(move |one| {
            let weight = self.prospect.weight(one.region);
            let worth = move |load: i64| load < mean && load + weight <= before - FLOOR_US;
            loads
                .iter()
                .filter(move |(_, load)| worth(**load))
                .map(|(to, _)| *to)
                .filter(move |to| self.prospect.may_request(one.region, *to))
                .filter(move |to| self.has_rested(one, *to) && self.prospect.can_give(from, *to))
                .map(move |to| Step {
                    region: one.region,
                    from,
                    to,
                })
        })
    }

    fn has_rested(&self, one: &RegionView, to: i64) -> bool {
        let view = self.prospect.view;
        let rested = one.changed_ms.saturating_add(REST_MS) <= view.now_ms;
        // The region cannot have been at this taker before, unless runs die and come back all the
        // time.
        let taker = self.prospect.takers.get(&to);
        let is_new = taker.is_some_and(|taker| taker.registered_ms > one.changed_ms);
        rested || (is_new && view.taken_over == 0)
    }

    /// Returns a sort key for a move, best first. A good move makes no other run the busiest and
    /// keeps blocks whole. Its load is near the surplus here and the lack there. Blocks stay round.
    fn rank(
        &self,
        step: Step,
        loads: &BTreeMap<i64, i64>,
        mean: i64,
    ) -> (bool, u8, i64, i64, Reverse<u64>, Region, i64) {
        let Step { region, from, to } = step;
        let load = |run: i64| loads.get(&run).copied().unwrap_or_default();
        let weight = self.prospect.weight(region);
        let too_much = (load(to) + weight).saturating_mul(1_000) > mean * EVEN_PERMILLE;
        let owns = |run: i64| move |near: Region| self.prospect.owns(run, near);
        // Each region that a run owns has a load, so load 0 means that it owns none.
        let begins = load(to) == 0;
        let (here, there) = (contacts(region, owns(from)), contacts(region, owns(to)));
        let apart = u8::from(there == 0 && !begins) + u8::from(!holds_together(region, owns(from)));
        let ideal = (load(from) - mean).min(mean - load(to));
        let off = (ideal - weight).abs() / (mean / 8 + 1);
        let ragged = i64::try_from(here).unwrap_or(4) - i64::try_from(there).unwrap_or(0);
        // A new block begins far from those of others.
        let room = if begins { self.room(region, from) } else { 0 };
        (too_much, apart, off, ragged, Reverse(room), region, to)
    }

    /// Returns the distance to the regions of other runs.
    fn room(&self, region: Region, from: i64) -> u64 {
        let others = self.prospect.owner.iter().filter(|(_, run)| **run != from);
        let far = others.map(|(other, _)| distance(region, *other)).min();
        far.unwrap_or_default()
    }
}

impl Prospect<'_> {
    /// Returns whether the region must not go there, because one of the two must be alone.
    fn is_at_odds(&self, region: Region, to: i64) -> bool {
        match self.cells.get(&region) {
            Some(cell) => *cell != to,
            None => self.cells.values().any(|cell| *cell == to),
        }
    }
}
