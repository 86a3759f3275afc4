//! What the store says of who may come in: revoked tokens, bans and mutes, pushed to every
//! gateway.
//!
//! Always: while the push is not older than 5 s memory decides, else the store is asked each time;
//! whoever is in already hears of what is new at once; memory is bounded, and when there is more to
//! know than fits, the store is asked.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use proto::rpc::identity::v1::{Gate, GateKind, GatesUpdate};
use tokio::time::Instant;

/// A push that is older says nothing of now.
const FRESH: Duration = Duration::from_secs(5);
/// Gates that are remembered; beyond that the store is asked.
const GATES_MAX: usize = 500_000;
/// After so many more the ones that are over are forgotten.
const SWEEP_EVERY: usize = 10_000;

/// Why somebody is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shut {
    /// The token, or the login that it is from, was given up.
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

/// What a session of an account is to do about a gate that is new.
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

/// All gates that this gateway knows of.
#[derive(Debug, Default)]
pub(crate) struct Gates(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    version: u64,
    incarnation: u64,
    /// The end of the last push that left nothing out.
    heard: Option<Instant>,
    /// By token or login: when it would have ended.
    revoked: HashMap<String, u64>,
    bans: HashMap<String, Sanction>,
    mutes: HashMap<String, Sanction>,
    since_sweep: usize,
}

impl Gates {
    /// Up to where it knows all: version, and life of the store.
    pub(crate) fn position(&self) -> (u64, u64) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (known.version, known.incarnation)
    }

    /// Whether what is known here is how things are.
    pub(crate) fn is_fresh(&self) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.heard.is_some_and(|heard| heard.elapsed() < FRESH) && !known.is_full()
    }

    /// Whether an account may come in by a token or login of these ids, as far as is known here.
    pub(crate) fn pass(&self, account_id: &str, ids: &[&str], now_ms: u64) -> Result<(), Shut> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.pass(account_id, ids, now_ms)
    }

    /// A token or login was given up by way of this gateway: the push will say so too.
    pub(crate) fn revoked(&self, id: &str, until_ms: u64) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !known.is_full() {
            known.revoked.insert(id.to_owned(), until_ms);
        }
    }

    /// Whether an account may not chat.
    pub(crate) fn muted(&self, account_id: &str, now_ms: u64) -> Option<Sanction> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mute = known.mutes.get(account_id)?;
        mute.holds(now_ms).then(|| mute.clone())
    }

    /// Takes a push; what sessions of which accounts must hear of it.
    pub(crate) fn learn(&self, update: GatesUpdate, now_ms: u64) -> Vec<(String, News)> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Orders of the time before were given to sockets that are gone.
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
            // Of a later version, or an order that is for nobody here any more.
            GateKind::Revoked | GateKind::Kick | GateKind::Teleport | GateKind::Unspecified => None,
        }
    }

    /// Forgets what is over. Clocks differ a little, and a token is good for some seconds more.
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

/// The same decision by what the store itself says of an account.
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
