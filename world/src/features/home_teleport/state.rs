//! State of a player that goes home.

use serde::{Deserialize, Serialize};

use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::time::Tick;

/// A player's progress in going home by magic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Homeward {
    /// Tick at which the magic ends, for a player that stands still for it now.
    pub done_at: Option<Tick>,
    /// Tick from which the player may begin again.
    pub ready_at: Tick,
    /// The way to a place that others play, after the magic has ended.
    pub leaving: Option<Leaving>,
}

impl Homeward {
    /// Moves all its times later by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.done_at = self.done_at.map(|at| at.after(ticks));
        self.ready_at = self.ready_at.after(ticks);
        if let Some(leaving) = &mut self.leaving {
            leaving.since = leaving.since.after(ticks);
        }
    }

    /// Sends the player to `place` at once, on behalf of somebody else.
    ///
    /// # Errors
    /// `Busy`: the player is on its way somewhere already.
    pub(crate) fn send(&mut self, place: Tile, now: Tick) -> Result<(), Refusal> {
        if self.leaving.is_some() {
            return Err(Refusal::Busy);
        }
        self.done_at = None;
        self.leaving = Some(Leaving {
            place,
            since: now,
            called_off: false,
        });
        Ok(())
    }

    /// Ends the way of a player that came from elsewhere to `tile`. Returns whether it led there.
    pub(crate) fn arrived(&mut self, tile: Tile) -> bool {
        let Some(leaving) = self.leaving.take() else {
            return false;
        };
        if leaving.place != tile {
            self.stayed();
        }
        leaving.place == tile
    }

    /// Ends a way that failed: the player stays, and may begin again at once.
    pub(super) fn stayed(&mut self) {
        self.leaving = None;
        self.ready_at = Tick::default();
    }
}

/// A player's way to a place that others play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Place at which the player is to stand.
    pub place: Tile,
    /// Tick at which the way began.
    pub since: Tick,
    /// Whether the zone has cancelled the departure.
    pub called_off: bool,
}
