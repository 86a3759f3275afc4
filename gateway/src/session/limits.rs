//! How often. Pure: sliding windows over moments that the caller names.
//!
//! Always: no window of the given length holds more passes than the limit, wherever it begins.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// At most `most` passes in any window of `length`.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    most: usize,
    length: Duration,
    passes: VecDeque<Instant>,
}

impl Window {
    pub(crate) const fn new(most: usize, length: Duration) -> Self {
        Self {
            most,
            length,
            passes: VecDeque::new(),
        }
    }

    /// Passes and counts, or says after what time it would pass.
    pub(crate) fn pass(&mut self, now: Instant) -> Result<(), Duration> {
        self.forget(now);
        match self.passes.front() {
            Some(first) if self.passes.len() >= self.most => {
                Err((*first + self.length).saturating_duration_since(now))
            }
            _ => {
                self.passes.push_back(now);
                Ok(())
            }
        }
    }

    /// Nothing of it counts any more.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.forget(now);
        self.passes.is_empty()
    }

    fn forget(&mut self, now: Instant) {
        // A pass that is exactly one length old lies outside the window that ends now.
        while let Some(first) = self.passes.front()
            && now.saturating_duration_since(*first) >= self.length
        {
            self.passes.pop_front();
        }
    }
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// Refused; it may come again after this time.
    Refuse(Duration),
    /// Refused for so long that the connections are to be closed.
    Block(Duration),
}

/// Refusals that follow each other within this time belong together: who sends too much in every
/// second is refused in every second, early in one and late in the next.
const PAUSE: Duration = Duration::from_secs(2);
/// How long refusals may go on.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a block lasts.
pub(crate) const BLOCK: Duration = Duration::from_secs(60);

/// The messages of one account, over all its connections.
#[derive(Debug, Clone)]
pub(crate) struct MessageLimit {
    window: Window,
    /// When the refusals began that still go on, and the last one of them.
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

    /// One message arrived.
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
        if now.saturating_duration_since(since) >= PATIENCE {
            self.refusing = None;
            self.blocked_until = Some(now + BLOCK);
            return Verdict::Block(BLOCK);
        }
        Verdict::Refuse(wait)
    }

    /// How long the account is still blocked.
    pub(crate) fn blocked(&self, now: Instant) -> Option<Duration> {
        let left = self.blocked_until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// It need not be remembered.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.window.idle(now) && self.blocked(now).is_none()
    }
}

/// Attempts to log in from one address: 10 in any minute; 5 refusals within a minute block for
/// one.
#[derive(Debug, Clone)]
pub(crate) struct AttemptLimit {
    window: Window,
    refusals: Window,
    blocked_until: Option<Instant>,
}

const MINUTE: Duration = Duration::from_secs(60);
/// Attempts in a minute.
pub(crate) const ATTEMPTS_MAX: usize = 10;
const REFUSALS_MAX: usize = 5;

impl AttemptLimit {
    pub(crate) const fn new() -> Self {
        Self {
            window: Window::new(ATTEMPTS_MAX, MINUTE),
            refusals: Window::new(REFUSALS_MAX - 1, MINUTE),
            blocked_until: None,
        }
    }

    /// One attempt; refused, it may come again after the time given.
    pub(crate) fn attempt(&mut self, now: Instant) -> Result<(), Duration> {
        if let Some(until) = self.blocked_until
            && until > now
        {
            return Err(until - now);
        }
        let Err(wait) = self.window.pass(now) else {
            return Ok(());
        };
        if self.refusals.pass(now).is_err() {
            self.blocked_until = Some(now + BLOCK);
            return Err(BLOCK.max(wait));
        }
        Err(wait)
    }

    /// It need not be remembered.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.window.idle(now) && self.blocked_until.is_none_or(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn no_window_holds_more_than_the_limit_wherever_it_begins() {
        let start = Instant::now();
        let mut window = Window::new(60, 1000 * MS);
        let mut passed = Vec::new();
        // Uneven arrivals, about 200 a second.
        for i in 0..2000_u32 {
            let at = i * 5 + (i * i) % 4;
            if window.pass(start + at * MS).is_ok() {
                passed.push(at);
            }
        }
        for (i, first) in passed.iter().enumerate() {
            let within = passed[i..].iter().take_while(|at| **at < first + 1000);
            assert!(within.count() <= 60, "from {first}");
        }
        assert!(passed.len() >= 590, "the limit is used: {}", passed.len());
    }

    #[test]
    fn a_refusal_names_the_time_after_which_it_passes() {
        let start = Instant::now();
        let mut window = Window::new(2, 1000 * MS);
        window.pass(start).unwrap();
        window.pass(start + 300 * MS).unwrap();
        let wait = window.pass(start + 400 * MS).unwrap_err();
        assert_eq!(wait, 600 * MS);
        assert!(window.pass(start + 400 * MS + wait - MS).is_err());
        assert!(window.pass(start + 400 * MS + wait).is_ok());
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

    #[test]
    fn the_fifth_refused_attempt_blocks_for_a_minute() {
        let start = Instant::now();
        let mut limit = AttemptLimit::new();
        for i in 0..10 {
            limit.attempt(start + i * 1000 * MS).unwrap();
        }
        for _ in 0..4 {
            assert_eq!(limit.attempt(start + 20_000 * MS), Err(40_000 * MS));
        }
        assert_eq!(limit.attempt(start + 50_000 * MS), Err(BLOCK));
        assert!(limit.attempt(start + 109_000 * MS).is_err());
        assert!(limit.attempt(start + 110_000 * MS).is_ok());
        assert!(limit.idle(start + 170_000 * MS));
    }
}
