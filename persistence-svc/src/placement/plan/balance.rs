//! Relieves the busiest run for the least busy.
//!
//! Always: nothing moves for a gain that is not worth it. A town moves as one. The plan cuts a town
//! only if its owner has more than [`KEPT_PERMILLE`] of the mean, and would have even without all
//! else that can leave it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::RegionView;
use super::block::{contacts, distance, holds_together};
use super::gather::gather;
use super::prospect::{FLOOR_US, Prospect, ratio_permille};
use super::requests::{EVEN_PERMILLE, MOVE_REQUESTS_PER_GIVER_MAX, Requests};
use super::town::KEPT_PERMILLE;
use crate::store::model::{NOBODY, Region};

/// Load in thousandths of the mean above which the busiest run gives regions away.
pub(super) const UNEVEN_PERMILLE: i64 = 1_300;
/// Time after a change of owner for which the moves around it still go on.
const UNDER_WAY_MS: i64 = 3_000;

/// Returns the requested owner of each region of a living run that should move. It leaves out
/// regions that stay, and evens out load only if `even` is set.
pub(super) fn move_requests(prospect: Prospect<'_>, even: bool) -> BTreeMap<Region, i64> {
    let mut requests = Requests::new(prospect);
    requests.empty_cells();
    requests.drain();
    // Each of the two may give the other room.
    let mut before = None;
    while even && before != Some(requests.wanted.len()) {
        before = Some(requests.wanted.len());
        gather(&mut requests);
        Balance(&mut requests).even_out();
    }
    requests.wanted
}

/// Regions that could go together, with their giver and their taker.
struct Step {
    regions: Vec<Region>,
    from: i64,
    to: i64,
}

/// Loads of the runs that may own any region.
struct Loads {
    of: BTreeMap<i64, i64>,
    mean: i64,
}

impl Loads {
    fn of(&self, run: i64) -> i64 {
        self.of.get(&run).copied().unwrap_or_default()
    }
}

struct Balance<'r, 'a>(&'r mut Requests<'a>);

impl Balance<'_, '_> {
    fn even_out(&mut self) {
        let limit = if self.is_under_way() {
            EVEN_PERMILLE
        } else {
            UNEVEN_PERMILLE
        };
        let loads = self.0.prospect.sharers();
        if ratio_permille(&loads).is_none_or(|ratio| ratio <= limit) {
            return;
        }
        while let Some(step) = self.best_step() {
            for region in step.regions {
                self.0.ask(region, step.from, step.to);
            }
        }
    }

    /// Returns whether regions of living runs are on the move.
    fn is_under_way(&self) -> bool {
        let view = self.0.prospect.view;
        let lately = view.now_ms.saturating_sub(UNDER_WAY_MS);
        let moved = |one: &RegionView| one.changed_ms > lately && one.run != NOBODY;
        self.0.prospect.gives || !self.0.wanted.is_empty() || view.regions.iter().any(moved)
    }

    /// Returns the move that helps most the busiest run that can give a region.
    fn best_step(&self) -> Option<Step> {
        let of = self.0.prospect.sharers();
        let total: i64 = of.values().sum();
        let mean = total / i64::try_from(of.len()).ok()?;
        let loads = Loads { of, mean };
        let even = mean.saturating_mul(EVEN_PERMILLE) / 1_000;
        let mut busy: Vec<(i64, i64)> = loads
            .of
            .iter()
            .map(|(run, load)| (*load, *run))
            .filter(|(load, run)| *load > even && self.0.may_ask(*run, 1))
            .collect();
        busy.sort_by_key(|(load, run)| (Reverse(*load), *run));
        busy.into_iter().find_map(|(_, from)| {
            let steps = self.steps(from, &loads).into_iter();
            steps.min_by_key(|step| self.rank(step, &loads))
        })
    }

    /// Returns all moves from one run that may begin now and whose gain is worth the cost.
    fn steps(&self, from: i64, loads: &Loads) -> Vec<Step> {
        let resting = self.0.at_rest().filter(|one| one.run == from);
        let resting: BTreeMap<Region, &RegionView> = resting.map(|one| (one.region, one)).collect();
        let steps = self.groups(from, loads).into_iter().flat_map(|regions| {
            let takers = self.takers(from, &regions, loads);
            let steps = takers.into_iter().map(move |to| Step {
                regions: regions.clone(),
                from,
                to,
            });
            steps.collect::<Vec<Step>>()
        });
        let ready = |step: &Step| {
            let rested = |one: &&&RegionView| self.0.has_rested(one, step.to);
            let regions = step.regions.iter();
            let ready = regions.filter(|region| resting.get(region).as_ref().is_some_and(rested));
            ready.count() == step.regions.len() && self.0.may_ask(from, step.regions.len())
        };
        steps.filter(ready).collect()
    }

