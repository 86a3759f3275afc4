//! Budget of an account: its messages and its connections, counted over all its connections. Its
//! chat and its requests for lists also count over former connections.
//!
//! Always: the gateway remembers an account that has a connection, or for which anything still
//! counts, and no other one for long. Each gateway counts alone, so an account at two has twice as
//! much.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use proto::client::limits::{CLIENT_MESSAGES_PER_SECOND_MAX, CONNECTIONS_PER_ACCOUNT_MAX};

use super::limits::{MessageLimit, Verdict};
use crate::{clock, limits::window::Window};

/// Number of accounts from which on the gateway forgets idle ones.
const SWEEP_AT: usize = 1024;

/// Maximum number of chat lines, to any hearer, in [`CHAT_TIME`].
const CHAT_MAX: usize = 5;
const CHAT_TIME: Duration = Duration::from_secs(5);
/// Maximum number of requests for the lists of friends and ignored players, and for changes of
/// them, in [`LISTS_TIME`].
const LISTS_MAX: usize = 30;
const LISTS_TIME: Duration = Duration::from_secs(60);

/// The budgets of all accounts.
pub(crate) struct Budgets {
    on: bool,
    accounts: Arc<Mutex<HashMap<String, Account>>>,
}

#[derive(Debug)]
struct Account {
    messages: MessageLimit,
    chat: Window,
    lists: Window,
    connections: usize,
}

impl Account {
    const fn new() -> Self {
        Self {
            messages: MessageLimit::new(CLIENT_MESSAGES_PER_SECOND_MAX),
            chat: Window::new(CHAT_MAX, CHAT_TIME),
            lists: Window::new(LISTS_MAX, LISTS_TIME),
            connections: 0,
        }
    }

    /// Returns whether the gateway may forget it.
    fn idle(&mut self, now: Instant) -> bool {
        let silent = self.chat.idle(now) && self.lists.idle(now);
        self.connections == 0 && silent && self.messages.idle(now)
    }
}

/// Reason why an account gets no further connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// It has as many as it may have.
    TooMany,
    /// The gateway blocks it for this long.
    Blocked(Duration),
}

/// One connection's share in the budget of its account; dropping it gives it back.
pub(crate) struct Budget {
    on: bool,
    account_id: String,
    accounts: Arc<Mutex<HashMap<String, Account>>>,
}

impl Budgets {
    pub(crate) fn new(on: bool) -> Self {
        Self {
            on,
            accounts: Arc::default(),
        }
    }

    /// Counts a further connection of the account.
    pub(crate) fn connect(&self, account_id: &str, now: Instant) -> Result<Budget, NoRoom> {
        let mut accounts = lock(&self.accounts);
        if accounts.len() >= SWEEP_AT && accounts.len().is_power_of_two() {
            accounts.retain(|_, account| !account.idle(now));
        }
        let account = accounts.entry(account_id.to_owned());
        let account = account.or_insert_with(Account::new);
        if let Some(left) = account.messages.blocked(now) {
            return Err(NoRoom::Blocked(left));
        }
        if self.on && account.connections >= CONNECTIONS_PER_ACCOUNT_MAX {
            return Err(NoRoom::TooMany);
        }
        account.connections += 1;
        Ok(Budget {
            on: self.on,
            account_id: account_id.to_owned(),
            accounts: Arc::clone(&self.accounts),
        })
    }
}

impl Budget {
    /// Counts a message of the account and decides about it.
    pub(crate) fn message(&self, now: Instant) -> Verdict {
        self.of(|account| account.messages.message(now))
            .unwrap_or(Verdict::Pass)
    }

    /// Counts a chat line of the account. Returns the time to wait if that is too many.
    pub(crate) fn chat(&self, now: Instant) -> Result<(), Duration> {
        self.of(|account| account.chat.pass(now)).unwrap_or(Ok(()))
    }

    /// Counts a request for the lists, or for a change of them. Returns the time to wait if that is
    /// too many.
    pub(crate) fn lists(&self, now: Instant) -> Result<(), Duration> {
        self.of(|account| account.lists.pass(now)).unwrap_or(Ok(()))
    }

    /// Applies `what` to the account's own limits; `None`: there are no limits.
    fn of<T>(&self, what: impl FnOnce(&mut Account) -> T) -> Option<T> {
        if !self.on {
            return None;
        }
        lock(&self.accounts).get_mut(&self.account_id).map(what)
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        let mut accounts = lock(&self.accounts);
        if let Some(account) = accounts.get_mut(&self.account_id) {
            account.connections -= 1;
            if account.idle(clock::instant()) {
                accounts.remove(&self.account_id);
            }
        }
    }
}

fn lock(accounts: &Mutex<HashMap<String, Account>>) -> MutexGuard<'_, HashMap<String, Account>> {
    accounts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_of_an_account_share_its_messages() {
        let (budgets, now) = (Budgets::new(true), Instant::now());
        let (a, b) = (
            budgets.connect("x", now).unwrap(),
            budgets.connect("x", now).unwrap(),
        );
        let other = budgets.connect("y", now).unwrap();
        for i in 0..60 {
            let budget = if i % 2 == 0 { &a } else { &b };
            assert_eq!(budget.message(now), Verdict::Pass);
        }
        assert!(matches!(a.message(now), Verdict::Refuse(_)));
        assert!(matches!(b.message(now), Verdict::Refuse(_)));
        assert_eq!(other.message(now), Verdict::Pass);
    }

    #[test]
    fn the_fifth_connection_has_no_room_until_one_ends() {
        let (budgets, now) = (Budgets::new(true), Instant::now());
        let mut four: Vec<_> = (0..4).map(|_| budgets.connect("x", now).unwrap()).collect();
        assert_eq!(budgets.connect("x", now).err(), Some(NoRoom::TooMany));
        assert!(budgets.connect("y", now).is_ok());
        four.pop();
        assert!(budgets.connect("x", now).is_ok());
    }

    #[test]
    fn who_comes_back_goes_on_with_what_it_had_left_and_is_forgotten_when_nothing_counts() {
        let (budgets, start) = (Budgets::new(true), Instant::now());
        let passes = |now: Instant| {
            let budget = budgets.connect("x", now).unwrap();
            (budget.chat(now).is_ok(), budget.lists(now).is_ok())
        };
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for _ in 0..CHAT_MAX {
            assert_eq!(passes(start), (true, true));
        }
        assert_eq!(passes(at(4)), (false, true));
        assert_eq!(passes(at(5)), (true, true));
        for _ in 0..LISTS_MAX - CHAT_MAX - 2 {
            assert!(passes(at(20)).1);
        }
        assert!(!passes(at(59)).1);
        assert!(budgets.connect("y", start).unwrap().chat(start).is_ok());
        let idle = |id: &str, now| lock(&budgets.accounts).get_mut(id).unwrap().idle(now);
        assert!(!idle("x", at(79)) && idle("x", at(80)));
    }

    #[test]
    fn a_blocked_account_gets_no_connection_even_after_its_last_one_ended() {
        let (budgets, start) = (Budgets::new(true), Instant::now());
        let budget = budgets.connect("x", start).unwrap();
        let mut now = start;
        while !matches!(budget.message(now), Verdict::Block(_)) {
            now += Duration::from_millis(10);
        }
        drop(budget);
        assert!(matches!(budgets.connect("x", now), Err(NoRoom::Blocked(_))));
        assert!(budgets.connect("x", now + Duration::from_secs(61)).is_ok());
    }
}
