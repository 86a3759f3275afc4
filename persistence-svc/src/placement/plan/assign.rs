//! Assigns owners to the regions that nobody plays.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{border, distance, pieces};
use super::prospect::Prospect;
use crate::store::model::{NOBODY, Region};

/// Returns an owner for each of these regions, as far as there is one for it now.
pub(super) fn assign(
    prospect: &Prospect<'_>,
    free: &BTreeSet<Region>,
    settle_ms: i64,
) -> BTreeMap<Region, i64> {
    let takers = &prospect.takers;
    if takers.is_empty() || free.is_empty() {
        return BTreeMap::new();
    }
    let owners: BTreeSet<i64> = prospect.owner.values().copied().collect();
    let first = takers.keys().all(|run| !owners.contains(run));
    let newest = takers.values().map(|run| run.registered_ms).max();
    let settled = |at: i64| at.saturating_add(settle_ms) <= prospect.view.now_ms;
    if first && !newest.is_some_and(settled) {
        return BTreeMap::new();
    }
    let (alone, rest): (Vec<Region>, Vec<Region>) = free
        .iter()
        .copied()
        .partition(|region| prospect.cells.contains_key(region));
    let sharers = prospect.sharers();
    let mut given = if first {
        let runs: Vec<i64> = sharers.keys().copied().collect();
        divide(rest, &runs)
    } else {
        grow(prospect, rest, &sharers)
    };
    for region in alone {
        let cell = prospect.cells.get(&region).copied().unwrap_or(NOBODY);
        given.insert(region, cell);
    }
    given
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

/// Ways to cut: from west or south, and the end of the cut line that goes along.
const ORDERS: [Order; 4] = [
    |region| (region.x, region.z),
    |region| (region.x, -region.z),
    |region| (region.z, region.x),
    |region| (region.z, -region.x),
];

/// A run that receives regions.
struct Grower {
    run: i64,
    load: i64,
    /// Distance of each free region from the regions of the run.
    far: BTreeMap<Region, u64>,
}

impl Grower {
    fn new(prospect: &Prospect<'_>, run: i64, load: i64, free: &[Region]) -> Grower {
        let own = prospect.owner.iter().filter(|(_, owner)| **owner == run);
        let own: Vec<Region> = own.map(|(region, _)| *region).collect();
        let far = |region: &Region| own.iter().map(|mine| distance(*mine, *region)).min();
        let far = free
            .iter()
            .map(|region| (*region, far(region).unwrap_or(u64::MAX)));
        Grower {
            run,
            load,
            far: far.collect(),
        }
    }
}

/// Gives regions one by one to the run with the least load, each time the region nearest to its
/// own.
fn grow(
    prospect: &Prospect<'_>,
    free: Vec<Region>,
    sharers: &BTreeMap<i64, i64>,
) -> BTreeMap<Region, i64> {
    let mut growers: Vec<Grower> = sharers
        .iter()
        .map(|(run, load)| Grower::new(prospect, *run, *load, &free))
        .collect();
    let mut given = BTreeMap::new();
    for _ in 0..free.len() {
        let least = growers.iter().map(|grower| grower.load).min();
        let pairs = growers
            .iter()
            .enumerate()
            .filter(|(_, grower)| Some(grower.load) == least)
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
                grower.load = grower.load.saturating_add(prospect.weight(region));
                given.insert(region, grower.run);
                for (place, far) in &mut grower.far {
                    *far = (*far).min(distance(region, *place));
                }
            }
        }
    }
    given
}