    /// Returns the regions that one run will own, those of a town together. It takes the heaviest
    /// town apart if that is the only way to relieve the run.
    fn groups(&self, from: i64, loads: &Loads) -> Vec<Vec<Region>> {
        let prospect = &self.0.prospect;
        let own = prospect.owner.iter().filter(|(region, owner)| {
            let cell = prospect.cells.contains_key(region);
            **owner == from && !cell
        });
        let own = own.map(|(region, _)| *region);
        let mut groups = prospect.towns.groups(own, |_| true);
        let weight = |group: &[Region]| prospect.weights(group);
        let kept = loads.mean.saturating_mul(KEPT_PERMILLE) / 1_000;
        let can_leave = |group: &&Vec<Region>| {
            let fits = group.len() <= MOVE_REQUESTS_PER_GIVER_MAX && weight(group) <= kept;
            fits && !self.takers(from, group, loads).is_empty()
        };
        let leaving: i64 = groups
            .values()
            .filter(can_leave)
            .map(|group| weight(group))
            .sum();
        if loads.of(from) - leaving > kept {
            let towns = groups.iter().filter(|(_, group)| group.len() > 1);
            let heaviest = towns.max_by_key(|(first, group)| (weight(group), Reverse(**first)));
            if let Some(first) = heaviest.map(|(first, _)| *first) {
                let town = groups.remove(&first).into_iter().flatten();
                groups.extend(town.map(|region| (region, vec![region])));
            }
        }
        groups.into_values().collect()
    }

    /// Returns the runs to which these regions may go with a gain that is worth the cost.
    fn takers(&self, from: i64, regions: &[Region], loads: &Loads) -> Vec<i64> {
        let prospect = &self.0.prospect;
        let weight = prospect.weights(regions);
        let before = loads.of(from);
        let worth = |load: i64| load < loads.mean && load + weight <= before - FLOOR_US;
        let may = |to: i64| {
            regions
                .iter()
                .all(|region| prospect.may_request(*region, to))
        };
        let takers = loads
            .of
            .iter()
            .filter(|(to, load)| worth(**load) && prospect.can_give(from, **to) && may(**to));
        takers.map(|(to, _)| *to).collect()
    }

    /// Returns a sort key for a move, best first. A good move makes no other run the busiest and
    /// keeps blocks whole. Its load is near the surplus here and the lack there. Blocks stay round.
    fn rank(
        &self,
        step: &Step,
        loads: &Loads,
    ) -> (bool, u8, i64, i64, Reverse<u64>, Option<Region>, i64) {
        let Step { regions, from, to } = step;
        let (from, to) = (*from, *to);
        let (load, mean) = (|run: i64| loads.of(run), loads.mean);
        let weight = self.0.prospect.weights(regions);
        let too_much = (load(to) + weight).saturating_mul(1_000) > mean * EVEN_PERMILLE;
        let owns = |run: i64| {
            move |near: Region| self.0.prospect.owns(run, near) && !regions.contains(&near)
        };
        let touching = |run: i64| -> usize {
            let each = regions.iter().map(|region| contacts(*region, owns(run)));
            each.sum()
        };
        // Each region that a run owns has a load, so load 0 means that it owns none.
        let begins = load(to) == 0;
        let (here, there) = (touching(from), touching(to));
        let apart =
            u8::from(there == 0 && !begins) + u8::from(!holds_together(regions, owns(from)));
        let ideal = (load(from) - mean).min(mean - load(to));
        let off = (ideal - weight).abs() / (mean / 8 + 1);
        let ragged = i64::try_from(here).unwrap_or(4) - i64::try_from(there).unwrap_or(0);
        let first = regions.first().copied();
        // A new block begins far from those of others.
        let room = first.filter(|_| begins).map(|first| self.room(first, from));
        let room = room.unwrap_or_default();
        (too_much, apart, off, ragged, Reverse(room), first, to)
    }

    /// Returns the distance to the regions of other runs.
    fn room(&self, region: Region, from: i64) -> u64 {
        let others = self
            .0
            .prospect
            .owner
            .iter()
            .filter(|(_, run)| **run != from);
        let far = others.map(|(other, _)| distance(region, *other)).min();
        far.unwrap_or_default()
    }
}
