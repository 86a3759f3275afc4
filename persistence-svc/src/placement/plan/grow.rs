//! Gives regions that lost their owner to the runs that own others.

use std::collections::BTreeMap;

use super::block::distance;
use super::prospect::Prospect;
use super::town::KEPT_PERMILLE;
use crate::store::model::Region;

/// A run that receives regions.
struct Grower {
    run: i64,
    load: i64,
    /// Distance of each free group from the regions of the run.
    far: BTreeMap<Region, u64>,
}

impl Grower {
    fn new(
        prospect: &Prospect<'_>,
        run: i64,
        load: i64,
        free: &BTreeMap<Region, Vec<Region>>,
    ) -> Grower {
        let own = prospect.owner.iter().filter(|(_, owner)| **owner == run);
        let own: Vec<Region> = own.map(|(region, _)| *region).collect();
        let far = |group: &[Region]| nearest(&own, group).unwrap_or(u64::MAX);
        let far = free.iter().map(|(first, group)| (*first, far(group)));
        Grower {
            run,
            load,
            far: far.collect(),
        }
    }
}

/// Returns the distance between two groups of regions; `None`: one is empty.
fn nearest(some: &[Region], others: &[Region]) -> Option<u64> {
    let pairs = some
        .iter()
        .flat_map(|one| others.iter().map(|other| distance(*one, *other)));
    pairs.min()
}

/// Gives regions one by one to the run with the least load, each time the region nearest to its
/// own. The free regions of a town go together: to the run that owns most of the rest, unless that
/// run would have more than [`KEPT_PERMILLE`] of the mean, else like one region. They go one by one
/// only if together they are more than that.
pub(super) fn grow(
    prospect: &Prospect<'_>,
    free: &[Region],
    sharers: &BTreeMap<i64, i64>,
) -> BTreeMap<Region, i64> {
    let all = prospect.total() + prospect.weights(free);
    let mean = all / i64::try_from(sharers.len().max(1)).unwrap_or(1);
    let kept = mean.saturating_mul(KEPT_PERMILLE) / 1_000;
    let light = |group: &[Region]| prospect.weights(group) <= kept;
    let free = prospect.towns.groups(free.iter().copied(), light);
    let mut growers: Vec<Grower> = sharers
        .iter()
        .map(|(run, load)| Grower::new(prospect, *run, *load, &free))
        .collect();
    let mut given = BTreeMap::new();
    for (first, group) in &free {
        let weight = prospect.weights(group);
        let mut homes = prospect.owners_around(*first).into_iter();
        let home = homes.find_map(|run| {
            let mut fits = growers.iter().enumerate();
            fits.find(|(_, grower)| grower.run == run && grower.load + weight <= kept)
        });
        if let Some((at, _)) = home {
            give(prospect, &mut growers, at, group, &mut given);
        }
    }
    loop {
        let least = growers.iter().map(|grower| grower.load).min();
        let pairs = growers
            .iter()
            .enumerate()
            .filter(|(_, grower)| Some(grower.load) == least)
            .flat_map(|(at, grower)| {
                grower
                    .far
                    .iter()
                    .map(move |(first, far)| (*far, at, *first))
            });
        let Some((_, at, first)) = pairs.min() else {
            return given;
        };
        let group = free.get(&first).map_or(&[][..], Vec::as_slice);
        give(prospect, &mut growers, at, group, &mut given);
    }
}

/// Gives a group of regions to the run number `at`.
fn give(
    prospect: &Prospect<'_>,
    growers: &mut [Grower],
    at: usize,
    group: &[Region],
    given: &mut BTreeMap<Region, i64>,
) {
    let Some(first) = group.first() else {
        return;
    };
    for (number, grower) in growers.iter_mut().enumerate() {
        grower.far.remove(first);
        if number == at {
            grower.load = grower.load.saturating_add(prospect.weights(group));
            given.extend(group.iter().map(|region| (*region, grower.run)));
            for (place, far) in &mut grower.far {
                *far = (*far).min(nearest(group, &[*place]).unwrap_or(u64::MAX));
            }
        }
    }
}
