//! Pace at which the gateway reads a socket: frames beyond it wait in the network, so that who sends
//! without end pays for it, and not those who share the gateway. Pure: the caller names each moment.
//!
//! Always: a client that keeps to its limit of messages is never held up.

use std::time::{Duration, Instant};

/// Frames a second that the gateway reads from a client: four times the messages that it may send.
pub(crate) const FRAMES_PER_SECOND: u32 = 240;

/// The frames of one socket.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: u32,
    /// Moment at which all frames so far would have come at an even pace.
    even: Instant,
}

impl Pace {
    /// Lets so many frames pass in a second, and as many at once after silence.
    pub(crate) fn new(per_second: u32, now: Instant) -> Self {
        Self {
            per_second,
            even: now,
        }
    }

    /// Counts a frame. Returns the time for which the gateway reads no further one.
    pub(crate) fn frame(&mut self, now: Instant) -> Duration {
        self.even = self.even.max(now) + Duration::from_secs(1) / self.per_second.max(1);
        let ahead = self.even.saturating_duration_since(now);
        ahead.saturating_sub(Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use proto::client::limits::CLIENT_MESSAGES_PER_SECOND_MAX;

    use super::*;

    #[test]
    fn who_keeps_to_the_limit_is_never_held_up() {
        let start = Instant::now();
        let mut pace = Pace::new(FRAMES_PER_SECOND, start);
        for second in 0..30 {
            // All of a second's messages come at once, with as many pings.
            for _ in 0..2 * CLIENT_MESSAGES_PER_SECOND_MAX {
                let now = start + Duration::from_secs(second);
                assert_eq!(pace.frame(now), Duration::ZERO);
            }
        }
    }

    #[test]
    fn who_sends_without_end_is_read_at_the_pace() {
        let start = Instant::now();
        let (mut pace, mut now, mut frames) = (Pace::new(FRAMES_PER_SECOND, start), start, 0);
        while now < start + Duration::from_secs(10) {
            now += pace.frame(now);
            frames += 1;
        }
        let most = 11 * FRAMES_PER_SECOND;
        assert!((most - 2..=most + 2).contains(&frames), "{frames}");
    }
}
