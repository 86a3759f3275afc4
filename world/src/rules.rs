//! Numbers of the game that an operator may set.

use serde::{Deserialize, Serialize};

/// The numbers that an operator may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Tiles that a walking player takes in a tick.
    pub walk_tiles: u32,
    /// Tiles that a running player takes in a tick.
    pub run_tiles: u32,
    /// Tiles that all searches for a route may visit in one tick. After that, the world refuses
    /// every request that needs a search as `Busy`.
    pub search_tiles_per_tick: u64,
    /// Ticks for which only the dropper may take a dropped thing.
    pub ground_own_ticks: u64,
    /// Ticks after which a dropped thing is gone; at least `ground_own_ticks`.
    pub ground_ticks: u64,
    /// Ticks of play after which a character may give things away, whatever its level; 0: at once.
    #[serde(default)]
    pub newcomer_ticks: u64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            walk_tiles: 2,
            run_tiles: 4,
            search_tiles_per_tick: 1_500_000,
            ground_own_ticks: 100,
            ground_ticks: 300,
            newcomer_ticks: 0,
        }
    }
}
