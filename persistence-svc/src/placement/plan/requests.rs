//! The move requests of one plan. It keeps those that make sense, empties cells and runs that
//! drain, and asks for further moves.
//!
//! Always: few at a time; for an even load and for towns a region that changed its owner rests,
//! unless it is to go to a run that was not there then.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::RegionView;
use super::block::contacts;
use super::prospect::Prospect;
use super::takeover::is_well;
use super::town::KEPT_PERMILLE;
use crate::store::model::{Region, RunState};

/// Most regions that one run must give at a time.
pub(super) const MOVE_REQUESTS_PER_GIVER_MAX: usize = 4;
/// Most regions that all runs together must give at a time.
pub(super) const MOVE_REQUESTS_MAX: usize = 8;
/// Rest of a region after it came to an owner.
pub(super) const REST_MS: i64 = 20_000;

/// Load in thousandths of the mean at which the busiest run stops giving, and to which others take.
pub(super) const EVEN_PERMILLE: i64 = 1_150;

/// The move requests so far, and the prospect with them.
pub(super) struct Requests<'a> {
    pub(super) prospect: Prospect<'a>,
    /// Requested owner of each region that should move.
    pub(super) wanted: BTreeMap<Region, i64>,
    /// Number of regions that each run must give.
    asked: BTreeMap<i64, usize>,
    /// Runs that can give regions.
    well: BTreeSet<i64>,
}

impl<'a> Requests<'a> {
    /// Keeps the move requests that make sense, except those that concern a cell.
    pub(super) fn new(mut prospect: Prospect<'a>) -> Requests<'a> {
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
        Requests {
            well: well.map(|run| run.id).collect(),
            prospect,
            wanted,
            asked,
        }
    }

    /// Returns whether `run` may be asked for so many regions more.
    pub(super) fn may_ask(&self, run: i64, count: usize) -> bool {
        let of_it = self.asked.get(&run).copied().unwrap_or_default();
        self.wanted.len() + count <= MOVE_REQUESTS_MAX
            && of_it + count <= MOVE_REQUESTS_PER_GIVER_MAX
    }

    /// Asks `from` to give a region to `to`.
    pub(super) fn ask(&mut self, region: Region, from: i64, to: i64) {
        self.prospect.put(region, to);
        self.wanted.insert(region, to);
        *self.asked.entry(from).or_default() += 1;
    }

    /// Returns the regions of well runs that have no move request yet.
    pub(super) fn at_rest(&self) -> impl Iterator<Item = &'a RegionView> + use<'_, 'a> {
        let view = self.prospect.view;
        view.regions.iter().filter(|one| {
            self.well.contains(&one.run)
                && !one.paused
                && self.prospect.owns(one.run, one.region)
                && !self.wanted.contains_key(&one.region)
        })
    }

    /// Moves regions that must be alone to their cells, and others out of them.
    pub(super) fn empty_cells(&mut self) {
        let cells = self.prospect.cells.clone();
        let regions: Vec<&RegionView> = self.at_rest().collect();
        for one in &regions {
            if let Some(cell) = cells.get(&one.region)
                && *cell != one.run
                && self.may_ask(one.run, 1)
                && self.prospect.may_request(one.region, *cell)
            {
                self.ask(one.region, one.run, *cell);
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

    /// Moves regions of runs that drain to the run with the least load, those of a town one after
    /// the other.
    pub(super) fn drain(&mut self) {
        let runs = &self.prospect.view.runs;
        let draining: Vec<i64> = runs
            .iter()
            .filter(|run| run.state == RunState::Draining)
            .map(|run| run.id)
            .collect();
        let mut regions: Vec<&RegionView> = self.at_rest().collect();
        regions.retain(|one| draining.contains(&one.run));
        regions.sort_by_cached_key(|one| {
            let first = self.prospect.towns.around(one.region).next();
            (first.unwrap_or(one.region), one.region)
        });
        for one in regions {
            self.send_away(one);
        }
    }

    /// Asks for a region that must leave its owner. It goes to the run that owns most of its town,
    /// unless that run would have more than [`KEPT_PERMILLE`] of the mean.
    fn send_away(&mut self, one: &RegionView) {
        if !self.may_ask(one.run, 1) {
            return;
        }
        let prospect = &self.prospect;
        let mut sharers = prospect.sharers();
        sharers.retain(|run, _| {
            let may_go = prospect.can_give(one.run, *run) && prospect.may_request(one.region, *run);
            *run != one.run && may_go
        });
        let even = prospect.total() / i64::try_from(sharers.len().max(1)).unwrap_or(1);
        let kept = even.saturating_mul(KEPT_PERMILLE) / 1_000;
        let weight = prospect.weight(one.region);
        let best = sharers.into_iter().min_by_key(|(run, load)| {
            let town = prospect.owned_around(one.region, *run);
            let town = if load + weight > kept { 0 } else { town };
            let near = contacts(one.region, |near| prospect.owns(*run, near));
            let too_much = load + weight > even;
            (Reverse(town), too_much, Reverse(near), *load, *run)
        });
        if let Some((to, _)) = best {
            self.ask(one.region, one.run, to);
        }
    }

    /// Returns whether the region has been with its owner for long enough to go to `to`.
    pub(super) fn has_rested(&self, one: &RegionView, to: i64) -> bool {
        let view = self.prospect.view;
        let rested = one.changed_ms.saturating_add(REST_MS) <= view.now_ms;
        // The region cannot have been at this taker before, unless runs die and come back all the
        // time.
        let taker = self.prospect.takers.get(&to);
        let is_new = taker.is_some_and(|taker| taker.registered_ms > one.changed_ms);
        rested || (is_new && view.taken_over == 0)
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
