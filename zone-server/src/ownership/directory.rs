//! The directory as a run knows it: the owner of each region, and the address of each run.
//!
//! Always: an older version never replaces a newer one.

use std::collections::{BTreeMap, BTreeSet};

use handover::decide::{NOBODY, Owner};
use proto::rpc::persistence::v1::{DirectoryUpdate, RunState};
use world::Region;

/// A run that may still write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Address at which the run is reached.
    pub(crate) address: String,
    /// Whether the run gives its regions away and takes none.
    pub(crate) draining: bool,
    /// SHA-256 of the content that the run plays.
    pub(crate) content_hash: String,
}

/// One version of the directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    version: u64,
    incarnation: u64,
    runs: BTreeMap<u64, Peer>,
    owners: BTreeMap<Region, Owner>,
    /// Runs to which owners should give regions.
    wanted: BTreeMap<Region, u64>,
    /// Regions that nobody may play until an operator resumes them.
    paused: BTreeSet<Region>,
    frozen: bool,
}

impl Directory {
    /// Takes in an update. Returns true when something may have changed.
    pub(crate) fn apply(&mut self, update: DirectoryUpdate) -> bool {
        let newer = (update.incarnation, update.version) > (self.incarnation, self.version);
        if update.unchanged || !newer {
            return false;
        }
        self.version = update.version;
        self.incarnation = update.incarnation;
        self.frozen = update.frozen;
        let alive = update.runs.into_iter();
        let alive = alive.filter(|run| run.state() != RunState::Fenced);
        self.runs = alive
            .map(|run| {
                let peer = Peer {
                    draining: run.state() == RunState::Draining,
                    address: run.address,
                    content_hash: run.content_hash,
                };
                (run.run_id, peer)
            })
            .collect();
        self.owners.clear();
        self.wanted.clear();
        self.paused.clear();
        for row in update.regions {
            let Some(at) = row.region else {
                continue;
            };
            let region = Region { x: at.x, z: at.z };
            let owner = Owner {
                run_id: row.run_id,
                epoch: row.epoch,
            };
            self.owners.insert(region, owner);
            if row.wanted_run_id != NOBODY {
                self.wanted.insert(region, row.wanted_run_id);
            }
            if row.paused {
                self.paused.insert(region);
            }
        }
        true
    }

    /// Returns the owner of a region, if somebody owns it.
    pub(crate) fn owner(&self, region: Region) -> Option<Owner> {
        let owner = self.owners.get(&region).copied();
        owner.filter(|owner| owner.run_id != NOBODY)
    }

    /// Returns all regions, also those without an owner.
    pub(crate) fn owners(&self) -> &BTreeMap<Region, Owner> {
        &self.owners
    }

    /// Returns the runs to which owners should give regions.
    pub(crate) fn wanted(&self) -> &BTreeMap<Region, u64> {
        &self.wanted
    }

    /// Returns the regions that nobody may play until an operator resumes them.
    pub(crate) fn paused(&self) -> &BTreeSet<Region> {
        &self.paused
    }

    /// Returns whether a region is nobody's until an operator resumes it.
    pub(crate) fn rests(&self, region: Region) -> bool {
        self.paused.contains(&region) && self.owner(region).is_none()
    }

    /// Returns all runs that may still write.
    pub(crate) fn runs(&self) -> &BTreeMap<u64, Peer> {
        &self.runs
    }

    /// Returns whether the operator has frozen all exchanges of value.
    pub(crate) fn frozen(&self) -> bool {
        self.frozen
    }

    /// Returns the address of a run; `None` for one that is fenced or unknown.
    pub(crate) fn address(&self, run_id: u64) -> Option<&str> {
        self.runs.get(&run_id).map(|peer| peer.address.as_str())
    }

    /// Returns whether a run may still write.
    pub(crate) fn alive(&self, run_id: u64) -> bool {
        self.runs.contains_key(&run_id)
    }
}

#[cfg(test)]
mod tests {
    use proto::rpc::{common::v1 as common, persistence::v1 as rpc};

    use super::*;

    fn update(version: u64, run_id: u64) -> DirectoryUpdate {
        DirectoryUpdate {
            version,
            incarnation: 1,
            runs: vec![rpc::Run {
                run_id,
                address: format!("zone{run_id}:1"),
                state: RunState::Live.into(),
                ..rpc::Run::default()
            }],
            regions: vec![rpc::RegionOwner {
                region: Some(common::Region { x: 0, z: -1 }),
                run_id,
                epoch: version,
                ..rpc::RegionOwner::default()
            }],
            unchanged: false,
            frozen: false,
        }
    }

    #[test]
    fn an_older_version_changes_nothing() {
        let mut directory = Directory::default();
        assert!(directory.apply(update(5, 2)));
        assert!(!directory.apply(update(4, 1)));
        assert!(!directory.apply(update(5, 1)));
        let owner = directory.owner(Region { x: 0, z: -1 });
        assert_eq!(owner.map(|o| o.run_id), Some(2));
        assert_eq!(directory.address(2), Some("zone2:1"));
    }

    #[test]
    fn a_sign_of_life_empties_nothing() {
        let mut directory = Directory::default();
        directory.apply(update(1, 2));
        let alive = DirectoryUpdate {
            version: 2,
            incarnation: 1,
            unchanged: true,
            ..DirectoryUpdate::default()
        };
        assert!(!directory.apply(alive));
        assert_eq!(directory.owners().len(), 1);
    }

    #[test]
    fn a_region_is_paused_until_a_version_says_otherwise() {
        let region = Region { x: 0, z: -1 };
        let mut directory = Directory::default();
        let mut pause = update(1, 2);
        pause.regions[0].paused = true;
        directory.apply(pause);
        assert!(directory.paused().contains(&region));
        assert_eq!(directory.owner(region).map(|o| o.run_id), Some(2));
        directory.apply(update(2, 2));
        assert!(directory.paused().is_empty());
    }

    #[test]
    fn a_run_of_a_state_that_only_a_newer_store_knows_lives() {
        let mut directory = Directory::default();
        let mut newer = update(1, 2);
        newer.runs[0].state = 1_000_000;
        directory.apply(newer);
        assert_eq!(directory.address(2), Some("zone2:1"));
        assert!(directory.runs().values().all(|peer| !peer.draining));
    }

    #[test]
    fn a_fenced_run_has_no_address() {
        let mut directory = Directory::default();
        let mut fenced = update(1, 2);
        fenced.runs[0].state = RunState::Fenced.into();
        directory.apply(fenced);
        assert!(!directory.alive(2));
    }
}
