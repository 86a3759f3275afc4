//! Assigns owners to the regions that nobody plays.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::block::{border, pieces};
use super::grow::grow;
use super::prospect::Prospect;
use super::town::KEPT_PERMILLE;
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
        let most = kept(rest.len(), runs.len());
        let whole = |group: &[Region]| group.len() <= most;
        let towns = prospect.towns.groups(rest.iter().copied(), whole);
        let each = |(first, group): (Region, Vec<Region>)| {
            group.into_iter().map(move |region| (region, first))
        };
        divide(rest, &runs, &towns.into_iter().flat_map(each).collect())
    } else {
        grow(prospect, &rest, &sharers)
    };
    for region in alone {
        let cell = prospect.cells.get(&region).copied().unwrap_or(NOBODY);
        given.insert(region, cell);
    }
    given
}

/// Returns the most regions with which a town stays whole in the first division: as much above an
/// equal share as [`KEPT_PERMILLE`] allows.
fn kept(regions: usize, runs: usize) -> usize {
    let kept = usize::try_from(KEPT_PERMILLE).unwrap_or(0);
    regions.saturating_mul(kept) / (runs.max(1) * 1_000)
}

/// Shares regions among runs that own nothing: in two, again and again, each time by the shortest
/// cut that leaves both parts in one piece. A cut is straight, but it goes around the towns in
/// `town`, which has the first region of each region's town. Without towns counts differ by at most
/// one. With towns a run's count differs from an equal share by at most the regions of the largest
/// town. A cut goes through a town only where else a run would get nothing.
fn divide(
    regions: Vec<Region>,
    runs: &[i64],
    town: &BTreeMap<Region, Region>,
) -> BTreeMap<Region, i64> {
    match runs {
        [] => return BTreeMap::new(),
        [run] => return regions.into_iter().map(|region| (region, *run)).collect(),
        _ => {}
    }
    let half = runs.len() / 2;
    let (each, more) = (regions.len() / runs.len(), regions.len() % runs.len());
    let count = each * half + more.min(half);
    let ways = ORDERS.iter().flat_map(|key| {
        let nearer = in_order(&regions, town, |region| key(&region));
        let farther = in_order(&regions, town, |region| Reverse(key(&region)));
        [nearer, farther.into_iter().rev().collect()]
    });
    let cuts = ways.map(|mut part| {
        let least = (half, runs.len() - half);
        let (at, through) = around_town(&part, town, count, least);
        let rest = part.split_off(at);
        (through, at.abs_diff(count), part, rest)
    });
    let Some((_, _, part, rest)) = cuts.min_by_key(|(through, off, part, rest)| {
        let pieces = pieces(part) + pieces(rest);
        (*through, pieces, border(part, rest), *off)
    }) else {
        return BTreeMap::new();
    };
    let mut given = divide(part, &runs[..half], town);
    given.extend(divide(rest, &runs[half..], town));
    given
}

/// Returns the regions in the order of `key`, all of a town where its first one stands.
fn in_order<K: Ord + Copy>(
    regions: &[Region],
    town: &BTreeMap<Region, Region>,
    key: impl Fn(Region) -> K,
) -> Vec<Region> {
    let mut first: BTreeMap<Region, K> = BTreeMap::new();
    for region in regions {
        if let Some(town) = town.get(region) {
            let own = key(*region);
            let first = first.entry(*town).or_insert(own);
            *first = own.min(*first);
        }
    }
    let mut regions = regions.to_vec();
    regions.sort_by_key(|region| {
        let own = key(*region);
        let first = town.get(region).and_then(|town| first.get(town));
        (first.copied().unwrap_or(own), own)
    });
    regions
}

/// Returns the end of the town nearest to `count`, if that place lies inside a town, and whether
/// the cut goes through the town all the same. Both sides keep at least so many regions.
fn around_town(
    regions: &[Region],
    town: &BTreeMap<Region, Region>,
    count: usize,
    least: (usize, usize),
) -> (usize, bool) {
    let town_at = |at: usize| regions.get(at).and_then(|region| town.get(region));
    let whole = |at: usize| at == 0 || town_at(at).is_none() || town_at(at - 1) != town_at(at);
    if whole(count) {
        return (count, false);
    }
    let places = least.0..=regions.len().saturating_sub(least.1);
    match places
        .filter(|at| whole(*at))
        .min_by_key(|at| at.abs_diff(count))
    {
        Some(at) => (at, false),
        None => (count, true),
    }
}

type Order = fn(&Region) -> (i32, i32);

/// Ways to cut: from west or south, and the end of the cut line that goes along.
const ORDERS: [Order; 4] = [
    |region| (region.x, region.z),
    |region| (region.x, -region.z),
    |region| (region.z, region.x),
    |region| (region.z, -region.x),
];
