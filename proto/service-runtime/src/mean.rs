//! A running mean of times, which any thread may add to and read.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// Share of a new time in the mean: one of so many.
const SHARE: u32 = 8;

/// The mean of the last times, in which an older one counts ever less.
#[derive(Debug, Default)]
pub struct RunningMean(AtomicU32);

impl RunningMean {
    /// Adds a time. The first one is the mean.
    pub fn note(&self, took: Duration) {
        let us = u32::try_from(took.as_micros()).unwrap_or(u32::MAX).max(1);
        let next = |mean: u32| match mean {
            0 => us,
            mean => (mean - mean / SHARE).saturating_add(us / SHARE),
        };
        // The update always gives a value, so it never fails.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |mean| {
                Some(next(mean))
            });
    }

    /// Returns the mean in microseconds; 0: there was no time yet.
    pub fn micros(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_is_the_mean_and_later_ones_move_it() {
        let mean = RunningMean::default();
        assert_eq!(mean.micros(), 0);
        mean.note(Duration::from_micros(800));
        assert_eq!(mean.micros(), 800);
        mean.note(Duration::from_micros(1600));
        assert_eq!(mean.micros(), 900);
        for _ in 0..100 {
            mean.note(Duration::from_micros(1600));
        }
        assert!((1590..=1610).contains(&mean.micros()), "{mean:?}");
    }

    #[test]
    fn a_mean_is_never_nothing_again_and_the_longest_time_does_not_wrap() {
        let mean = RunningMean::default();
        for _ in 0..100 {
            mean.note(Duration::ZERO);
        }
        assert_eq!(mean.micros(), 1);
        for _ in 0..100 {
            mean.note(Duration::MAX);
        }
        assert!(mean.micros() > u32::MAX / 2, "{mean:?}");
    }
}
