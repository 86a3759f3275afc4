//! Sliding windows that bound how often something happens. Pure: the caller names each moment.
//!
//! Always: no window of the given length holds more passes than the limit, wherever it begins;
//! requests during a block do not prolong it.

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

    /// Counts a pass. The error is the time until one would pass.
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

    /// Returns whether no pass counts any more.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.forget(now);
        self.passes.is_empty()
    }

    /// Counts a pass that another counter allowed; where there are too many, forgets the oldest.
    fn note(&mut self, now: Instant) {
        self.forget(now);
        if self.passes.len() >= self.most {
            self.passes.pop_front();
        }
        self.passes.push_back(now);
    }

    /// Returns how many more would pass now, and the time until the oldest pass stops counting.
    fn standing(&self, now: Instant) -> Standing {
        let first = self.passes.front().map(|first| *first + self.length);
        Standing {
            left: self.most.saturating_sub(self.passes.len()),
            more_in: first.map_or(Duration::ZERO, |at| at.saturating_duration_since(now)),
        }
    }

    fn forget(&mut self, now: Instant) {
        // A pass that is exactly one length old is no longer in the window that ends now.
        while let Some(first) = self.passes.front()
            && now.saturating_duration_since(*first) >= self.length
        {
            self.passes.pop_front();
        }
    }
}

/// The numbers of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its name on the wire and in metrics.
    pub(crate) name: &'static str,
    /// Passes in any window of `length`.
    pub(crate) most: usize,
    pub(crate) length: Duration,
    /// Refusals within one `length` that cause a block.
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

/// Attempts to authenticate.
pub(crate) const AUTH: Rule = Rule {
    name: "auth",
    most: 10,
    length: MINUTE,
    refusals: 5,
    block: MINUTE,
};

/// Requests over HTTP of one address with all its accounts. It is six times the limit of one
/// account, so that a school can play behind one address.
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

/// Logins of all accounts from one address: room for ten such accounts.
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

/// Resumes of all sessions from one address: room for many players who come back at the same
/// time, because their gateway went.
pub(crate) const RESUME_ADDRESS: Rule = Rule {
    name: "resume_address",
    most: RESUMES_PER_ADDRESS_MAX,
    ..REST
};

/// Exports of an account, each of which asks the store for much.
pub(crate) const EXPORT: Rule = Rule {
    name: "export",
    most: 5,
    length: Duration::from_secs(3_600),
    refusals: 5,
    block: MINUTE,
};

/// Agents made from an address; a setting replaces the number.
pub(crate) const AGENTS: Rule = Rule {
    name: "agents",
    most: 20,
    length: Duration::from_secs(3_600),
    refusals: 5,
    block: MINUTE,
};

/// State of a limit after a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Further passes that are free now.
    pub(crate) left: usize,
    /// Time until one more is free.
    pub(crate) more_in: Duration,
}

/// Refusal by a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Time until the next pass.
    pub(crate) wait: Duration,
    /// Whether a block refuses everything until then.
    pub(crate) blocked: bool,
}

/// Counter of one subject under one rule.
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

    /// Counts a pass, or refuses it. Outside a block, a refusal counts towards the next block.
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

    /// Returns how long the block still lasts; `None`: there is none.
    pub(crate) fn blocked(&self, now: Instant) -> Option<Duration> {
        let left = self.blocked_until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Counts a pass that another counter allowed.
    pub(crate) fn note(&mut self, now: Instant) {
        self.window.note(now);
    }

    /// Blocks for a time.
    pub(crate) fn block(&mut self, now: Instant, time: Duration) {
        self.blocked_until = Some(now + time);
    }

    /// Returns whether the counter may be forgotten: nothing in it counts.
    pub(crate) fn idle(&mut self, now: Instant) -> bool {
        self.window.idle(now) && self.refusals.idle(now) && self.blocked(now).is_none()
    }
}

#[cfg(test)]
mod tests;
