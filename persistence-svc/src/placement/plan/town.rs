//! Towns: groups of regions between which many players walk, so that one run should own each group.
//!
//! Always: a region is of one town at most; a region that must be alone is of none.

use std::collections::{BTreeMap, BTreeSet};

use super::RegionView;
use crate::store::model::Region;

/// Load in thousandths of the mean up to which one run may own a whole town. The plan cuts a town
/// only if its owner has more.
pub(super) const KEPT_PERMILLE: i64 = 1_300;

/// The towns of the world.
#[derive(Debug, Default)]
pub(super) struct Towns {
    /// Town of each region that has one.
    of: BTreeMap<Region, i32>,
    /// Regions of each town.
    regions: BTreeMap<i32, BTreeSet<Region>>,
}

impl Towns {
    /// Reads the towns of the regions.
    pub(super) fn new(regions: &[RegionView]) -> Towns {
        let mut towns = Towns::default();
        for one in regions.iter().filter(|one| one.town > 0) {
            towns.of.insert(one.region, one.town);
            towns
                .regions
                .entry(one.town)
                .or_default()
                .insert(one.region);
        }
        towns
    }

    /// Counts a region as one without a town.
    pub(super) fn leave_out(&mut self, region: Region) {
        if let Some(town) = self.of.remove(&region)
            && let Some(regions) = self.regions.get_mut(&town)
        {
            regions.remove(&region);
        }
    }

    /// Returns the regions of each town.
    pub(super) fn all(&self) -> impl Iterator<Item = &BTreeSet<Region>> {
        self.regions.values()
    }

    /// Returns all regions of the town of `region`, itself among them; none if it has no town.
    pub(super) fn around(&self, region: Region) -> impl Iterator<Item = Region> {
        let town = self.of.get(&region).and_then(|town| self.regions.get(town));
        town.into_iter().flatten().copied()
    }

    /// Groups these regions by town. A region without a town is a group of its own, and so is each
    /// region of a town that must not stay `whole`. The key of a group is its first region.
    pub(super) fn groups(
        &self,
        regions: impl IntoIterator<Item = Region>,
        whole: impl Fn(&[Region]) -> bool,
    ) -> BTreeMap<Region, Vec<Region>> {
        let mut groups: BTreeMap<Region, Vec<Region>> = BTreeMap::new();
        let mut towns: BTreeMap<i32, Vec<Region>> = BTreeMap::new();
        for region in regions {
            match self.of.get(&region) {
                Some(town) => towns.entry(*town).or_default().push(region),
                None => {
                    groups.insert(region, vec![region]);
                }
            }
        }
        for mut group in towns.into_values() {
            group.sort_unstable();
            if whole(&group) {
                groups.extend(group.first().copied().map(|first| (first, group)));
            } else {
                groups.extend(group.into_iter().map(|region| (region, vec![region])));
            }
        }
        groups
    }
}
