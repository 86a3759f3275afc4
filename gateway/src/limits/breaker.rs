//! Decides when to stop calling a service that does not answer. Pure.

use std::time::{Duration, Instant};

/// Calls in a row without an answer that start a pause.
const MISSES_MAX: u32 = 3;
/// Length of a pause without calls; afterwards one call tries.
const PAUSE: Duration = Duration::from_secs(1);

/// State of calls to one service.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    misses: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Returns whether to call now. After a pause it allows one call, until that call has an
    /// outcome or another pause is over.
    pub(crate) fn allows(&mut self, now: Instant) -> bool {
        match self.open_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                self.open_until = Some(now + PAUSE);
                true
            }
        }
    }

    /// Notes whether a call got an answer.
    pub(crate) fn told(&mut self, answered: bool, now: Instant) {
        if answered {
            *self = Self::default();
            return;
        }
        self.misses = self.misses.saturating_add(1);
        if self.misses >= MISSES_MAX {
            self.open_until = Some(now + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_misses_in_a_row_make_a_pause_and_one_call_ends_it() {
        let (now, mut breaker) = (Instant::now(), Breaker::default());
        for _ in 0..2 {
            breaker.told(false, now);
        }
        breaker.told(true, now);
        for _ in 0..2 {
            breaker.told(false, now);
            assert!(breaker.allows(now));
        }
        breaker.told(false, now);
        assert!(!breaker.allows(now));
        assert!(!breaker.allows(now + PAUSE / 2));
        let later = now + PAUSE;
        assert!(breaker.allows(later));
        assert!(!breaker.allows(later), "one tries, not all");
        breaker.told(false, later);
        assert!(!breaker.allows(later + PAUSE / 2));
        assert!(breaker.allows(later + PAUSE));
        breaker.told(true, later + PAUSE);
        assert!(breaker.allows(later + PAUSE));
    }
}
