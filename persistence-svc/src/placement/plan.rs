//! Who should own what. Pure: what is in, what should change out.
//!
//! Always: a region of a living run stays where it is; a run is fenced only when its lease has
//! ended and somebody can take its regions; blocks are contiguous and counts equal as far as the
//! regions at hand allow; the same view gives the same plan.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::model::{NOBODY, Region, RegionOwner, RunState};

/// More runs than these are not taken over within a minute.
const TAKEOVERS_PER_MINUTE_MAX: usize = 10;
/// Leases that end within this time of each other count as one lapse of many.
const LAPSE_WINDOW_MS: i64 = 3_000;

/// What a plan is made from: one moment of the store.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) now_ms: i64,
    /// Runs that are not fenced, by id.
    pub(crate) runs: Vec<RunView>,
    /// All regions.
    pub(crate) regions: Vec<RegionOwner>,
    /// Runs taken over in the last minute.
    pub(crate) taken_over: usize,
}

/// A run that is not fenced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunView {
    pub(crate) id: i64,
    pub(crate) state: RunState,
    pub(crate) registered_ms: i64,
    pub(crate) until_ms: i64,
}

/// How patient a plan is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// The first regions are given out this long after the newest registration, so that runs that
    /// start together share the world.
    pub(crate) settle_ms: i64,
    /// How overdue a lease must be when many lapsed at once.
    pub(crate) mass_lapse_ms: i64,
    /// Nobody is fenced: the store has only just come back.
    pub(crate) quiet: bool,
}

/// What should change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Runs whose lease has ended, by id.
    pub(crate) fence: Vec<i64>,
    /// Regions in order.
    pub(crate) moves: Vec<Move>,
}

/// Gives a region to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) region: Region,
    /// The epoch before.
    pub(crate) epoch: i64,
    pub(crate) to: i64,
}

impl Change {
    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.fence.is_empty() && self.moves.is_empty()
    }
}

/// What should change now.
pub(crate) fn plan(view: &View, patience: Patience) -> Change {
    let takers: Vec<RunView> = living(view)
        .filter(|run| run.state == RunState::Live)
        .collect();
    let fence = if takers.is_empty() || patience.quiet {
        Vec::new()
    } else {
        overdue(view, patience.mass_lapse_ms)
    };
    let known: BTreeSet<i64> = view.runs.iter().map(|run| run.id).collect();
    let free: BTreeMap<Region, i64> = view
        .regions
        .iter()
        .filter(|owned| fence.contains(&owned.run) || !known.contains(&owned.run))
        .map(|owned| (owned.region, owned.epoch))
        .collect();
    let moves = assign(view, &takers, &free, patience.settle_ms);
    Change { fence, moves }
}

fn living(view: &View) -> impl Iterator<Item = RunView> {
    let now = view.now_ms;
    view.runs
        .iter()
        .copied()
        .filter(move |run| run.until_ms > now)
}

/// The runs to fence: those whose lease has ended, few at a time. When many end together, the
/// fault is more likely ours than theirs, and they get longer.
fn overdue(view: &View, mass_lapse_ms: i64) -> Vec<i64> {
    let mut lapsed: Vec<RunView> = view
        .runs
        .iter()
        .copied()
        .filter(|run| run.until_ms <= view.now_ms)
        .collect();
    lapsed.sort_by_key(|run| (run.until_ms, run.id));
    let together = |of: &RunView| {
        let near = |run: &&RunView| (run.until_ms - of.until_ms).abs() <= LAPSE_WINDOW_MS;
        lapsed.iter().filter(near).count()
    };
    let room = TAKEOVERS_PER_MINUTE_MAX.saturating_sub(view.taken_over);
    let mut fence: Vec<i64> = lapsed
        .iter()
        .filter(|run| {
            let count = together(run);
            let many = count > 1 && count * 2 >= view.runs.len();
            !many || run.until_ms.saturating_add(mass_lapse_ms) <= view.now_ms
        })
        .map(|run| run.id)
        .take(room)
        .collect();
    fence.sort_unstable();
    fence
}

fn assign(
    view: &View,
    takers: &[RunView],
    free: &BTreeMap<Region, i64>,
    settle_ms: i64,
) -> Vec<Move> {
    if takers.is_empty() || free.is_empty() {
        return Vec::new();
    }
    let mut owned: BTreeMap<i64, BTreeSet<Region>> =
        takers.iter().map(|run| (run.id, BTreeSet::new())).collect();
    for owner in &view.regions {
        if let Some(regions) = owned.get_mut(&owner.run) {
            regions.insert(owner.region);
        }
    }
    let first = owned.values().all(BTreeSet::is_empty);
    let newest = takers.iter().map(|run| run.registered_ms).max();
    if first && newest.is_some_and(|at| at.saturating_add(settle_ms) > view.now_ms) {
        return Vec::new();
    }
    let regions: Vec<Region> = free.keys().copied().collect();
    let given = if first {
        let runs: Vec<i64> = owned.keys().copied().collect();
        divide(regions, &runs)
    } else {
        grow(regions, owned)
    };
    given
        .into_iter()
        .filter(|(_, run)| *run != NOBODY)
        .map(|(region, to)| Move {
            region,
            epoch: free.get(&region).copied().unwrap_or_default(),
            to,
        })
        .collect()
}

/// Shares regions among runs that own nothing: halves across the longer side, again and again.
/// Counts differ by at most one.
fn divide(mut regions: Vec<Region>, runs: &[i64]) -> BTreeMap<Region, i64> {
    match runs {
        [] => return BTreeMap::new(),
        [run] => return regions.into_iter().map(|region| (region, *run)).collect(),
        _ => {}
    }
    let span = |of: fn(&Region) -> i32| {
        let (low, high) = (regions.iter().map(of).min(), regions.iter().map(of).max());
        i64::from(high.unwrap_or(0)) - i64::from(low.unwrap_or(0))
    };
    if span(|region| region.x) >= span(|region| region.z) {
        regions.sort_by_key(|region| (region.x, region.z));
    } else {
        regions.sort_by_key(|region| (region.z, region.x));
    }
    let half = runs.len() / 2;
    let (each, more) = (regions.len() / runs.len(), regions.len() % runs.len());
    let rest = regions.split_off(each * half + more.min(half));
    let mut given = divide(regions, &runs[..half]);
    given.extend(divide(rest, &runs[half..]));
    given
}

/// Gives regions one by one to the run that owns least, each time the one nearest to what it has.
fn grow(
    mut free: Vec<Region>,
    mut owned: BTreeMap<i64, BTreeSet<Region>>,
) -> BTreeMap<Region, i64> {
    let mut given = BTreeMap::new();
    while !free.is_empty() {
        let least = owned.iter_mut().min_by_key(|(run, own)| (own.len(), **run));
        let Some((run, own)) = least else {
            break;
        };
        let near = |region: &Region| own.iter().map(|mine| distance(*mine, *region)).min();
        let best = (0..free.len()).min_by_key(|at| (near(&free[*at]), free[*at]));
        let Some(best) = best else {
            break;
        };
        let region = free.remove(best);
        own.insert(region);
        given.insert(region, *run);
    }
    given
}

fn distance(a: Region, b: Region) -> u64 {
    u64::from(a.x.abs_diff(b.x)) + u64::from(a.z.abs_diff(b.z))
}

#[cfg(test)]
mod tests;
