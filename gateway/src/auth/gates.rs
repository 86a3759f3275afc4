//! The gates of accounts: revoked tokens, bans and mutes, which the store pushes to every gateway.
//!
//! Always: while the last push is not older than 5 s, memory decides; else the gateway asks the
//! store each time. Running sessions hear of a new gate at once. Memory is bounded; when the gates
//! do not fit, the gateway asks the store.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use proto::rpc::identity::v1::{Gate, GateKind, GatesUpdate};
use tokio::time::Instant;

/// A push that is older does not count.
const FRESH: Duration = Duration::from_secs(5);
/// Gates in memory at most; beyond that the gateway asks the store.
const GATES_MAX: usize = 500_000;
/// New gates after which the gateway forgets the expired ones.
const SWEEP_EVERY: usize = 10_000;

/// Reason why an account may not come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shut {
    /// A revoked token or login.
    Revoked,
    Banned(Sanction),
}

/// A ban or a mute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sanction {
    /// Milliseconds since 1970; `None`: for ever.
    pub(crate) until_ms: Option<u64>,
    pub(crate) reason: String,
}

/// Order to the sessions of an account, caused by a new gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// Look at the gates again.
    Changed,
    Kicked {
        reason: String,
    },
    Teleported {
        character_id: String,
        x: i32,
        z: i32,
    },
}

/// All gates that this gateway knows.
#[derive(Debug, Default)]
pub(crate) struct Gates(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    version: u64,
    incarnation: u64,
    /// When the last complete push ended.
    heard: Option<Instant>,
    /// Natural end of each revoked token or login, in milliseconds since 1970.
    revoked: HashMap<String, u64>,
    bans: HashMap<String, Sanction>,
    mutes: HashMap<String, Sanction>,
    since_sweep: usize,
}

impl Gates {
    /// Returns the last position of the push: the version, and the store's incarnation.
    pub(crate) fn position(&self) -> (u64, u64) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (known.version, known.incarnation)
    }

    /// Returns whether memory may decide: the last push is fresh, and all gates fit.
    pub(crate) fn is_fresh(&self) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.heard.is_some_and(|heard| heard.elapsed() < FRESH) && !known.is_full()
    }

    /// Checks in memory whether an account may come in by a token or login with these ids.
    pub(crate) fn pass(&self, account_id: &str, ids: &[&str], now_ms: u64) -> Result<(), Shut> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.pass(account_id, ids, now_ms)
    }

    /// Notes a token or login that this gateway revoked; the push will repeat it.
    pub(crate) fn revoked(&self, id: &str, until_ms: u64) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !known.is_full() {
            known.revoked.insert(id.to_owned(), until_ms);
        }
    }

    /// Returns the mute in force for an account, if there is one.
    pub(crate) fn muted(&self, account_id: &str, now_ms: u64) -> Option<Sanction> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mute = known.mutes.get(account_id)?;
        mute.holds(now_ms).then(|| mute.clone())
    }

    /// Takes a push. Returns the accounts whose sessions must hear of it, each with its news.
    pub(crate) fn learn(&self, update: GatesUpdate, now_ms: u64) -> Vec<(String, News)> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // A whole push repeats old orders, whose sockets are gone.
        let whole = update.whole;
        if whole {
            *known = Known::default();
        }
        let mut news = Vec::new();
        for gate in update.gates {
            let account = gate.account_id.clone();
            if let Some(heard) = known.learn(gate, now_ms, !whole) {
                news.push((account, heard));
            }
        }
        known.version = update.version;
        known.incarnation = update.incarnation;
        if !update.more {
            known.heard = Some(Instant::now());
        }
        known.sweep(now_ms);
        news
    }
}

impl Sanction {
    fn holds(&self, now_ms: u64) -> bool {
        self.until_ms.is_none_or(|until| now_ms < until)
    }
}

impl Known {
    fn is_full(&self) -> bool {
        self.revoked.len() + self.bans.len() + self.mutes.len() >= GATES_MAX
    }

    fn pass(&self, account_id: &str, ids: &[&str], now_ms: u64) -> Result<(), Shut> {
        if let Some(ban) = self.bans.get(account_id)
            && ban.holds(now_ms)
        {
            return Err(Shut::Banned(ban.clone()));
        }
        if ids.iter().any(|id| self.revoked.contains_key(*id)) {
            return Err(Shut::Revoked);
        }
        Ok(())
    }

    fn learn(&mut self, gate: Gate, now_ms: u64, orders: bool) -> Option<News> {
        let until_ms = (gate.until_ms > 0).then_some(gate.until_ms);
        let over = until_ms.is_some_and(|until| until <= now_ms);
        let (kind, account) = (gate.kind(), gate.account_id);
        let sanction = Sanction {
            until_ms,
            reason: gate.reason,
        };
        self.since_sweep += 1;
        let full = self.is_full();
        let set = |map: &mut HashMap<String, Sanction>| {
            if over {
                map.remove(&account);
            } else if !full {
                map.insert(account.clone(), sanction.clone());
            }
        };
        match kind {
            GateKind::Revoked if !full => {
                self.revoked.insert(gate.subject, gate.until_ms);
                Some(News::Changed)
            }
            GateKind::Ban => {
                set(&mut self.bans);
                (!over).then_some(News::Changed)
            }
            GateKind::Mute => {
                set(&mut self.mutes);
                None
            }
            GateKind::Kick if orders && !over => Some(News::Kicked {
                reason: sanction.reason,
            }),
            GateKind::Teleport if orders && !over => Some(News::Teleported {
                character_id: gate.subject,
                x: gate.x,
                z: gate.z,
            }),
            // A kind of a later version, a stale order, or a revocation that does not fit.
            GateKind::Revoked | GateKind::Kick | GateKind::Teleport | GateKind::Unspecified => None,
        }
    }

