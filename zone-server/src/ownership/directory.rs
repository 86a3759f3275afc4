//! The directory as a run knows it: which run owns which region, and where runs are reached.
//!
//! Always: an older version never replaces a newer one.

use std::collections::BTreeMap;

use proto::rpc::persistence::v1::{DirectoryUpdate, RunState};
use world::Region;

/// Who owns a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The run; never 0.
    pub(crate) run_id: u64,
    /// The epoch at which it owns the region.
    pub(crate) epoch: u64,
}

/// One version of the directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    version: u64,
    incarnation: u64,
    runs: BTreeMap<u64, String>,
    owners: BTreeMap<Region, Owner>,
    frozen: bool,
}

impl Directory {
    /// Takes an update in; true when something may have changed.
    pub(crate) fn apply(&mut self, update: DirectoryUpdate) -> bool {
        let newer = (update.incarnation, update.version) > (self.incarnation, self.version);
        if update.unchanged || !newer {
            return false;
        }
        self.version = update.version;
        self.incarnation = update.incarnation;
        self.frozen = update.frozen;
        self.runs = update
            .runs
            .into_iter()
            .filter(|run| run.state() != RunState::Fenced)
            .map(|run| (run.run_id, run.address))
            .collect();
        self.owners = update
            .regions
            .into_iter()
            .filter(|row| row.run_id != 0)
            .filter_map(|row| {
                let at = row.region?;
                let owner = Owner {
                    run_id: row.run_id,
                    epoch: row.epoch,
                };
                Some((Region { x: at.x, z: at.z }, owner))
            })
            .collect();
        true
    }

    /// Who owns a region.
    pub(crate) fn owner(&self, region: Region) -> Option<Owner> {
        self.owners.get(&region).copied()
    }

    /// Where a run is reached; nothing for one that is fenced or unknown.
    pub(crate) fn address(&self, run_id: u64) -> Option<&str> {
        self.runs.get(&run_id).map(String::as_str)
    }

    /// Whether a run may still write.
    pub(crate) fn alive(&self, run_id: u64) -> bool {
        self.runs.contains_key(&run_id)
    }

    /// The operator has frozen all exchanges of value.
    pub(crate) fn frozen(&self) -> bool {
        self.frozen
    }

    /// The regions of one run, with their epochs.
    pub(crate) fn of(&self, run_id: u64) -> BTreeMap<Region, u64> {
        let mine = self.owners.iter().filter(|(_, o)| o.run_id == run_id);
        mine.map(|(region, owner)| (*region, owner.epoch)).collect()
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
        assert_eq!(directory.of(2).len(), 1);
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
