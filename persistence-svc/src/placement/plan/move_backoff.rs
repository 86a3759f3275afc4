//! Backs off from moves of regions that do not happen.
//!
//! Always: a planned move stands for a bounded time, so that a run that refuses a region for ever
//! does not keep others from moving. After a while the move may be planned again.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use crate::store::model::{NOBODY, Region};

/// A planned move that has stood for so long is given up; a move takes a second or two.
pub(crate) const STANDING_MAX_MS: i64 = 15_000;
/// … and not made again for so long.
pub(crate) const BACKOFF_MS: i64 = 60_000;

/// A region, and the run that it should go to.
type Pair = (Region, i64);

/// What one planner remembers of its moves. A new one remembers nothing, and needs nothing.
#[derive(Debug, Default)]
pub(crate) struct MoveBackoff {
    /// Since when, by the store's clock in milliseconds.
    standing: BTreeMap<Pair, i64>,
    /// Until when.
    avoided: BTreeMap<Pair, i64>,
}

impl MoveBackoff {
    /// Looks at the moves that are planned now, and tells the view which ones to leave alone.
    pub(crate) fn look(&mut self, view: &mut View) {
        let now = view.now_ms;
        self.avoided.retain(|_, until| *until > now);
        let wished = view.regions.iter().filter(|one| one.wanted != NOBODY);
        let wished: BTreeSet<Pair> = wished.map(|one| (one.region, one.wanted)).collect();
        self.standing.retain(|pair, _| wished.contains(pair));
        for pair in wished {
            let since = *self.standing.entry(pair).or_insert(now);
            if now.saturating_sub(since) >= STANDING_MAX_MS {
                self.avoided.insert(pair, now.saturating_add(BACKOFF_MS));
            }
        }
        view.backed_off = self.avoided.keys().copied().collect();
    }
}
