//! Chooses the run to which the owner of a region gives it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use world::Region;

/// Regions that a run gives away at the same time while it goes on playing: few players wait.
pub(crate) const GIVES_MAX: usize = 4;
/// Regions that an ending run gives away at the same time. It hands on a world of hundreds of
/// regions long before the operator who stops the process gives up.
pub(crate) const DRAIN_GIVES_MAX: usize = 24;

/// Runs that could take regions, with the regions that each has or was promised.
pub(crate) type Hosts = BTreeMap<u64, BTreeSet<Region>>;

/// Returns the run that shall have `region`. Only runs that have few regions count. Of them it is
/// the one that has most of the region's neighbours, then the one with fewest regions, then the
/// eldest. `refused` are the runs that did not take it just now.
pub(crate) fn target(region: Region, hosts: &Hosts, refused: &BTreeSet<u64>) -> Option<u64> {
    let willing = || hosts.iter().filter(|(run, _)| !refused.contains(run));
    let fewest = willing().map(|(_, regions)| regions.len()).min()?;
    let slack = 1 + fewest / 8;
    willing()
        .filter(|(_, regions)| regions.len() <= fewest + slack)
        .max_by_key(|(run, regions)| {
            let near = neighbours(region).filter(|n| regions.contains(n)).count();
            (
                near,
                std::cmp::Reverse(regions.len()),
                std::cmp::Reverse(**run),
            )
        })
        .map(|(run, _)| *run)
}

/// Returns the regions that share an edge with `region`.
fn neighbours(region: Region) -> impl Iterator<Item = Region> {
    [(1, 0), (-1, 0), (0, 1), (0, -1)]
        .into_iter()
        .map(move |(dx, dz)| Region {
            x: region.x.saturating_add(dx),
            z: region.z.saturating_add(dz),
        })
}

/// Returns the regions to give now, with their takers: at most `room` of `mine`, in order. Adds
/// them to the takers' regions in `hosts`.
pub(crate) fn plan(
    mine: impl IntoIterator<Item = Region>,
    hosts: &mut Hosts,
    refused: &BTreeMap<Region, BTreeSet<u64>>,
    room: usize,
) -> Vec<(Region, u64)> {
    let nobody = BTreeSet::new();
    let mut out = Vec::new();
    for region in mine {
        if out.len() >= room {
            break;
        }
        let refused = refused.get(&region).unwrap_or(&nobody);
        if let Some(run) = target(region, hosts, refused) {
            hosts.entry(run).or_default().insert(region);
            out.push((region, run));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, z: i32) -> Region {
        Region { x, z }
    }

    fn hosts(of: &[(u64, &[(i32, i32)])]) -> Hosts {
        let host = |(run, regions): &(u64, &[(i32, i32)])| {
            (*run, regions.iter().map(|(x, z)| at(*x, *z)).collect())
        };
        of.iter().map(host).collect()
    }

    #[test]
    fn the_neighbour_takes_it_as_long_as_it_has_not_much_more() {
        let nobody = BTreeSet::new();
        let even = hosts(&[(1, &[(9, 9)]), (2, &[(0, 1), (0, 2)])]);
        assert_eq!(target(at(0, 0), &even, &nobody), Some(2));
        let uneven = hosts(&[(1, &[(9, 9)]), (2, &[(0, 1), (0, 2), (0, 3)])]);
        assert_eq!(target(at(0, 0), &uneven, &nobody), Some(1));
    }

    #[test]
    fn who_refused_is_not_asked_again_while_there_is_another() {
        let both = hosts(&[(1, &[]), (2, &[(0, 1)])]);
        assert_eq!(target(at(0, 0), &both, &BTreeSet::from([2])), Some(1));
        assert_eq!(target(at(0, 0), &both, &BTreeSet::from([1, 2])), None);
        assert_eq!(target(at(0, 0), &Hosts::new(), &BTreeSet::new()), None);
    }

    #[test]
    fn many_regions_are_spread_evenly_and_a_few_at_a_time() {
        let mut all = hosts(&[(1, &[]), (2, &[]), (3, &[])]);
        let mine: Vec<Region> = (0..12).map(|x| at(x, 0)).collect();
        let first = plan(mine.clone(), &mut all.clone(), &BTreeMap::new(), GIVES_MAX);
        assert_eq!(first.len(), GIVES_MAX);
        plan(mine, &mut all, &BTreeMap::new(), usize::MAX);
        let sizes: Vec<usize> = all.values().map(BTreeSet::len).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 12);
        let spread = sizes.iter().max().unwrap() - sizes.iter().min().unwrap();
        assert!(spread <= 2, "{sizes:?}");
    }
}
