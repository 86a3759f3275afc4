//! The windows in memory. Gateways of one process that name the same bus share them.
//!
//! Always: memory is bounded, for accounts and for addresses on their own. If a subject finds no
//! room, the limits refuse it, so that crowding dodges no limit.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::{Duration, Instant},
};

use super::{
    subject::Subject,
    window::{Counter, Refusal, Rule, Standing},
};

/// Subjects in memory at which a sweep forgets the idle ones.
const SWEEP_AT: usize = 10_000;
/// Pause between two sweeps.
const SWEEP_PAUSE: Duration = Duration::from_secs(1);
/// Subjects of one kind in memory, at most, for each rule.
const SUBJECTS_MAX: usize = 100_000;

/// All windows of the process, by the name of the bus.
static SHARED: OnceLock<Mutex<HashMap<String, Weak<Local>>>> = OnceLock::new();

/// The windows of all subjects.
pub(crate) struct Local {
    tables: Mutex<HashMap<(&'static str, bool), Table>>,
    most: usize,
}

#[derive(Default)]
struct Table {
    counters: HashMap<Subject, Counter>,
    swept: Option<Instant>,
}

impl Local {
    pub(crate) fn new() -> Self {
        Self::bounded(SUBJECTS_MAX)
    }

    fn bounded(most: usize) -> Self {
        Self {
            tables: Mutex::default(),
            most,
        }
    }

    /// Returns the windows that all gateways of this process with the same bus share.
    pub(crate) fn shared(bus: &str) -> Arc<Self> {
        let all = SHARED.get_or_init(Mutex::default);
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, local| local.strong_count() > 0);
        all.get(bus).and_then(Weak::upgrade).unwrap_or_else(|| {
            let local = Arc::new(Self::new());
            all.insert(bus.to_owned(), Arc::downgrade(&local));
            local
        })
    }

    /// Counts a pass, or refuses it.
    pub(crate) fn pass(
        &self,
        rule: Rule,
        who: &Subject,
        now: Instant,
    ) -> Result<Standing, Refusal> {
        let full = Refusal {
            wait: rule.length,
            blocked: false,
        };
        self.with(rule, who, now, |counter| counter.pass(now))
            .unwrap_or(Err(full))
    }

    /// Returns how long a subject is still blocked; `None`: it is not.
    pub(crate) fn blocked(&self, rule: Rule, who: &Subject, now: Instant) -> Option<Duration> {
        let tables = self.tables();
        let table = tables.get(&key(rule, who))?;
        table.counters.get(who)?.blocked(now)
    }

    /// Notes a decision of Redis, so that this memory can go on while Redis is away.
    pub(crate) fn note(
        &self,
        rule: Rule,
        who: &Subject,
        now: Instant,
        decided: &Result<Standing, Refusal>,
    ) {
        // Without room in memory, only Redis knows the decision.
        let _ = self.with(rule, who, now, |counter| match decided {
            Ok(_) => counter.note(now),
            Err(refusal) if refusal.blocked => counter.block(now, refusal.wait),
            Err(_) => {}
        });
    }

    /// Calls `what` with a subject's counter; `None` where there is no room for one.
    fn with<T>(
        &self,
        rule: Rule,
        who: &Subject,
        now: Instant,
        what: impl FnOnce(&mut Counter) -> T,
    ) -> Option<T> {
        let mut tables = self.tables();
        let table = tables.entry(key(rule, who)).or_default();
        // Only now and then: a sweep looks at every subject.
        let rested = table
            .swept
            .is_none_or(|swept| now.saturating_duration_since(swept) >= SWEEP_PAUSE);
        if rested && table.counters.len() >= SWEEP_AT.min(self.most) {
            table.counters.retain(|_, counter| !counter.idle(now));
            table.swept = Some(now);
        }
        if table.counters.len() >= self.most && !table.counters.contains_key(who) {
            return None;
        }
        let new = || Counter::new(rule);
        let counter = table.counters.entry(who.clone()).or_insert_with(new);
        Some(what(counter))
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<(&'static str, bool), Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the key of the table for a rule and a kind of subject.
fn key(rule: Rule, who: &Subject) -> (&'static str, bool) {
    (rule.name, matches!(who, Subject::Account(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::window::{AUTH, REST};

    fn address(text: &str) -> Subject {
        Subject::address(text.parse().unwrap())
    }

    #[test]
    fn addresses_accounts_and_rules_count_for_themselves() {
        let (local, now) = (Local::new(), Instant::now());
        let pass = |rule, who: &Subject| local.pass(rule, who, now).is_ok();
        for i in 0..10 {
            assert!(pass(AUTH, &address("10.0.0.1")));
            assert!(pass(AUTH, &address(&format!("2001:db8::{i}"))));
        }
        assert!(!pass(AUTH, &address("10.0.0.1")));
        assert!(!pass(AUTH, &address("2001:db8::ffff")));
        assert!(pass(AUTH, &address("10.0.0.2")) && pass(AUTH, &address("2001:db8:0:1::1")));
        assert!(pass(REST, &address("10.0.0.1")));
        assert!(pass(AUTH, &Subject::Account("10.0.0.1".to_owned())));
    }

    #[test]
    fn addresses_that_crowd_in_take_no_account_its_place_and_are_forgotten_when_idle() {
        let (local, now) = (Local::bounded(3), Instant::now());
        let crowd = |n: u8| Subject::address([10, 0, 0, n].into());
        for n in 0..3 {
            local.pass(AUTH, &crowd(n), now).unwrap();
        }
        assert!(local.pass(AUTH, &crowd(9), now).is_err(), "no room");
        assert!(local.pass(AUTH, &crowd(0), now).is_ok(), "known already");
        let account = Subject::Account("a".to_owned());
        assert!(local.pass(AUTH, &account, now).is_ok());
        let later = now + AUTH.length;
        assert!(local.pass(AUTH, &crowd(9), later).is_ok());
        let kept = |who: &Subject| local.tables()[&key(AUTH, who)].counters.len();
        assert_eq!(kept(&crowd(9)), 1);
    }

    #[test]
    fn what_was_decided_elsewhere_is_gone_on_with() {
        let (local, now) = (Local::new(), Instant::now());
        let who = address("10.0.0.1");
        let standing = Standing {
            left: 1,
            more_in: Duration::ZERO,
        };
        for _ in 0..AUTH.most {
            local.note(AUTH, &who, now, &Ok(standing));
        }
        assert!(local.pass(AUTH, &who, now).is_err());
        let refusal = Refusal {
            wait: AUTH.block,
            blocked: true,
        };
        local.note(AUTH, &who, now, &Err(refusal));
        assert_eq!(local.blocked(AUTH, &who, now), Some(AUTH.block));
        assert_eq!(local.blocked(AUTH, &address("10.0.0.2"), now), None);
    }

    #[test]
    fn who_names_the_same_bus_shares_and_nobody_else() {
        let (a, b, c) = (Local::shared("1"), Local::shared("1"), Local::shared("2"));
        assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &c));
    }
}
