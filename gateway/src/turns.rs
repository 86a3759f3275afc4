//! Turns at something that takes only so many at a time.
//!
//! Always: those who ask first come first. Nobody is refused who waits, unless the line is full or
//! the turn does not come within the line's wait. A crowd that logs in at once waits here, where a
//! place costs next to nothing and no deadline of a call passes, and not before the store and the
//! zones.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

use crate::metrics::Metrics;

/// A line of those who wait for a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// Most who wait at a time.
    pub(crate) most: usize,
    /// The longest wait.
    pub(crate) wait: Duration,
}

impl Line {
    /// Of those who come into the world. The gateway's bound on connections bounds it.
    pub(crate) const OF_ARRIVALS: Line = Line {
        most: Semaphore::MAX_PERMITS,
        wait: Duration::from_secs(30),
    };
}

/// Turns at one thing.
pub(crate) struct Turns {
    places: Arc<Semaphore>,
    line: Semaphore,
    wait: Duration,
    /// The thing, for the metric.
    at: &'static str,
    metrics: Metrics,
}

/// A turn; it is over when this is dropped, wherever that is.
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
}

/// The line is full, or the turn did not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many wait for their turn")]
pub(crate) struct TooMany;

impl Turns {
    /// Makes turns at `at` for `most` at a time.
    pub(crate) fn new(at: &'static str, most: usize, line: Line, metrics: Metrics) -> Self {
        Self {
            places: Arc::new(Semaphore::new(most)),
            line: Semaphore::new(line.most),
            wait: line.wait,
            at,
            metrics,
        }
    }

    /// Waits for a turn. A caller that gives up takes no place.
    pub(crate) async fn turn(&self) -> Result<Turn, TooMany> {
        // Nobody closes the semaphores: no permit means no place.
        let _in_line = self.line.try_acquire().map_err(|_| TooMany)?;
        let asked = Instant::now();
        let place = timeout(self.wait, Arc::clone(&self.places).acquire_owned()).await;
        self.metrics.turn(self.at, asked.elapsed());
        let place = place.map_err(|_| TooMany)?.map_err(|_| TooMany)?;
        Ok(Turn { _place: place })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const LINE: Line = Line {
        most: 2,
        wait: Duration::from_secs(3),
    };

    fn turns(most: usize) -> Turns {
        Turns::new("test", most, LINE, Metrics::none())
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
        assert_eq!(began.elapsed(), LINE.wait);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_line_refuses_at_once() {
        let turns = turns(1);
        let first = turns.turn().await.unwrap();
        let (mut second, mut third) = (Box::pin(turns.turn()), Box::pin(turns.turn()));
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        assert_eq!(turns.turn().now_or_never().unwrap().err(), Some(TooMany));
        drop((second, first));
        third.await.unwrap();
        turns.turn().await.unwrap();
    }
}
