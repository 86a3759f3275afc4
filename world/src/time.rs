//! Time in the game: ticks of 600 ms, counted, never measured here.

use serde::{Deserialize, Serialize};

/// The length of a tick.
pub const TICK_MS: u64 = 600;

/// A moment: floor(milliseconds since the Unix epoch by the store's clock / 600).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Tick(pub u64);

impl Tick {
    /// Returns the moment `ticks` later.
    pub const fn after(self, ticks: u64) -> Tick {
        Tick(self.0.saturating_add(ticks))
    }

    /// Returns the ticks since `earlier`; 0 if that is not earlier.
    pub const fn since(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
