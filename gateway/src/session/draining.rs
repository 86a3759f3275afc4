//! Leaving a gateway that drains. The gateway tells its clients in waves, so that the remaining
//! gateways do not meet all of them at once. Each client has some time to resume elsewhere; after
//! that the gateway closes it.
//!
//! Always: the gateway first answers requests from before the end, as far as that takes no longer
//! than two ticks. It closes every remaining client within the configured time and [`ANSWERS`].

use std::time::Duration;

use proto::client::{CloseCode, session::Draining};
use rand::RngExt;
use tokio::time::Instant;

use super::{Flow, Session, whole_ms};

/// Number of waves in which the gateway tells clients.
const WAVES: u32 = 8;
/// Divisor of the whole time that gives the last wave's time.
const LAST: u32 = 5;
/// Time for which a socket stays open until its missing answers come.
pub(crate) const ANSWERS: Duration = Duration::from_millis(1500);
/// Pause between two checks for those answers.
const LOOK: Duration = Duration::from_millis(20);

/// Progress of a session that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Its wave has not begun.
    Waits,
    /// The client knows, and the gateway closes it when its time is over.
    Told,
    /// Its time is over; it waits for answers until then.
    Answers { until: Instant },
}

/// Returns when a wave begins and how long its clients then have, if all of it may take `whole`.
fn wave(whole: Duration, number: u32) -> (Duration, Duration) {
    let last = whole / LAST;
    ((whole - last) / WAVES * number.min(WAVES), last)
}

/// Step of leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Tell the client how long it has.
    Tell,
    /// Check again later: the client still waits for answers.
    Look,
    Close,
}

impl Leaving {
    /// Returns the progress and the step that is due now. `awaits`: a request of its client has no
    /// answer yet.
    fn step(self, now: Instant, awaits: bool) -> (Self, Step) {
        match self {
            Self::Waits => (Self::Told, Step::Tell),
            Self::Told if awaits => {
                let until = now + ANSWERS;
                (Self::Answers { until }, Step::Look)
            }
            Self::Answers { until } if awaits && now < until => (self, Step::Look),
            Self::Told | Self::Answers { .. } => (self, Step::Close),
        }
    }
}

impl Session {
    /// Begins to leave, because the gateway drains.
    pub(super) fn drain(&mut self) -> Flow {
        let number = rand::rng().random_range(0..WAVES);
        let (begins, _) = wave(self.app.config.times.drain, number);
        self.timers.leave(Leaving::Waits, begins);
        if self.socket.is_none() {
            return Flow::End;
        }
        self.app.metrics.draining(1);
        Flow::On
    }

    /// Does the next step of leaving, which is due.
    pub(super) async fn leave_gateway(&mut self, leaving: Leaving) -> Flow {
        let (leaving, step) = leaving.step(Instant::now(), self.mailbox.awaits());
        match step {
            Step::Tell => {
                let (_, time) = wave(self.app.config.times.drain, 0);
                let after_ms = whole_ms(time);
                self.push(&Draining { after_ms });
                self.timers.leave(leaving, time);
                Flow::On
            }
            Step::Look => {
                self.timers.leave(leaving, LOOK);
                Flow::On
            }
            Step::Close => {
                self.shut(CloseCode::GoingAway, "this gateway goes; resume elsewhere")
                    .await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[test]
    fn waves_are_spread_and_all_end_within_the_whole_time() {
        let whole = Duration::from_secs(5);
        let begins: Vec<_> = (0..WAVES).map(|n| wave(whole, n).0.as_millis()).collect();
        assert_eq!(begins, [0, 500, 1000, 1500, 2000, 2500, 3000, 3500]);
        let (begins, time) = wave(whole, WAVES - 1);
        assert_eq!(time, Duration::from_secs(1));
        assert!(begins + time <= whole);
        assert_eq!(wave(Duration::ZERO, 7), (Duration::ZERO, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_an_answer_is_closed_when_it_is_there_or_too_late() {
        let (told, step) = Leaving::Waits.step(Instant::now(), true);
        assert_eq!((told, step), (Leaving::Told, Step::Tell));
        assert_eq!(told.step(Instant::now(), false).1, Step::Close);
        for answered_after in [None, Some(Duration::from_millis(600))] {
            let began = Instant::now();
            let mut leaving = told;
            loop {
                let awaits = answered_after.is_none_or(|after| began.elapsed() < after);
                let (next, step) = leaving.step(Instant::now(), awaits);
                if step == Step::Close {
                    break;
                }
                leaving = next;
                advance(LOOK).await;
            }
            assert_eq!(began.elapsed(), answered_after.unwrap_or(ANSWERS));
        }
    }
}
