//! Decides which regions a run drops or loads when the directory names their owners. Pure.
//!
//! Always: an epoch below the highest known epoch of a region changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use world::Region;

/// Id that no run has. A region of this owner is nobody's.
pub const NOBODY: u64 = 0;

/// The owner of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Run that owns the region, or [`NOBODY`].
    pub run_id: u64,
    /// Epoch at which the run owns the region.
    pub epoch: u64,
}

/// A step of a run towards the regions that it owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Stop playing a region: another run owns it, or this run lost it and got it back at a later
    /// epoch.
    Drop(Region),
    /// Load a region that is this run's at this epoch.
    Load(Region, u64),
}

/// The knowledge that a run has of regions.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Id of this run.
    pub me: u64,
    /// Owners of regions by the directory; run 0 is nobody.
    pub owners: &'a BTreeMap<Region, Owner>,
    /// Regions that the run plays, with their epochs.
    pub held: &'a BTreeMap<Region, u64>,
    /// Regions that it has requested from the store, or is about to play, with their epochs.
    pub coming: &'a BTreeMap<Region, u64>,
    /// Regions that are out because the run gives them away: only the store's answer counts.
    pub giving: &'a BTreeSet<Region>,
    /// Regions that their owners promised, and whose handover the run still awaits, with epochs.
    pub awaited: &'a BTreeMap<Region, u64>,
    /// Highest epoch of each region that the run knows otherwise than by the directory.
    pub seen: &'a BTreeMap<Region, u64>,
}

/// Returns the acts after which the run plays just the regions that it owns.
pub fn decide(known: Known<'_>) -> Vec<Act> {
    let held = known.held.iter();
    let lost = held
        .filter(|(region, epoch)| lost(known, **region, **epoch))
        .map(|(region, _)| Act::Drop(*region));
    let won = known
        .owners
        .iter()
        .filter(|(region, owner)| won(known, **region, **owner))
        .map(|(region, owner)| Act::Load(*region, owner.epoch));
    lost.chain(won).collect()
}

fn lost(known: Known<'_>, region: Region, epoch: u64) -> bool {
    match known.owners.get(&region) {
        None => true,
        Some(owner) if owner.epoch == epoch => owner.run_id != known.me,
        // An older directory does not know yet that the last owner gave it to this run.
        Some(owner) => owner.epoch > epoch,
    }
}

fn won(known: Known<'_>, region: Region, owner: Owner) -> bool {
    let epoch = Some(&owner.epoch);
    owner.run_id == known.me
        && !known.giving.contains(&region)
        && known.held.get(&region) < epoch
        && known.coming.get(&region) < epoch
        && known.awaited.get(&region) != epoch
        && known.seen.get(&region) <= epoch
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: u64 = 7;

    fn at(x: i32) -> Region {
        Region { x, z: 0 }
    }

    fn regions(of: &[(i32, u64)]) -> BTreeMap<Region, u64> {
        of.iter().map(|(x, epoch)| (at(*x), *epoch)).collect()
    }

    fn owners(of: &[(i32, u64, u64)]) -> BTreeMap<Region, Owner> {
        let owner = |&(x, run_id, epoch): &(i32, u64, u64)| (at(x), Owner { run_id, epoch });
        of.iter().map(owner).collect()
    }

    #[derive(Default)]
    struct Row<'a> {
        owners: &'a [(i32, u64, u64)],
        held: &'a [(i32, u64)],
        coming: &'a [(i32, u64)],
        giving: &'a [i32],
        awaited: &'a [(i32, u64)],
        seen: &'a [(i32, u64)],
    }

    impl Row<'_> {
        fn decide(&self) -> Vec<Act> {
            decide(Known {
                me: ME,
                owners: &owners(self.owners),
                held: &regions(self.held),
                coming: &regions(self.coming),
                giving: &self.giving.iter().map(|x| at(*x)).collect(),
                awaited: &regions(self.awaited),
                seen: &regions(self.seen),
            })
        }
    }

    #[test]
    fn every_difference_has_its_act() {
        type Held<'a> = &'a [(i32, u64)];
        type Owners<'a> = &'a [(i32, u64, u64)];
        let table: &[(Owners, Held, Held, &[Act])] = &[
            (&[], &[], &[], &[]),
            (&[(1, ME, 1)], &[], &[], &[Act::Load(at(1), 1)]),
            (&[(1, ME, 1)], &[(1, 1)], &[], &[]),
            (&[(1, ME, 1)], &[], &[(1, 1)], &[]),
            (&[(1, ME, 2)], &[], &[(1, 1)], &[Act::Load(at(1), 2)]),
            (&[], &[(1, 1)], &[], &[Act::Drop(at(1))]),
            (&[(1, 0, 2)], &[(1, 1)], &[], &[Act::Drop(at(1))]),
            (&[(1, 8, 2)], &[(1, 1)], &[], &[Act::Drop(at(1))]),
            (&[(1, 8, 1)], &[(1, 1)], &[], &[Act::Drop(at(1))]),
            (
                &[(1, ME, 3)],
                &[(1, 1)],
                &[],
                &[Act::Drop(at(1)), Act::Load(at(1), 3)],
            ),
            (&[(1, ME, 3)], &[(1, 1)], &[(1, 3)], &[Act::Drop(at(1))]),
        ];
        for (owners, held, coming, acts) in table {
            let row = Row {
                owners,
                held,
                coming,
                ..Row::default()
            };
            assert_eq!(&row.decide(), acts, "{owners:?} {held:?} {coming:?}");
        }
    }

    #[test]
    fn a_region_that_a_peer_gave_is_kept_until_the_directory_knows() {
        let row = Row {
            owners: &[(1, 8, 4)],
            held: &[(1, 5)],
            ..Row::default()
        };
        assert_eq!(row.decide(), []);
    }

    #[test]
    fn a_region_that_is_being_given_away_is_left_to_the_store() {
        let row = Row {
            owners: &[(1, ME, 4)],
            giving: &[1],
            ..Row::default()
        };
        assert_eq!(row.decide(), []);
    }

    #[test]
    fn a_region_that_was_given_away_does_not_come_back_by_an_old_directory() {
        let row = Row {
            owners: &[(1, ME, 4)],
            seen: &[(1, 5)],
            ..Row::default()
        };
        assert_eq!(row.decide(), []);
        let later = Row {
            owners: &[(1, ME, 6)],
            ..row
        };
        assert_eq!(later.decide(), [Act::Load(at(1), 6)]);
    }

    #[test]
    fn a_promised_region_waits_for_its_giver_at_that_epoch_only() {
        let row = Row {
            owners: &[(1, ME, 5)],
            awaited: &[(1, 5)],
            ..Row::default()
        };
        assert_eq!(row.decide(), []);
        let taken_over = Row {
            owners: &[(1, ME, 6)],
            ..row
        };
        assert_eq!(taken_over.decide(), [Act::Load(at(1), 6)]);
    }
}
