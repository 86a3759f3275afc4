//! The timers of a session: its heartbeat, and its next deadline, also on its way out.

use std::{pin::Pin, time::Duration};

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::draining::Leaving;

/// The timers of one session.
pub(super) struct Timers {
    pub(super) heartbeat: Interval,
    /// Done once the gateway drains. The session keeps it, so that a message of the client does not
    /// make all sessions wait for one lock. Not to be polled once done.
    pub(super) draining: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Next deadline; its meaning depends on the session's state. `None`: never.
    deadline: Option<Instant>,
    /// Progress of the session's leaving, while the gateway drains.
    leaving: Option<Leaving>,
}

impl Timers {
    /// Starts a heartbeat of this period, and the time for the handshake. `draining` ends when the
    /// gateway drains.
    pub(super) fn new(period: Duration, handshake: Duration, draining: CancellationToken) -> Self {
        let mut heartbeat = interval_at(Instant::now() + period, period);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            heartbeat,
            draining: Box::pin(draining.cancelled_owned()),
            deadline: Some(Instant::now() + handshake),
            leaving: None,
        }
    }

    /// Returns the next deadline, if there is one. A session without one costs the clock nothing.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the progress of leaving; `None`: the gateway does not drain.
    pub(super) fn leaving(&self) -> Option<Leaving> {
        self.leaving
    }

    /// Sets the deadline, except while the gateway drains.
    pub(super) fn wake_in(&mut self, time: Duration) {
        if self.leaving.is_none() {
            self.deadline = Some(Instant::now() + time);
        }
    }

    /// Clears the deadline, except while the gateway drains.
    pub(super) fn rest(&mut self) {
        if self.leaving.is_none() {
            self.deadline = None;
        }
    }

    /// Notes the progress of leaving, and the time until its next step.
    pub(super) fn leave(&mut self, leaving: Leaving, time: Duration) {
        self.leaving = Some(leaving);
        self.deadline = Some(Instant::now() + time);
    }
}