    /// Forgets expired gates, a minute late: clocks differ a little, and tokens have a leeway.
    fn sweep(&mut self, now_ms: u64) {
        const MARGIN_MS: u64 = 60_000;
        if self.since_sweep < SWEEP_EVERY && !self.is_full() {
            return;
        }
        self.since_sweep = 0;
        self.revoked
            .retain(|_, until| until.saturating_add(MARGIN_MS) > now_ms);
        for map in [&mut self.bans, &mut self.mutes] {
            map.retain(|_, sanction| sanction.holds(now_ms.saturating_sub(MARGIN_MS)));
        }
    }
}

/// Checks whether an account may come in, by the gates that the store returned for it.
pub(crate) fn pass_by(
    gates: Vec<Gate>,
    account_id: &str,
    ids: &[&str],
    now_ms: u64,
) -> Result<(), Shut> {
    let mut known = Known::default();
    for gate in gates {
        known.learn(gate, now_ms, false);
    }
    known.pass(account_id, ids, now_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(kind: GateKind, account: &str, subject: &str, until_ms: u64) -> Gate {
        Gate {
            id: format!("{kind:?}:{account}:{subject}"),
            kind: kind.into(),
            account_id: account.to_owned(),
            subject: subject.to_owned(),
            reason: "why".to_owned(),
            until_ms,
            ..Gate::default()
        }
    }

    fn push(gates: &Gates, version: u64, rows: Vec<Gate>) -> Vec<(String, News)> {
        let update = GatesUpdate {
            version,
            incarnation: 1,
            gates: rows,
            ..GatesUpdate::default()
        };
        gates.learn(update, 1_000)
    }

    #[tokio::test(start_paused = true)]
    async fn memory_decides_for_five_seconds_after_a_push() {
        let gates = Gates::default();
        assert!(!gates.is_fresh(), "nothing was pushed yet");
        push(&gates, 1, Vec::new());
        assert!(gates.is_fresh());
        tokio::time::advance(FRESH).await;
        assert!(!gates.is_fresh());
        let some = GatesUpdate {
            more: true,
            ..GatesUpdate::default()
        };
        gates.learn(some, 1_000);
        assert!(!gates.is_fresh(), "there is more to come");
        push(&gates, 2, Vec::new());
        assert!(gates.is_fresh());
    }

    #[test]
    fn a_ban_holds_until_its_end_and_its_lifting() {
        let gates = Gates::default();
        let news = push(&gates, 1, vec![gate(GateKind::Ban, "a", "", 5_000)]);
        assert_eq!(news, [("a".to_owned(), News::Changed)]);
        let banned = gates.pass("a", &[], 4_999);
        assert!(matches!(banned, Err(Shut::Banned(ban)) if ban.reason == "why"));
        assert_eq!(gates.pass("a", &[], 5_000), Ok(()));
        assert_eq!(gates.pass("b", &[], 4_999), Ok(()));
        push(&gates, 2, vec![gate(GateKind::Ban, "a", "", 0)]);
        assert!(gates.pass("a", &[], u64::MAX).is_err(), "for ever");
        push(&gates, 3, vec![gate(GateKind::Ban, "a", "", 999)]);
        assert_eq!(gates.pass("a", &[], 1_000), Ok(()));
    }

    #[test]
    fn a_revoked_token_or_login_is_known_by_its_id() {
        let gates = Gates::default();
        push(&gates, 1, vec![gate(GateKind::Revoked, "a", "t", 9_000)]);
        assert_eq!(gates.pass("a", &["other", "t"], 1_000), Err(Shut::Revoked));
        assert_eq!(gates.pass("a", &["other"], 1_000), Ok(()));
        let asked = vec![gate(GateKind::Revoked, "a", "t", 9_000)];
        assert_eq!(pass_by(asked, "a", &["t"], 1_000), Err(Shut::Revoked));
    }

    #[test]
    fn a_mute_keeps_nobody_out() {
        let gates = Gates::default();
        let news = push(&gates, 1, vec![gate(GateKind::Mute, "a", "", 5_000)]);
        assert!(news.is_empty());
        assert!(gates.muted("a", 1_000).is_some() && gates.muted("a", 5_000).is_none());
        assert_eq!(gates.pass("a", &[], 1_000), Ok(()));
    }

    #[test]
    fn orders_count_once_and_only_while_they_are_young() {
        let gates = Gates::default();
        let kick = |until| vec![gate(GateKind::Kick, "a", "", until)];
        assert_eq!(push(&gates, 1, kick(2_000)).len(), 1);
        assert!(push(&gates, 2, kick(1_000)).is_empty(), "it is over");
        let all = GatesUpdate {
            whole: true,
            gates: kick(2_000),
            ..GatesUpdate::default()
        };
        assert!(
            gates.learn(all, 1_000).is_empty(),
            "meant for other sockets"
        );
    }

    #[test]
    fn a_whole_push_replaces_what_was_known() {
        let gates = Gates::default();
        push(&gates, 7, vec![gate(GateKind::Ban, "a", "", 0)]);
        let all = GatesUpdate {
            version: 2,
            incarnation: 2,
            whole: true,
            ..GatesUpdate::default()
        };
        gates.learn(all, 1_000);
        assert_eq!(gates.position(), (2, 2));
        assert_eq!(gates.pass("a", &[], 1_000), Ok(()));
    }
}
