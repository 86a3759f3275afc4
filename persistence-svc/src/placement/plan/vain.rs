//! Wishes that nobody fulfils: for how long each has stood, and which are not to be asked again
//! for a while.
//!
//! Always: a wish stands for a bounded time, so that a run that refuses a region for ever does not
//! keep others from moving; what was wished in vain may be wished again later.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use crate::store::model::{NOBODY, Region};

/// A wish that has stood for so long is given up; a move takes a second or two.
pub(crate) const VAIN_MS: i64 = 15_000;
/// … and not made again for so long.
pub(crate) const AVOIDED_MS: i64 = 60_000;

/// A region, and the run that it should go to.
type Pair = (Region, i64);

/// What one planner remembers of its wishes. A new one remembers nothing, and needs nothing.
#[derive(Debug, Default)]
pub(crate) struct Hopes {
    /// Since when, by the store's clock in milliseconds.
    standing: BTreeMap<Pair, i64>,
    /// Until when.
    avoided: BTreeMap<Pair, i64>,
}

impl Hopes {
    /// Looks at what is wished now, and tells the view what was wished in vain.
    pub(crate) fn look(&mut self, view: &mut View) {
        let now = view.now_ms;
        self.avoided.retain(|_, until| *until > now);
        let wished = view.regions.iter().filter(|one| one.wanted != NOBODY);
        let wished: BTreeSet<Pair> = wished.map(|one| (one.region, one.wanted)).collect();
        self.standing.retain(|pair, _| wished.contains(pair));
        for pair in wished {
            let since = *self.standing.entry(pair).or_insert(now);
            if now.saturating_sub(since) >= VAIN_MS {
                self.avoided.insert(pair, now.saturating_add(AVOIDED_MS));
            }
        }
        view.vain = self.avoided.keys().copied().collect();
    }
}
