//! The towns of the content, for the store: groups of regions that one run should own together.
//!
//! Always: a region is of one town at most.

use std::collections::BTreeSet;

use proto::rpc::persistence::v1::Town;
use world::{Bounds, Content, Region, border::BAND_TILES};

use crate::translate::record;

/// Returns the towns that lie across borders of regions.
pub(crate) fn of(content: &Content) -> Vec<Town> {
    let towns = content.areas().iter().filter(|area| area.starter_town);
    let groups = groups(content.regions(), towns.map(|town| town.bounds));
    let town = |regions: Vec<Region>| Town {
        regions: regions.into_iter().map(record::rpc_region).collect(),
    };
    groups.into_iter().map(town).collect()
}

/// Returns the regions of each town that has more than one. A region of two towns is of the first.
fn groups(world: Vec<Region>, towns: impl Iterator<Item = Bounds>) -> Vec<Vec<Region>> {
    let mut left: BTreeSet<Region> = world.into_iter().collect();
    let mut groups = Vec::new();
    for town in towns {
        let own = left.iter().copied();
        let own: Vec<Region> = own.filter(|region| reaches(town, *region)).collect();
        if own.len() > 1 {
            left.retain(|region| !own.contains(region));
            groups.push(own);
        }
    }
    groups
}

/// Returns whether players of the town come to be in this region: they change their region only
/// [`BAND_TILES`] past the border.
fn reaches(town: Bounds, region: Region) -> bool {
    let land = region.bounds();
    let deep = |from: i32, to: i32| to > from && to.abs_diff(from) >= BAND_TILES;
    deep(town.min_x.max(land.min_x), town.max_x.min(land.max_x))
        && deep(town.min_z.max(land.min_z), town.max_z.min(land.max_z))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(min_x: i32, max_x: i32, min_z: i32, max_z: i32) -> Bounds {
        Bounds {
            min_x,
            max_x,
            min_z,
            max_z,
        }
    }

    fn named(towns: &[Bounds]) -> Vec<Vec<(i32, i32)>> {
        let groups = groups(
            bounds(-128, 128, -128, 128).regions(),
            towns.iter().copied(),
        );
        let place = |region: Region| (region.x, region.z);
        let group = |group: Vec<Region>| group.into_iter().map(place).collect();
        groups.into_iter().map(group).collect()
    }

    #[test]
    fn a_town_has_the_regions_in_which_its_players_come_to_be() {
        assert_eq!(named(&[bounds(40, 68, 0, 64)]), [[(0, 0), (1, 0)]]);
        // Nobody changes the region in the first three tiles past a border.
        assert!(named(&[bounds(40, 67, 0, 64)]).is_empty());
        assert!(named(&[bounds(-3, 60, -3, 60)]).is_empty());
        // There is no land beyond the edge of the world.
        assert!(named(&[bounds(64, 1_000, 64, 1_000)]).is_empty());
        assert_eq!(
            named(&[bounds(i32::MIN, i32::MAX, 10, 20)]),
            [[(-2, 0), (-1, 0), (0, 0), (1, 0)]]
        );
    }

    #[test]
    fn a_region_of_two_towns_is_of_the_first() {
        let towns = named(&[bounds(-40, 40, 0, 40), bounds(30, 90, 0, 90)]);
        let first = vec![(-1, 0), (0, 0)];
        assert_eq!(towns, [first, vec![(0, 1), (1, 0), (1, 1)]]);
    }

    #[test]
    fn seven_of_our_towns_have_four_regions_and_one_has_two() {
        let towns = of(&Content::embedded());
        let mut sizes: Vec<usize> = towns.iter().map(|town| town.regions.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [2, 4, 4, 4, 4, 4, 4, 4]);
    }
}
