//! Rests of a fan-out task in a rush, in which many players arrive.
//!
//! Always: the task rests only in a rush, until three ticks after the beginning of its last flush at most.
//! So the logins get the processors that the crowd would take.

use std::time::Duration;

use tokio::time::Instant;
use world::TICK_MS;

/// Newcomers in a flush by which a rush begins or goes on.
pub(super) const NEWCOMERS: usize = 100;
/// Time after such a flush for which the rush goes on. Those who log in come with later flushes, and
/// in fewer of them the busier the processors are.
const LASTS: Duration = Duration::from_secs(5);
/// Longest time from the beginning of a flush to that of the next in a rush: three ticks.
const APART_MAX: Duration = Duration::from_millis(3 * TICK_MS);

/// See the module.
#[derive(Debug)]
pub(super) struct Rush {
    ends: Instant,
    rests: Instant,
}

impl Rush {
    /// Returns a task's state without a rush.
    pub(super) fn none() -> Self {
        let now = Instant::now();
        let (ends, rests) = (now, now);
        Self { ends, rests }
    }

    /// Notes a flush of a tick, and to how many newcomers it showed the world. In a rush, flushes take
    /// a quarter of the time, or more if they are long.
    pub(super) fn flushed(&mut self, begin: Instant, end: Instant, newcomers: usize) {
        if newcomers >= NEWCOMERS {
            self.ends = end + LASTS;
        }
        self.rests = begin;
        if end < self.ends {
            self.rests += (4 * (end - begin)).min(APART_MAX);
        }
    }

    /// Returns the time at which the next flush may begin.
    pub(super) fn rests(&self) -> Instant {
        self.rests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_task_rests_in_a_rush_and_no_longer_than_three_ticks() {
        let mut rush = Rush::none();
        let begin = rush.rests() + ms(10);
        let mut rest = |at: u64, took: u64, newcomers| {
            let begin = begin + ms(at);
            rush.flushed(begin, begin + ms(took), newcomers);
            rush.rests() - begin
        };
        assert_eq!(rest(0, 250, NEWCOMERS - 1), ms(0), "no rush yet");
        assert_eq!(rest(1_000, 250, NEWCOMERS), ms(1_000));
        assert_eq!(rest(2_000, 5, 0), ms(20), "it goes on");
        assert_eq!(rest(3_000, 900, 0), APART_MAX);
        assert_eq!(rest(6_300, 100, 0), ms(0), "it is over");
        assert_eq!(rest(9_000, 250, 7 * NEWCOMERS), ms(1_000), "another one");
    }
}
