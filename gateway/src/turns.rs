//! Turns at something that takes only so many at a time.
//!
//! Always: those who ask first come first. Nobody is refused who waits, unless the turn does not
//! come within [`WAIT_MAX`]. A crowd that logs in at once waits here, where a place costs next to
//! nothing and no deadline of a call passes, and not before the store and the zones.

use std::time::Duration;

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

use crate::metrics::Metrics;

/// The longest wait for a turn.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);

/// Turns at one thing.
pub(crate) struct Turns {
    places: Semaphore,
    /// The thing, for the metric.
    at: &'static str,
    metrics: Metrics,
}

/// A turn; it is over when this is dropped.
pub(crate) struct Turn<'a> {
    _place: SemaphorePermit<'a>,
}

/// The turn did not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many wait for their turn")]
pub(crate) struct TooMany;

impl Turns {
    /// Makes turns at `at` for `most` at a time.
    pub(crate) fn new(at: &'static str, most: usize, metrics: Metrics) -> Self {
        Self {
            places: Semaphore::new(most),
            at,
            metrics,
        }
    }

    /// Waits for a turn. A caller that gives up takes no place.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>, TooMany> {
        let asked = Instant::now();
        let place = timeout(WAIT_MAX, self.places.acquire()).await;
        self.metrics.turn(self.at, asked.elapsed());
        // Nobody closes the semaphore.
        let place = place.map_err(|_| TooMany)?.map_err(|_| TooMany)?;
        Ok(Turn { _place: place })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn turns(most: usize) -> Turns {
        Turns::new("test", most, Metrics::none())
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_wait_come_in_their_order_and_no_more_at_a_time() {
        let turns = turns(1);
        let first = turns.turn().await.unwrap();
        let (mut second, mut third) = (Box::pin(turns.turn()), Box::pin(turns.turn()));
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        drop(first);
        assert!((&mut third).now_or_never().is_none(), "it came last");
        let second = second.await.unwrap();
        assert!((&mut third).now_or_never().is_none(), "one at a time");
        drop(second);
        third.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_come_is_refused_after_the_longest_wait() {
        let turns = turns(1);
        let _first = turns.turn().await.unwrap();
        let began = Instant::now();
        assert_eq!(turns.turn().await.err(), Some(TooMany));
        assert_eq!(began.elapsed(), WAIT_MAX);
    }
}
