//! The memory of the inputs of a run's world: two generations of bytes; and what somebody ordered to be
//! remembered for some ticks.
//!
//! Always: a generation begins with the bytes of all regions and never grows beyond its bound; it
//! keeps nothing after a hole, so that a replay can play all that it keeps.

use super::change::{self, Change};

/// The bounds of the memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Ticks from one generation to the next.
    pub(crate) ticks: u64,
    /// Bytes of one generation.
    pub(crate) bytes: usize,
}

/// Bytes of one generation, its regions included.
pub(crate) const GENERATION_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The time from one picture of all regions to the next.
#[derive(Debug)]
struct Generation {
    since: u64,
    /// Regions, as changes that bring them in.
    regions: Vec<u8>,
    /// Changes since `since`.
    changes: Vec<u8>,
    /// Whether nothing is missing.
    whole: bool,
}

impl Generation {
    /// Begins after the tick `since` with these regions.
    fn begin(since: u64, regions: impl Iterator<Item = Change>, bytes_max: usize) -> Self {
        let mut begun = Self {
            since,
            regions: Vec::new(),
            changes: Vec::new(),
            whole: true,
        };
        for region in regions {
            let written = change::write(&mut begun.regions, &region);
            if !written || begun.regions.len() > bytes_max {
                begun.regions = Vec::new();
                begun.whole = false;
                break;
            }
        }
        begun
    }

    /// Appends a change that is about to happen.
    fn note(&mut self, change: &Change, bytes_max: usize) {
        if !self.whole {
            return;
        }
        let before = self.changes.len();
        let written = change::write(&mut self.changes, change);
        if !written || self.regions.len() + self.changes.len() > bytes_max {
            self.changes.truncate(before);
            self.whole = false;
        }
    }
}

/// What somebody ordered to be remembered: a picture of all regions, and the changes of some ticks.
#[derive(Debug)]
pub(crate) struct Ordered {
    generation: Generation,
    /// The last tick.
    until: u64,
}

impl Ordered {
    /// Begins after the tick `now` with these regions; lasts for `ticks`.
    pub(crate) fn begin(now: u64, regions: impl Iterator<Item = Change>, ticks: u64) -> Self {
        Self {
            generation: Generation::begin(now, regions, GENERATION_BYTES_MAX),
            until: now.saturating_add(ticks),
        }
    }

    /// Appends a change that is about to happen.
    pub(crate) fn note(&mut self, change: &Change) {
        self.generation.note(change, GENERATION_BYTES_MAX);
    }

    /// Returns whether all its ticks were played by the tick `now`.
    pub(crate) fn over(&self, now: u64) -> bool {
        now >= self.until
    }

    /// Returns the record.
    pub(crate) fn into_kept(self) -> Kept {
        let Generation {
            regions: mut bytes,
            changes,
            whole,
            ..
        } = self.generation;
        bytes.extend(changes);
        Kept {
            bytes,
            truncated: !whole,
        }
    }
}

/// The latest changes to a run's world.
#[derive(Debug)]
pub(crate) struct Recorder {
    bounds: Bounds,
    older: Option<Generation>,
    newer: Generation,
}

/// A record that can be played again.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Changes, one after the other.
    pub(crate) bytes: Vec<u8>,
    /// Whether the end is missing, or everything, because the record was too large.
    pub(crate) truncated: bool,
}

impl Recorder {
    /// Remembers an empty world, as it is after the tick `now`.
    pub(crate) fn new(bounds: Bounds, now: u64) -> Self {
        Self {
            bounds,
            older: None,
            newer: Generation {
                since: now,
                regions: Vec::new(),
                changes: Vec::new(),
                whole: true,
            },
        }
    }

    /// Returns whether it is time for [`Recorder::picture`].
    pub(crate) fn due(&self, now: u64) -> bool {
        now.saturating_sub(self.newer.since) >= self.bounds.ticks
    }

    /// Begins a new generation after the tick `now` with these regions.
    pub(crate) fn picture(&mut self, now: u64, regions: impl Iterator<Item = Change>) {
        let next = Generation::begin(now, regions, self.bounds.bytes);
        self.older = Some(std::mem::replace(&mut self.newer, next));
    }

    /// Appends a change that is about to happen.
    pub(crate) fn note(&mut self, change: &Change) {
        self.newer.note(change, self.bounds.bytes);
    }

    /// Returns the number of bytes that are kept.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        let size = |g: &Generation| g.regions.len() + g.changes.len();
        self.older.as_ref().map_or(0, size) + size(&self.newer)
    }

    /// Returns the changes since the older picture if nothing is missing, else since the newer.
    pub(crate) fn into_kept(self) -> Kept {
        let Recorder { older, newer, .. } = self;
        let truncated = !newer.whole;
        let mut bytes = match older.filter(|older| older.whole) {
            Some(older) => {
                let mut bytes = older.regions;
                bytes.extend(older.changes);
                bytes
            }
            None => newer.regions,
        };
        bytes.extend(newer.changes);
        Kept { bytes, truncated }
    }
}
