//! Leaving a gateway that goes. Clients are told in waves, so that those that stay are not met by
//! all of them at once; each has some time to resume elsewhere, and is closed when that is over.
//!
//! Always: what was asked before the end is answered first, as far as that takes no longer than
//! two ticks; whoever is left is closed within the configured time and [`ANSWERS`].

use std::time::Duration;

use proto::client::{CloseCode, session::Draining};
use rand::RngExt;
use tokio::time::Instant;

use super::{Flow, Session, whole_ms};

/// Clients are told in so many waves.
const WAVES: u32 = 8;
/// Of the whole time, what the last wave has: one in so many parts.
const LAST: u32 = 5;
/// How long a socket is kept open for the answers that it still waits for.
pub(crate) const ANSWERS: Duration = Duration::from_millis(1500);
/// Between two looks whether they have come.
const LOOK: Duration = Duration::from_millis(20);

/// How far a session has come with leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Its wave has not begun.
    Waits,
    /// It was told, and is closed when its time is over.
    Told,
    /// Its time is over; it waits for answers until then.
    Answers { until: Instant },
}

/// When a wave begins, and how long its clients then have, if all of it may take `whole`.
fn wave(whole: Duration, number: u32) -> (Duration, Duration) {
    let last = whole / LAST;
    ((whole - last) / WAVES * number.min(WAVES), last)
}

impl Session {
    /// The gateway goes.
    pub(super) fn drain(&mut self) -> Flow {
        self.leaving = Some(Leaving::Waits);
        if self.socket.is_none() {
            return Flow::End;
        }
        self.app.metrics.draining(1);
        let number = rand::rng().random_range(0..WAVES);
        let (begins, _) = wave(self.app.config.times.drain, number);
        self.deadline = Instant::now() + begins;
        Flow::On
    }

    /// The next step of leaving is due.
    pub(super) async fn leave_gateway(&mut self) -> Flow {
        let now = Instant::now();
        match self.leaving {
            Some(Leaving::Waits) => {
                let (_, time) = wave(self.app.config.times.drain, 0);
                let after_ms = whole_ms(time);
                self.push(&Draining { after_ms });
                self.leaving = Some(Leaving::Told);
                self.deadline = now + time;
                return Flow::On;
            }
            Some(Leaving::Told) if self.mailbox.awaits() => {
                let until = now + ANSWERS;
                self.leaving = Some(Leaving::Answers { until });
                self.deadline = now + LOOK;
                return Flow::On;
            }
            Some(Leaving::Answers { until }) if now < until && self.mailbox.awaits() => {
                self.deadline = now + LOOK;
                return Flow::On;
            }
            _ => {}
        }
        self.shut(CloseCode::GoingAway, "this gateway goes; resume elsewhere")
            .await
    }
}

#[cfg(test)]
mod tests {
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
}
