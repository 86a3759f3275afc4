//! Chooses the runs that play only one region, because that region ends its runs.
//!
//! Always: at least one run remains for everything else; with one run the plan isolates nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::prospect::Prospect;
use super::{RegionView, View};
use crate::store::model::Region;

/// Panics within five minutes after which a region gets a run that owns nothing else.
const ISOLATED_FAULTS: i64 = 2;
/// Panics within five minutes after which nobody owns the region, until an operator resumes it.
const PAUSED_FAULTS: i64 = 3;
/// A panic counts for so long.
pub(crate) const FAULT_MS: i64 = 300_000;

/// Returns the regions of nobody that the plan must pause now.
pub(super) fn to_pause<'a>(
    view: &'a View,
    free: &BTreeSet<Region>,
) -> impl Iterator<Item = &'a RegionView> {
    view.regions
        .iter()
        .filter(|one| !one.paused && one.faults >= PAUSED_FAULTS && free.contains(&one.region))
}

/// Returns one run for each region that must be alone, the worst first, as far as there are runs.
/// It chooses the runs that need the fewest moves.
pub(super) fn cells(prospect: &Prospect<'_>, playable: &BTreeSet<Region>) -> BTreeMap<Region, i64> {
    let view = prospect.view;
    let alone = |one: &&RegionView| {
        let owned = prospect.owner.contains_key(&one.region) || playable.contains(&one.region);
        !one.paused && owned && one.faults >= ISOLATED_FAULTS
    };
    let mut worst: Vec<&RegionView> = view.regions.iter().filter(alone).collect();
    worst.sort_by_key(|one| (std::cmp::Reverse(one.faults), one.region));
    worst.truncate(prospect.takers.len().saturating_sub(1));
    let mut count: BTreeMap<i64, usize> = BTreeMap::new();
    for run in prospect.owner.values() {
        *count.entry(*run).or_default() += 1;
    }
    let mut cells: BTreeMap<Region, i64> = BTreeMap::new();
    let mut left: BTreeSet<i64> = prospect.takers.keys().copied().collect();
    for one in worst {
        let moves = |run: &i64| {
            let others = count.get(run).copied().unwrap_or_default();
            if prospect.owns(*run, one.region) {
                (others.saturating_sub(1), false, *run)
            } else {
                (others + 1, true, *run)
            }
        };
        let free = !prospect.owner.contains_key(&one.region);
        let best = left
            .iter()
            .copied()
            .filter(|run| free || *run == one.run || prospect.can_give(one.run, *run))
            .min_by_key(moves);
        if let Some(run) = best {
            left.remove(&run);
            cells.insert(one.region, run);
        }
    }
    cells
}
