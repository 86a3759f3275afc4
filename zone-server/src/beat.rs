//! When ticks are due. Pure.
//!
//! Always: a tick is due 600 ms after the last one was due, and the ticks of all runs fall at the
//! same moments of the store's clock.

use std::time::{Duration, Instant};

use strum::IntoStaticStr;

/// Ticks by which the clock may be late; a later clock skips ticks.
const LATE_TICKS_MAX: u32 = 2;

/// The moments at which ticks are due. Pure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beat {
    due: Instant,
    length: Duration,
    number: u64,
}

/// A tick that is to be played now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) number: u64,
    pub(crate) late: Duration,
    /// Numbers that were skipped before this one.
    pub(crate) lost: u64,
}

impl Beat {
    /// Returns a clock whose first tick is the next to begin after `at`, when the store's clock
    /// showed `store_ms`.
    pub(crate) fn new(at: Instant, store_ms: u64, tick_ms: u64) -> Self {
        let tick_ms = tick_ms.max(1);
        let number = store_ms / tick_ms + 1;
        Self {
            due: at + Duration::from_millis(number.saturating_mul(tick_ms) - store_ms),
            length: Duration::from_millis(tick_ms),
            number,
        }
    }

    /// Returns the moment at which the next tick is due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Returns the number of the last tick whose moment has come.
    pub(crate) fn last(&self) -> u64 {
        self.number - 1
    }

    /// Returns the tick that begins at `now`, if one is due. A clock that is late by more than
    /// [`LATE_TICKS_MAX`] ticks skips the ticks that it missed.
    pub(crate) fn edge(&mut self, now: Instant) -> Option<Edge> {
        let mut late = now.checked_duration_since(self.due)?;
        let mut lost = 0;
        if late > self.length * LATE_TICKS_MAX {
            lost = (late.as_nanos() / self.length.as_nanos()) as u64;
            self.number += lost;
            let skipped = self.length * u32::try_from(lost).unwrap_or(u32::MAX);
            self.due += skipped;
            late = now.saturating_duration_since(self.due);
        }
        let edge = Edge {
            number: self.number,
            late,
            lost,
        };
        self.number += 1;
        self.due += self.length;
        Some(edge)
    }

    /// Returns how many ticks this clock is off from one that showed `store_ms` at `at`.
    pub(crate) fn off(&self, at: Instant, store_ms: u64) -> u64 {
        let length = self.length.as_millis() as u64;
        let ahead = self.due.saturating_duration_since(at).as_millis() as u64;
        let behind = at.saturating_duration_since(self.due).as_millis() as u64;
        let mine = (self.number * length + behind).saturating_sub(ahead);
        mine.abs_diff(store_ms) / length
    }
}

/// The way in which a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum End {
    /// Somebody told it to end.
    Stopped,
    /// The store fenced it.
    Fenced,
    /// A tick panicked.
    Panicked,
    /// The store refused a write of the run.
    Refused,
    /// Its clock or its store changed under it.
    Astray,
}

impl End {
    /// Returns the label by which it is counted.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(600);

    fn beat() -> (Beat, Instant) {
        let at = Instant::now();
        (Beat::new(at, 6_100, 600), at)
    }

    #[test]
    fn ticks_fall_at_multiples_of_the_stores_clock() {
        let (mut beat, at) = beat();
        assert_eq!(beat.last(), 10);
        let due = at + Duration::from_millis(500);
        assert_eq!(beat.due(), due);
        assert_eq!(beat.edge(due - Duration::from_millis(1)), None);
        assert_eq!(beat.edge(due).map(|e| e.number), Some(11));
    }

    #[test]
    fn being_late_once_does_not_shift_what_follows() {
        let (mut beat, _) = beat();
        let due = beat.due();
        let late = Duration::from_millis(250);
        let edge = beat.edge(due + late).unwrap();
        assert_eq!((edge.late, edge.lost), (late, 0));
        assert_eq!(beat.due(), due + TICK);
    }

    #[test]
    fn two_ticks_late_are_caught_up_and_more_are_lost() {
        let (mut beat, _) = beat();
        let due = beat.due();
        let edge = beat.edge(due + TICK * 2).unwrap();
        assert_eq!((edge.number, edge.lost), (11, 0));
        let (mut beat, _) = super::tests::beat();
        let due = beat.due();
        let edge = beat
            .edge(due + TICK * 5 + Duration::from_millis(10))
            .unwrap();
        assert_eq!((edge.number, edge.lost), (16, 5));
        assert_eq!(edge.late, Duration::from_millis(10));
        assert_eq!(beat.due(), due + TICK * 6);
    }

    #[test]
    fn a_clock_knows_how_far_it_is_off() {
        let (beat, at) = beat();
        assert_eq!(beat.off(at, 6_100), 0);
        let later = at + TICK * 10;
        assert_eq!(beat.off(later, 6_100 + 6_000), 0);
        assert_eq!(beat.off(later, 6_100 + 6_000 + 2_400), 4);
        assert_eq!(beat.off(later, 6_100 + 6_000 - 2_400), 4);
    }
}
