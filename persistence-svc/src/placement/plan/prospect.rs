//! The world as it will be when the runs have carried out all move requests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::takeover::is_well;
use super::town::Towns;
use super::{RegionView, RunView, View};
use crate::store::model::{NOBODY, Region, RunState};

/// Least load of a region, in microseconds a tick: about the cost of one player, so that empty
/// regions weigh something and noise weighs nothing.
pub(super) const FLOOR_US: i64 = 10;

/// Future owners of the regions. Every move request that still makes sense counts as done, and every
/// paused region as nobody's.
pub(super) struct Prospect<'a> {
    pub(super) view: &'a View,
    /// Live runs that may get regions, by id.
    pub(super) takers: BTreeMap<i64, &'a RunView>,
    /// All regions that somebody will own, by place.
    pub(super) owner: BTreeMap<Region, i64>,
    /// Cost of the regions of each taker per tick, in microseconds.
    pub(super) load: BTreeMap<i64, i64>,
    /// Regions that must be alone, each with the run that plays only it.
    pub(super) cells: BTreeMap<Region, i64>,
    pub(super) towns: Towns,
    /// Whether this plan gives regions of nobody to runs.
    pub(super) gives: bool,
    weights: BTreeMap<Region, i64>,
    /// Content that each run plays.
    content: BTreeMap<i64, &'a str>,
}

impl<'a> Prospect<'a> {
    /// Builds the prospect of the regions that are not `free`.
    pub(super) fn new(view: &'a View, free: &BTreeSet<Region>) -> Prospect<'a> {
        let well = |run: &&RunView| run.state == RunState::Live && is_well(run, view.now_ms);
        let takers: BTreeMap<i64, &RunView> = view
            .runs
            .iter()
            .filter(well)
            .map(|run| (run.id, run))
            .collect();
        let mut prospect = Prospect {
            view,
            owner: BTreeMap::new(),
            load: takers.keys().map(|id| (*id, 0)).collect(),
            takers,
            cells: BTreeMap::new(),
            towns: Towns::new(&view.regions),
            gives: false,
            content: view
                .runs
                .iter()
                .map(|run| (run.id, run.content_hash.as_str()))
                .collect(),
            weights: view
                .regions
                .iter()
                .map(|one| (one.region, one.cost_us.max(FLOOR_US)))
                .collect(),
        };
        for one in &view.regions {
            if !free.contains(&one.region) && !one.paused {
                let to = prospect.standing_request(one).unwrap_or(one.run);
                prospect.put(one.region, to);
            }
        }
        prospect
    }

    /// Notes the regions that must be alone, each with the run that plays only it.
    pub(super) fn isolate(&mut self, cells: BTreeMap<Region, i64>) {
        for region in cells.keys() {
            self.towns.leave_out(*region);
        }
        self.cells = cells;
    }

    /// Returns the move request for a region, while it makes sense.
    pub(super) fn standing_request(&self, one: &RegionView) -> Option<i64> {
        let sound = one.wanted != NOBODY && one.wanted != one.run && !one.paused;
        let hopeful = self.may_request(one.region, one.wanted);
        (sound && hopeful && self.can_give(one.run, one.wanted)).then_some(one.wanted)
    }

    /// Returns whether the planner may request this move, because it did not give it up just now.
    pub(super) fn may_request(&self, region: Region, to: i64) -> bool {
        !self.view.backed_off.contains(&(region, to))
    }

    /// Returns whether `from` can hand a region over to `to`: both play the same content.
    pub(super) fn can_give(&self, from: i64, to: i64) -> bool {
        let (giver, taker) = (self.content.get(&from), self.content.get(&to));
        giver.is_some() && giver == taker && self.takers.contains_key(&to)
    }

    /// Counts `region` as owned by `run` from now on.
    pub(super) fn put(&mut self, region: Region, run: i64) {
        let weight = self.weight(region);
        if let Some(before) = self.owner.insert(region, run)
            && let Some(load) = self.load.get_mut(&before)
        {
            *load = load.saturating_sub(weight);
        }
        if let Some(load) = self.load.get_mut(&run) {
            *load = load.saturating_add(weight);
        }
    }

    /// Returns the cost of a region per tick, in microseconds; at least [`FLOOR_US`].
    pub(super) fn weight(&self, region: Region) -> i64 {
        self.weights.get(&region).copied().unwrap_or(FLOOR_US)
    }

    /// Returns the cost of these regions per tick, in microseconds.
    pub(super) fn weights(&self, regions: &[Region]) -> i64 {
        regions.iter().map(|region| self.weight(*region)).sum()
    }

    /// Returns the number of regions of the town of `region` that `run` will own.
    pub(super) fn owned_around(&self, region: Region, run: i64) -> usize {
        let town = self.towns.around(region);
        town.filter(|near| self.owns(run, *near)).count()
    }

    /// Returns the runs that will own regions of the town of `region`, those with most first.
    pub(super) fn owners_around(&self, region: Region) -> Vec<i64> {
        let mut count: BTreeMap<i64, usize> = BTreeMap::new();
        for run in self
            .towns
            .around(region)
            .filter_map(|near| self.owner.get(&near))
        {
            *count.entry(*run).or_default() += 1;
        }
        let mut runs: Vec<i64> = count.keys().copied().collect();
        runs.sort_by_key(|run| (Reverse(count.get(run).copied()), *run));
        runs
    }

    /// Returns the cost per tick of all regions that somebody will own, in microseconds.
    pub(super) fn total(&self) -> i64 {
        self.owner.keys().map(|region| self.weight(*region)).sum()
    }

    /// Returns whether `run` will own `region`.
    pub(super) fn owns(&self, run: i64, region: Region) -> bool {
        self.owner.get(&region) == Some(&run)
    }

    /// Returns the takers that may own any region, with their loads.
    pub(super) fn sharers(&self) -> BTreeMap<i64, i64> {
        let cells: BTreeSet<i64> = self.cells.values().copied().collect();
        let mut sharers = self.load.clone();
        sharers.retain(|run, _| !cells.contains(run));
        sharers
    }
}

/// Returns the load of the busiest run in thousandths of the mean; `None`: no load.
pub(super) fn ratio_permille(loads: &BTreeMap<i64, i64>) -> Option<i64> {
    let total: i64 = loads.values().sum();
    let count = i64::try_from(loads.len()).ok()?;
    let most = loads.values().max()?;
    (total > 0).then(|| most.saturating_mul(1_000).saturating_mul(count) / total)
}
