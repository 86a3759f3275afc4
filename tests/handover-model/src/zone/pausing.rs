//! Paused regions of a run of the model.

use super::{Giving, Move, Zone};
use crate::store::NOBODY;

impl Zone {
    /// Begins to give paused regions to nobody, as `run/pausing.rs` does. After the store
    /// refused that, it waits for a newer directory.
    pub(super) fn begin_pauses(&mut self) {
        for region in 0..2usize {
            let (run, epoch) = self.directory.owners[region];
            let plays = run == self.id && self.held[region] == epoch;
            let paused = self.directory.paused[region] && !self.directory.resumed[region];
            if paused && plays && self.giving[region].is_none() {
                self.giving[region] = Some(Move {
                    state: Giving::to_nobody(0),
                    to: NOBODY,
                    epoch,
                });
            }
        }
    }
}
