//! Limits of logins by a token and of resumes, per account and per address. Neither is an attempt
//! to authenticate, since the token names the account; but each costs a session.
//!
//! Always: no client that reconnects over a bad network meets these limits. A refused account
//! uses up nothing of its address. Each gateway counts alone: it guards its own memory, and no
//! returning client waits for Redis.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use super::{
    local::Local,
    subject::Subject,
    window::{LOGIN, LOGIN_ADDRESS, RESUME, RESUME_ADDRESS, Rule},
};
use crate::metrics::Metrics;

/// The way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Login by an access token.
    Login,
    /// Resume by the resume token of a session.
    Resume,
}

/// Refusal of a login or resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooOften {
    /// Time until the client may try again.
    pub(crate) wait: Duration,
    /// The limit, in words.
    pub(crate) why: &'static str,
}

/// All logins and resumes at this gateway.
pub(crate) struct Logins {
    on: bool,
    local: Local,
    metrics: Metrics,
}

impl Logins {
    pub(crate) fn new(on: bool, metrics: Metrics) -> Self {
        Self {
            on,
            local: Local::new(),
            metrics,
        }
    }

    /// Counts a login or resume of an account from an address, or refuses it.
    pub(crate) fn pass(
        &self,
        way: Way,
        account_id: &str,
        address: IpAddr,
        now: Instant,
    ) -> Result<(), TooOften> {
        if !self.on {
            return Ok(());
        }
        let account = Subject::Account(account_id.to_owned());
        let address = Subject::address(address);
        match way {
            Way::Login => {
                let why = "an account logs in at most 60 times a minute";
                self.count(LOGIN, why, &account, now)?;
                let why = "the accounts of an address log in at most 600 times a minute";
                self.count(LOGIN_ADDRESS, why, &address, now)
            }
            Way::Resume => {
                let why = "an account resumes at most 240 times a minute";
                self.count(RESUME, why, &account, now)?;
                let why = "the accounts of an address resume at most 2400 times a minute";
                self.count(RESUME_ADDRESS, why, &address, now)
            }
        }
    }

    fn count(
        &self,
        rule: Rule,
        why: &'static str,
        who: &Subject,
        now: Instant,
    ) -> Result<(), TooOften> {
        let passed = self.local.pass(rule, who, now);
        passed.map(|_| ()).map_err(|refusal| {
            self.metrics.limited(rule.name, refusal.blocked);
            let wait = refusal.wait;
            TooOften { wait, why }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logins() -> Logins {
        let meter = opentelemetry::global::meter("test");
        Logins::new(true, Metrics::new(&meter))
    }

    #[test]
    fn an_account_that_is_refused_uses_up_nothing_of_its_address() {
        let (logins, now) = (logins(), Instant::now());
        let address: IpAddr = "10.0.0.1".parse().unwrap();
        let passed = |account: &str| {
            let all = 0..1000;
            let pass = |_: &i32| logins.pass(Way::Login, account, address, now).is_ok();
            all.filter(pass).count()
        };
        for n in 0..10 {
            assert_eq!(passed(&format!("account-{n}")), LOGIN.most);
        }
        assert_eq!(passed("account-10"), 0, "ten times sixty are the address's");
        let why = logins.pass(Way::Login, "account-11", address, now);
        assert!(why.unwrap_err().why.contains("of an address"));
        let elsewhere = "10.0.0.2".parse().unwrap();
        assert!(
            logins
                .pass(Way::Login, "account-11", elsewhere, now)
                .is_ok()
        );
        assert!(logins.pass(Way::Resume, "account-0", address, now).is_ok());
    }

    /// Checks that the words name the numbers.
    #[test]
    fn each_refusal_says_how_often_one_may() {
        let (logins, now) = (logins(), Instant::now());
        for (way, most) in [(Way::Login, LOGIN.most), (Way::Resume, RESUME.most)] {
            let address = "10.0.0.1".parse().unwrap();
            let over = (0..).find_map(|_| logins.pass(way, "a", address, now).err());
            let over = over.unwrap();
            assert!(over.why.contains(&format!(" {most} times")), "{}", over.why);
            assert_eq!(over.wait, LOGIN.length);
        }
    }
}
