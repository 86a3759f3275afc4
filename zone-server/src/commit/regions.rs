//! Decides when the state of a region goes to the store. Pure.
//!
//! Always: the run looks at a region's state at most once an interval, but for states that must go
//! with the next batch; it sends none that the store has already.

use std::collections::BTreeMap;

use bytes::Bytes;
use world::Region;

/// Regions at which the run looks for one batch, besides those that must go.
const LOOKS_MAX: usize = 8;
/// Longest state that the store takes, in bytes.
const BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
struct Save {
    /// Tick of the last look.
    looked: u64,
    /// Whether the state must go with the next batch.
    must: bool,
    /// State in the last batch that had one.
    sent: Bytes,
}

/// The regions of a run, with the states of them that the store has.
#[derive(Debug, Default)]
pub(crate) struct RegionSaves {
    regions: BTreeMap<Region, Save>,
}

impl RegionSaves {
    /// Notes that the run plays a region from tick `now` on.
    pub(crate) fn entered(&mut self, region: Region, now: u64) {
        let save = Save {
            looked: now,
            must: false,
            sent: Bytes::new(),
        };
        self.regions.insert(region, save);
    }

    /// Notes that the run does not play a region any more.
    pub(crate) fn left(&mut self, region: Region) {
        self.regions.remove(&region);
    }

    /// Makes the state of a region go with the next batch.
    pub(crate) fn must(&mut self, region: Region) {
        if let Some(save) = self.regions.get_mut(&region) {
            save.must = true;
        }
    }

    /// Makes the states of all regions go with the next batch.
    pub(crate) fn hurry(&mut self) {
        self.regions.values_mut().for_each(|save| save.must = true);
    }

    /// Returns whether any state must go.
    pub(crate) fn waits(&self) -> bool {
        self.regions.values().any(|save| save.must)
    }

    /// Returns the regions to look at for a batch that is cut in tick `now`.
    pub(crate) fn due(&self, now: u64, interval_ticks: u64) -> Vec<Region> {
        let must = self.regions.iter().filter(|(_, save)| save.must);
        let old = |save: &Save| !save.must && now >= save.looked.saturating_add(interval_ticks);
        let mut late: Vec<_> = self.regions.iter().filter(|(_, save)| old(save)).collect();
        late.sort_by_key(|(region, save)| (save.looked, **region));
        let late = late.into_iter().take(LOOKS_MAX);
        must.chain(late).map(|(region, _)| *region).collect()
    }

    /// Takes the state of a region in tick `now`. Returns it if it is to go with the batch.
    ///
    /// # Errors
    /// The state is longer than the store takes: its length in bytes.
    pub(crate) fn looked(
        &mut self,
        region: Region,
        now: u64,
        state: Vec<u8>,
    ) -> Result<Option<Bytes>, usize> {
        let Some(save) = self.regions.get_mut(&region) else {
            return Ok(None);
        };
        (save.looked, save.must) = (now, false);
        if save.sent == state {
            return Ok(None);
        }
        if state.len() > BYTES_MAX {
            return Err(state.len());
        }
        save.sent = state.into();
        Ok(Some(save.sent.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKS: u64 = 50;

    fn region(x: i32) -> Region {
        Region { x, z: 0 }
    }

    fn of(count: i32) -> RegionSaves {
        let mut saves = RegionSaves::default();
        (0..count).for_each(|x| saves.entered(region(x), 100));
        saves
    }

    #[test]
    fn a_region_is_looked_at_once_an_interval_and_goes_only_if_it_has_changed() {
        let mut saves = of(1);
        assert_eq!(saves.due(149, TICKS), []);
        assert_eq!(saves.due(150, TICKS), [region(0)]);
        let sent = saves.looked(region(0), 150, b"one".to_vec());
        assert_eq!(sent, Ok(Some(Bytes::from("one"))));
        assert_eq!(saves.due(199, TICKS), []);
        assert_eq!(saves.due(200, TICKS), [region(0)]);
        assert_eq!(saves.looked(region(0), 200, b"one".to_vec()), Ok(None));
        assert_eq!(saves.due(249, TICKS), []);
        let sent = saves.looked(region(0), 250, b"two".to_vec());
        assert_eq!(sent, Ok(Some(Bytes::from("two"))));
        let long = vec![0; BYTES_MAX + 1];
        assert_eq!(saves.looked(region(0), 300, long), Err(BYTES_MAX + 1));
        saves.left(region(0));
        assert_eq!(saves.looked(region(0), 350, b"three".to_vec()), Ok(None));
        assert_eq!(saves.due(900, TICKS), []);
    }

    #[test]
    fn a_state_that_must_go_is_due_at_once() {
        let mut saves = of(2);
        assert!(!saves.waits());
        saves.must(region(1));
        assert!(saves.waits());
        assert_eq!(saves.due(101, TICKS), [region(1)]);
        let sent = saves.looked(region(1), 101, b"sold".to_vec());
        assert_eq!(sent, Ok(Some(Bytes::from("sold"))));
        assert!(!saves.waits());
        saves.hurry();
        assert_eq!(saves.due(102, TICKS), [region(0), region(1)]);
    }

    #[test]
    fn many_regions_are_looked_at_a_few_at_a_time() {
        let mut saves = of(20);
        let mut seen = Vec::new();
        for now in 150..153 {
            let due = saves.due(now, TICKS);
            assert!(due.len() <= LOOKS_MAX);
            for region in due {
                seen.push(region);
                let sent = saves.looked(region, now, b"one".to_vec());
                assert!(sent.is_ok());
            }
        }
        seen.sort();
        assert_eq!(seen, (0..20).map(region).collect::<Vec<_>>());
        assert_eq!(saves.due(199, TICKS), []);
    }
}
