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

/// Shares regions among runs that own nothing: in two, again and again, each time by the shortest
/// straight cut that leaves both parts in one piece. Counts differ by at most one.
fn divide(regions: Vec<Region>, runs: &[i64]) -> BTreeMap<Region, i64> {
    match runs {
        [] => return BTreeMap::new(),
        [run] => return regions.into_iter().map(|region| (region, *run)).collect(),
        _ => {}
    }
    let half = runs.len() / 2;
    let (each, more) = (regions.len() / runs.len(), regions.len() % runs.len());
    let count = each * half + more.min(half);
    let cuts = ORDERS.iter().map(|key| {
        let mut part = regions.clone();
        part.sort_by_key(key);
        let rest = part.split_off(count);
        (part, rest)
    });
    let Some((part, rest)) = cuts.min_by_key(|(part, rest)| {
        let pieces = pieces(part) + pieces(rest);
        (pieces, border(part, rest))
    }) else {
        return BTreeMap::new();
    };
    let mut given = divide(part, &runs[..half]);
    given.extend(divide(rest, &runs[half..]));
    given
}

type Order = fn(&Region) -> (i32, i32);

/// The ways to cut: from west or south, and which end of the line that is cut in two goes along.
const ORDERS: [Order; 4] = [
    |region| (region.x, region.z),
    |region| (region.x, -region.z),
    |region| (region.z, region.x),
    |region| (region.z, -region.x),
];

fn neighbours(of: Region) -> [Region; 4] {
    [(1, 0), (-1, 0), (0, 1), (0, -1)].map(|(x, z)| Region {
        x: of.x.saturating_add(x),
        z: of.z.saturating_add(z),
    })
}

/// How many connected pieces the regions form.
fn pieces(regions: &[Region]) -> usize {
    let mut left: BTreeSet<Region> = regions.iter().copied().collect();
    let mut pieces = 0;
    while let Some(first) = left.pop_first() {
        pieces += 1;
        let mut edge = vec![first];
        while let Some(region) = edge.pop() {
            edge.extend(
                neighbours(region)
                    .into_iter()
                    .filter(|near| left.remove(near)),
            );
        }
    }
    pieces
}

/// How many pairs of neighbours are cut apart.
fn border(part: &[Region], rest: &[Region]) -> usize {
    let part: BTreeSet<Region> = part.iter().copied().collect();
    let cut = |region: &Region| {
        neighbours(*region)
            .iter()
            .filter(|n| part.contains(n))
            .count()
    };
    rest.iter().map(cut).sum()
}

/// Gives regions one by one to a run that owns least, each time the one nearest to what it has.
fn grow(free: Vec<Region>, owned: BTreeMap<i64, BTreeSet<Region>>) -> BTreeMap<Region, i64> {
    struct Grower {
        run: i64,
        count: usize,
        /// How far each free region is from what the run has.
        far: BTreeMap<Region, u64>,
    }
    let mut growers: Vec<Grower> = owned
        .into_iter()
        .map(|(run, own)| {
            let far = |region: &Region| own.iter().map(|mine| distance(*mine, *region)).min();
            let far = free
                .iter()
                .map(|region| (*region, far(region).unwrap_or(u64::MAX)));
            Grower {
                run,
                count: own.len(),
                far: far.collect(),
            }
        })
        .collect();
    let mut given = BTreeMap::new();
    for _ in 0..free.len() {
        let least = growers.iter().map(|grower| grower.count).min();
        let pairs = growers
            .iter()
            .enumerate()
            .filter(|(_, grower)| Some(grower.count) == least)
            .flat_map(|(at, grower)| {
                grower
                    .far
                    .iter()
                    .map(move |(place, far)| (*far, at, *place))
            });
        let Some((_, at, region)) = pairs.min() else {
            break;
        };
        for (number, grower) in growers.iter_mut().enumerate() {
            grower.far.remove(&region);
            if number == at {
                grower.count += 1;
                given.insert(region, grower.run);
                for (place, far) in &mut grower.far {
                    *far = (*far).min(distance(region, *place));
                }
            }
        }
    }
    given
}

fn distance(a: Region, b: Region) -> u64 {
    u64::from(a.x.abs_diff(b.x)) + u64::from(a.z.abs_diff(b.z))
}

#[cfg(test)]
mod tests;
