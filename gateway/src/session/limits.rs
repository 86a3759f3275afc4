//! Number of messages that an account may send. Pure: the caller names the moments.
//!
//! Always: no second holds more than the limit, wherever it begins; only refusals that go on for
//! ten seconds block.

use std::time::{Duration, Instant};

use crate::limits::window::Window;

/// Decision about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// Refused; the client may send it again after this time.
    Refuse(Duration),
    /// Refused for so long that the gateway has to close the connections.
    Block(Duration),
}

/// Time within which one refusal must follow another to belong together. A client that sends too
/// much in every second gets a refusal in every second, early in one and late in the next.
const PAUSE: Duration = Duration::from_secs(2);
/// Time for which refusals may go on.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time for which a block lasts.
pub(crate) const BLOCK: Duration = Duration::from_secs(60);

/// The messages of one account, over all its connections.
#[derive(Debug, Clone)]
pub(crate) struct MessageLimit {
    window: Window,
    /// Beginning and last moment of the refusals that still go on.
    refusing: Option<(Instant, Instant)>,
    blocked_until: Option<Instant>,
}

impl MessageLimit {
    pub(crate) const fn new(per_second: usize) -> Self {
        Self {
            window: Window::new(per_second, Duration::from_secs(1)),
            refusing: None,
            blocked_until: None,
        }
    }

    /// Counts one message and decides about it.
    pub(crate) fn message(&mut self, now: Instant) -> Verdict {
        if let Some(left) = self.blocked(now) {
            return Verdict::Block(left);
        }
        let Err(wait) = self.window.pass(now) else {
            return Verdict::Pass;
        };
        let since = match self.refusing {
            Some((since, last)) if now.saturating_duration_since(last) < PAUSE => since,
            _ => now,
        };
        self.refusing = Some((since, now));
        if now.saturating_duration_since(since) >= TIMEOUT {
            self.refusing = None;
            self.blocked_until = Some(now + BLOCK);
            return Verdict::Block(BLOCK);
        }
        Verdict::Refuse(wait)
    }

    /// Returns for how long the account is still blocked.
    pub(crate) fn blocked(&self, now: Instant) -> Option<Duration> {
        let left = self.blocked_until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Returns whether the gateway may forget it.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.window.idle(now) && self.blocked(now).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn sixty_in_a_second_pass_and_the_next_one_when_the_first_is_a_second_old() {
        let start = Instant::now();
        let mut limit = MessageLimit::new(60);
        for i in 0..60_u32 {
            assert_eq!(limit.message(start + i * 10 * MS), Verdict::Pass, "{i}");
        }
        let refused = limit.message(start + 999 * MS);
        assert_eq!(refused, Verdict::Refuse(MS));
        assert_eq!(limit.message(start + 1000 * MS), Verdict::Pass);
        assert_eq!(limit.message(start + 1000 * MS), Verdict::Refuse(10 * MS));
    }

    #[test]
    fn ten_seconds_of_refusals_block_for_sixty() {
        let start = Instant::now();
        let mut limit = MessageLimit::new(60);
        let mut blocked_at = None;
        for i in 0..1500_u32 {
            let at = i * 10;
            if let Verdict::Block(left) = limit.message(start + at * MS) {
                assert_eq!(left, BLOCK);
                blocked_at = Some(at);
                break;
            }
        }
        let at = blocked_at.expect("never blocked");
        assert!((10_000..=11_000).contains(&at), "{at}");
        let later = |s: u32| start + at * MS + s * 1000 * MS;
        assert!(limit.blocked(later(59)).is_some());
        assert!(limit.blocked(later(60)).is_none());
        assert_eq!(limit.message(later(60)), Verdict::Pass);
    }

    #[test]
    fn too_much_in_every_second_blocks_however_it_is_spread() {
        for (burst, gap) in [(40, 501_u32), (62, 999), (70, 990), (2, 30)] {
            let start = Instant::now();
            let mut limit = MessageLimit::new(60);
            let blocked = (0..12_500 / gap).find(|i| {
                let at = start + i * gap * MS;
                (0..burst).any(|_| matches!(limit.message(at), Verdict::Block(_)))
            });
            let at = blocked.map(|i| i * gap);
            assert!(
                at.is_some_and(|at| at >= 10_000),
                "{burst} every {gap} ms: {at:?}"
            );
        }
    }

    #[test]
    fn bursts_with_pauses_are_refused_but_not_blocked() {
        let start = Instant::now();
        let mut limit = MessageLimit::new(60);
        for second in 0..60_u32 {
            for i in 0..100 {
                let at = start + (second * 3000 + i) * MS;
                let verdict = limit.message(at);
                assert_eq!(verdict == Verdict::Pass, i < 60, "{second} {i}");
                assert!(!matches!(verdict, Verdict::Block(_)));
            }
        }
    }
}
