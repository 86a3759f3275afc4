//! Pace at which the gateway reads a socket: frames beyond it wait in the network, so that who sends
//! without end pays for it, and not those who share the gateway. Pure: the caller names each moment.
//!
//! Always: a client that keeps to its limit of messages is never held up.

use std::time::{Duration, Instant};

/// Frames a second that the gateway reads from a socket: four times the messages that a client may
/// send.
const FRAMES_PER_SECOND: u32 = 240;
/// Frames that it reads at once from a socket that was silent.
const BURST: u32 = 240;
/// Time that a frame takes at this pace.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / FRAMES_PER_SECOND as u64);

/// The frames of one socket.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Moment at which all frames so far would have come at an even pace.
    even: Instant,
}

impl Pace {
    pub(crate) fn new(now: Instant) -> Self {
        Self { even: now }
    }

    /// Counts a frame. Returns the time for which the gateway reads no further one.
    pub(crate) fn frame(&mut self, now: Instant) -> Duration {
        self.even = self.even.max(now) + FRAME;
        let ahead = self.even.saturating_duration_since(now);
        ahead.saturating_sub(FRAME * BURST)
    }
}

#[cfg(test)]
mod tests {
    use proto::client::limits::CLIENT_MESSAGES_PER_SECOND_MAX;

    use super::*;

    #[test]
    fn who_keeps_to_the_limit_is_never_held_up() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
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
        let (mut pace, mut now, mut frames) = (Pace::new(start), start, 0);
        while now < start + Duration::from_secs(10) {
            now += pace.frame(now);
            frames += 1;
        }
        let most = BURST + 10 * FRAMES_PER_SECOND;
        assert!((most - 2..=most + 2).contains(&frames), "{frames}");
    }
}
