//! Backs off from moves of regions that do not happen.
//!
//! Always: a planned move stands for a bounded time, so that a run that refuses a region for ever
//! does not keep others from moving. After a while the planner may plan the move again.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use crate::store::model::{NOBODY, Region};

/// Time after which the planner gives up a planned move; a move takes a second or two.
pub(crate) const STANDING_MAX_MS: i64 = 15_000;
/// Time for which the planner does not plan a move again after it gave it up.
pub(crate) const BACKOFF_MS: i64 = 60_000;

/// A region, and the run that should get it.
type Pair = (Region, i64);

/// Memory of one planner about its moves. A new planner starts with an empty one.
#[derive(Debug, Default)]
pub(crate) struct MoveBackoff {
    /// Moves that stand, with their start by the store's clock in milliseconds.
    standing: BTreeMap<Pair, i64>,
    /// Moves to avoid, with the end of the backoff by the store's clock in milliseconds.
    avoided: BTreeMap<Pair, i64>,
}

impl MoveBackoff {
    /// Looks at the moves in the view, and marks in the view the ones to leave alone.
    pub(crate) fn look(&mut self, view: &mut View) {
        let now = view.now_ms;
        self.avoided.retain(|_, until| *until > now);
        let requested = view.regions.iter().filter(|one| one.wanted != NOBODY);
        let requested: BTreeSet<Pair> = requested.map(|one| (one.region, one.wanted)).collect();
        self.standing.retain(|pair, _| requested.contains(pair));
        for pair in requested {
            let since = *self.standing.entry(pair).or_insert(now);
            if now.saturating_sub(since) >= STANDING_MAX_MS {
                self.avoided.insert(pair, now.saturating_add(BACKOFF_MS));
            }
        }
        view.backed_off = self.avoided.keys().copied().collect();
    }
}
