//! How often something may happen. Pure: sliding windows over moments that the caller names.
//!
//! Always: no window of the given length holds more passes than the limit, wherever it begins;
//! who is blocked does not prolong the block by asking.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use proto::client::limits::{
    LOGINS_PER_ACCOUNT_MAX, LOGINS_PER_ADDRESS_MAX, RESUMES_PER_ACCOUNT_MAX,
    RESUMES_PER_ADDRESS_MAX,
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

    /// Counts a pass that somebody else allowed; of too many the oldest are forgotten.
    fn note(&mut self, now: Instant) {
        self.forget(now);
        if self.passes.len() >= self.most {
            self.passes.pop_front();
        }
        self.passes.push_back(now);
    }

    /// How many more would pass now, and when the first of those that count will count no more.
    fn standing(&self, now: Instant) -> Standing {
        let first = self.passes.front().map(|first| *first + self.length);
        Standing {
            left: self.most.saturating_sub(self.passes.len()),
            more_in: first.map_or(Duration::ZERO, |at| at.saturating_duration_since(now)),
        }
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

/// What a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its name on the wire and in metrics.
    pub(crate) name: &'static str,
    /// Passes in any window of `length`.
    pub(crate) most: usize,
    pub(crate) length: Duration,
    /// The refusal of this number within one `length` blocks.
    pub(crate) refusals: usize,
    pub(crate) block: Duration,
}

const MINUTE: Duration = Duration::from_secs(60);

/// Requests over HTTP.
pub(crate) const REST: Rule = Rule {
    name: "rest",
    most: 100,
    length: MINUTE,
    refusals: 5,
    block: MINUTE,
};

/// Attempts to say who one is.
pub(crate) const AUTH: Rule = Rule {
    name: "auth",
    most: 10,
    length: MINUTE,
    refusals: 5,
    block: MINUTE,
};

/// Requests over HTTP of one address, with all accounts that ask from there: six times what one
/// account may, so that a school plays behind one address.
pub(crate) const REST_ADDRESS: Rule = Rule {
    name: "rest_address",
    most: 600,
    ..REST
};

/// Logins of an account by its own token. A client that loses every connection at once, and waits
/// a second more each time, needs ten a minute; an account has four connections.
pub(crate) const LOGIN: Rule = Rule {
    name: "login",
    most: LOGINS_PER_ACCOUNT_MAX,
    ..REST
};

/// The same from one address: ten such accounts.
pub(crate) const LOGIN_ADDRESS: Rule = Rule {
    name: "login_address",
    most: LOGINS_PER_ADDRESS_MAX,
    ..REST
};

/// Resumes of an account's sessions: one a second for each of its connections.
pub(crate) const RESUME: Rule = Rule {
    name: "resume",
    most: RESUMES_PER_ACCOUNT_MAX,
    ..REST
};

/// The same from one address: so many play there who all come back at the same time, because their
/// gateway went.
pub(crate) const RESUME_ADDRESS: Rule = Rule {
    name: "resume_address",
    most: RESUMES_PER_ADDRESS_MAX,
    ..REST
};

/// Agents made from an address; how many is a setting.
pub(crate) const AGENTS: Rule = Rule {
    name: "agents",
    most: 20,
    length: Duration::from_secs(3_600),
    refusals: 5,
    block: MINUTE,
};

/// How somebody who passed stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// So many more pass now.
    pub(crate) left: usize,
    /// After this time it is one more.
    pub(crate) more_in: Duration,
}

/// Why somebody does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// It passes after this time.
    pub(crate) wait: Duration,
    /// Nothing is looked at until then.
    pub(crate) blocked: bool,
}

/// One somebody under one rule.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    window: Window,
    refusals: Window,
    block: Duration,
    blocked_until: Option<Instant>,
}

impl Counter {
    pub(crate) const fn new(rule: Rule) -> Self {
        Self {
            window: Window::new(rule.most, rule.length),
            refusals: Window::new(rule.refusals.saturating_sub(1), rule.length),
            block: rule.block,
            blocked_until: None,
        }
    }

    /// Passes and counts, or not.
    pub(crate) fn pass(&mut self, now: Instant) -> Result<Standing, Refusal> {
        if let Some(wait) = self.blocked(now) {
            let blocked = true;
            return Err(Refusal { wait, blocked });
        }
        let Err(wait) = self.window.pass(now) else {
            return Ok(self.window.standing(now));
        };
        let blocked = self.refusals.pass(now).is_err();
        if !blocked {
            return Err(Refusal { wait, blocked });
        }
        self.block(now, self.block);
        let wait = self.block;
        Err(Refusal { wait, blocked })
    }

    /// How long the block still lasts.
    pub(crate) fn blocked(&self, now: Instant) -> Option<Duration> {
        let left = self.blocked_until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Counts a pass that somebody else allowed.
    pub(crate) fn note(&mut self, now: Instant) {
        self.window.note(now);
    }

    /// Blocks for a time.
    pub(crate) fn block(&mut self, now: Instant, time: Duration) {
        self.blocked_until = Some(now + time);
    }

    /// It need not be remembered.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.window.idle(now) && self.refusals.idle(now) && self.blocked(now).is_none()
    }
}

#[cfg(test)]
mod tests;
