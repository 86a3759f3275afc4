//! The timers of a session: its heartbeat, and its next deadline, also on its way out.

use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::draining::Leaving;

/// "Never", for a timer.
const NEVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The timers of one session.
pub(super) struct Timers {
    pub(super) heartbeat: Interval,
    /// Next deadline; its meaning depends on the session's state.
    deadline: Instant,
    /// Progress of the session's leaving, while the gateway drains.
    leaving: Option<Leaving>,
}

impl Timers {
    /// Starts a heartbeat of this period, and the time for the handshake.
    pub(super) fn new(period: Duration, handshake: Duration) -> Self {
        let mut heartbeat = interval_at(Instant::now() + period, period);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            heartbeat,
            deadline: Instant::now() + handshake,
            leaving: None,
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the progress of leaving; `None`: the gateway does not drain.
    pub(super) fn leaving(&self) -> Option<Leaving> {
        self.leaving
    }

    /// Sets the deadline, except while the gateway drains.
    pub(super) fn wake_in(&mut self, time: Duration) {
        if self.leaving.is_none() {
            self.deadline = Instant::now() + time;
        }
    }

    /// Clears the deadline, except while the gateway drains.
    pub(super) fn rest(&mut self) {
        self.wake_in(NEVER);
    }

    /// Notes the progress of leaving, and the time until its next step.
    pub(super) fn leave(&mut self, leaving: Leaving, time: Duration) {
        self.leaving = Some(leaving);
        self.deadline = Instant::now() + time;
    }
}
