//! The sanctions of accounts: revoked tokens, bans and mutes, which the store pushes to every gateway.
//!
//! Always: while the last push is not older than 5 s, memory decides; else the gateway asks the
//! store each time. Running sessions hear of a new sanction at once. Memory is bounded; when the sanctions
//! do not fit, the gateway asks the store.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use proto::rpc::identity::v1::{Sanction, SanctionKind, SanctionsUpdate};
use tokio::time::Instant;

/// A push that is older does not count.
const FRESH: Duration = Duration::from_secs(5);
/// Sanctions in memory at most; beyond that the gateway asks the store.
const SANCTIONS_MAX: usize = 500_000;
/// New sanctions after which the gateway forgets the expired ones.
const SWEEP_EVERY: usize = 10_000;

/// Reason why an account may not come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shut {
    /// The account is gone.
    Deleted,
    /// A revoked token or login.
    Revoked,
    Banned(Penalty),
}

/// A ban or a mute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Penalty {
    /// Milliseconds since 1970; `None`: for ever.
    pub(crate) until_ms: Option<u64>,
    pub(crate) reason: String,
}

/// Order to the sessions of an account, caused by a new sanction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// Look at the sanctions again.
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

/// All sanctions that this gateway knows.
#[derive(Debug, Default)]
pub(crate) struct Sanctions(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    version: u64,
    incarnation: u64,
    /// When the last complete push ended.
    heard: Option<Instant>,
    /// Natural end of each revoked token or login, in milliseconds since 1970.
    revoked: HashMap<String, u64>,
    bans: HashMap<String, Penalty>,
    mutes: HashMap<String, Penalty>,
    since_sweep: usize,
}

impl Sanctions {
    /// Returns the last position of the push: the version, and the store's incarnation.
    pub(crate) fn position(&self) -> (u64, u64) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (known.version, known.incarnation)
    }

    /// Returns whether memory may decide: the last push is fresh, and all sanctions fit.
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

    /// Returns whether the account was deleted while one of its tokens could be good.
    pub(crate) fn is_deleted(&self, account_id: &str) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.revoked.contains_key(account_id)
    }

    /// Returns the mute in force for an account, if there is one.
    pub(crate) fn muted(&self, account_id: &str, now_ms: u64) -> Option<Penalty> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mute = known.mutes.get(account_id)?;
        mute.holds(now_ms).then(|| mute.clone())
    }

    /// Takes a push. Returns the accounts whose sessions must hear of it, each with its news.
    pub(crate) fn learn(&self, update: SanctionsUpdate, now_ms: u64) -> Vec<(String, News)> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // A whole push repeats old orders, whose sockets are gone.
        let whole = update.whole;
        if whole {
            *known = Known::default();
        }
        let mut news = Vec::new();
        for sanction in update.sanctions {
            let account = sanction.account_id.clone();
            if let Some(heard) = known.learn(sanction, now_ms, !whole) {
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

impl Penalty {
    fn holds(&self, now_ms: u64) -> bool {
        self.until_ms.is_none_or(|until| now_ms < until)
    }
}

impl Known {
    fn is_full(&self) -> bool {
        self.revoked.len() + self.bans.len() + self.mutes.len() >= SANCTIONS_MAX
    }

    fn pass(&self, account_id: &str, ids: &[&str], now_ms: u64) -> Result<(), Shut> {
        if let Some(ban) = self.bans.get(account_id)
            && ban.holds(now_ms)
        {
            return Err(Shut::Banned(ban.clone()));
        }
        // The end of an account is the revocation of the account itself.
        if self.revoked.contains_key(account_id) {
            return Err(Shut::Deleted);
        }
        if ids.iter().any(|id| self.revoked.contains_key(*id)) {
            return Err(Shut::Revoked);
        }
        Ok(())
    }

    fn learn(&mut self, sanction: Sanction, now_ms: u64, orders: bool) -> Option<News> {
        let until_ms = (sanction.until_ms > 0).then_some(sanction.until_ms);
        let over = until_ms.is_some_and(|until| until <= now_ms);
        if SanctionKind::try_from(sanction.kind).is_err() {
            // A gateway of that version reads it again from the beginning.
            let (id, kind) = (&sanction.id, sanction.kind);
            tracing::warn!(
                id,
                kind,
                "this version does not know a kind of sanction; it has no effect here"
            );
        }
        let (kind, account) = (sanction.kind(), sanction.account_id);
        let penalty = Penalty {
            until_ms,
            reason: sanction.reason,
        };
        self.since_sweep += 1;
        let full = self.is_full();
        let set = |map: &mut HashMap<String, Penalty>| {
            if over {
                map.remove(&account);
            } else if !full {
                map.insert(account.clone(), penalty.clone());
            }
        };
        match kind {
            SanctionKind::Revoked if !full => {
                if sanction.subject == account {
                    self.mutes.remove(&account);
                }
                self.revoked.insert(sanction.subject, sanction.until_ms);
                Some(News::Changed)
            }
            SanctionKind::Ban => {
                set(&mut self.bans);
                (!over).then_some(News::Changed)
            }
            SanctionKind::Mute => {
                set(&mut self.mutes);
                None
            }
            SanctionKind::Kick if orders && !over => Some(News::Kicked {
                reason: penalty.reason,
            }),
            SanctionKind::Teleport if orders && !over => Some(News::Teleported {
                character_id: sanction.subject,
                x: sanction.x,
                z: sanction.z,
            }),
            // A kind of a newer version, a stale order, or a revocation that does not fit.
            SanctionKind::Revoked
            | SanctionKind::Kick
            | SanctionKind::Teleport
            | SanctionKind::Unspecified => None,
        }
    }

    /// Forgets expired sanctions, a minute late: clocks differ a little, and tokens have a leeway.
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

/// Checks whether an account may come in, by the sanctions that the store returned for it.
pub(crate) fn pass_by(
    sanctions: Vec<Sanction>,
    account_id: &str,
    ids: &[&str],
    now_ms: u64,
) -> Result<(), Shut> {
    let mut known = Known::default();
    for sanction in sanctions {
        known.learn(sanction, now_ms, false);
    }
    known.pass(account_id, ids, now_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanction(kind: SanctionKind, account: &str, subject: &str, until_ms: u64) -> Sanction {
        Sanction {
            id: format!("{kind:?}:{account}:{subject}"),
            kind: kind.into(),
            account_id: account.to_owned(),
            subject: subject.to_owned(),
            reason: "why".to_owned(),
            until_ms,
            ..Sanction::default()
        }
    }

    fn push(sanctions: &Sanctions, version: u64, rows: Vec<Sanction>) -> Vec<(String, News)> {
        let update = SanctionsUpdate {
            version,
            incarnation: 1,
            sanctions: rows,
            ..SanctionsUpdate::default()
        };
        sanctions.learn(update, 1_000)
    }

    #[tokio::test(start_paused = true)]
    async fn memory_decides_for_five_seconds_after_a_push() {
        let sanctions = Sanctions::default();
        assert!(!sanctions.is_fresh(), "nothing was pushed yet");
        push(&sanctions, 1, Vec::new());
        assert!(sanctions.is_fresh());
        tokio::time::advance(FRESH).await;
        assert!(!sanctions.is_fresh());
        let some = SanctionsUpdate {
            more: true,
            ..SanctionsUpdate::default()
        };
        sanctions.learn(some, 1_000);
        assert!(!sanctions.is_fresh(), "there is more to come");
        push(&sanctions, 2, Vec::new());
        assert!(sanctions.is_fresh());
    }

    #[test]
    fn a_sanction_of_a_newer_version_has_no_effect() {
        let sanctions = Sanctions::default();
        let newer = Sanction {
            kind: 1_000_000,
            ..sanction(SanctionKind::Ban, "a", "", 5_000)
        };
        let mute = sanction(SanctionKind::Mute, "b", "", 5_000);
        assert_eq!(push(&sanctions, 1, vec![newer.clone(), mute]), []);
        assert_eq!(sanctions.pass("a", &[], 1_000), Ok(()));
        assert_eq!(pass_by(vec![newer], "a", &[], 1_000), Ok(()));
        assert!(
            sanctions.muted("b", 1_000).is_some(),
            "the row after it counts"
        );
    }

    #[test]
    fn a_ban_holds_until_its_end_and_its_lifting() {
        let sanctions = Sanctions::default();
        let news = push(
            &sanctions,
            1,
            vec![sanction(SanctionKind::Ban, "a", "", 5_000)],
        );
        assert_eq!(news, [("a".to_owned(), News::Changed)]);
        let banned = sanctions.pass("a", &[], 4_999);
        assert!(matches!(banned, Err(Shut::Banned(ban)) if ban.reason == "why"));
        assert_eq!(sanctions.pass("a", &[], 5_000), Ok(()));
        assert_eq!(sanctions.pass("b", &[], 4_999), Ok(()));
        push(&sanctions, 2, vec![sanction(SanctionKind::Ban, "a", "", 0)]);
        assert!(sanctions.pass("a", &[], u64::MAX).is_err(), "for ever");
        push(
            &sanctions,
            3,
            vec![sanction(SanctionKind::Ban, "a", "", 999)],
        );
        assert_eq!(sanctions.pass("a", &[], 1_000), Ok(()));
    }

    #[test]
    fn a_revoked_token_or_login_is_known_by_its_id() {
        let sanctions = Sanctions::default();
        push(
            &sanctions,
            1,
            vec![sanction(SanctionKind::Revoked, "a", "t", 9_000)],
        );
        assert_eq!(
            sanctions.pass("a", &["other", "t"], 1_000),
            Err(Shut::Revoked)
        );
        assert_eq!(sanctions.pass("a", &["other"], 1_000), Ok(()));
        let asked = vec![sanction(SanctionKind::Revoked, "a", "t", 9_000)];
        assert_eq!(pass_by(asked, "a", &["t"], 1_000), Err(Shut::Revoked));
    }

    #[test]
    fn no_token_of_an_account_that_is_gone_is_good() {
        let sanctions = Sanctions::default();
        let rows = vec![
            sanction(SanctionKind::Mute, "a", "", 0),
            sanction(SanctionKind::Revoked, "a", "a", 9_000),
        ];
        let news = push(&sanctions, 1, rows);
        assert_eq!(news, [("a".to_owned(), News::Changed)]);
        assert_eq!(sanctions.pass("a", &["any"], 1_000), Err(Shut::Deleted));
        assert_eq!(sanctions.pass("b", &["any"], 1_000), Ok(()));
        assert!(sanctions.is_deleted("a") && !sanctions.is_deleted("b"));
        assert!(sanctions.muted("a", 1_000).is_none(), "nothing else stays");
    }

    #[test]
    fn a_mute_keeps_nobody_out() {
        let sanctions = Sanctions::default();
        let news = push(
            &sanctions,
            1,
            vec![sanction(SanctionKind::Mute, "a", "", 5_000)],
        );
        assert!(news.is_empty());
        assert!(sanctions.muted("a", 1_000).is_some() && sanctions.muted("a", 5_000).is_none());
        assert_eq!(sanctions.pass("a", &[], 1_000), Ok(()));
    }

    #[test]
    fn orders_count_once_and_only_while_they_are_young() {
        let sanctions = Sanctions::default();
        let kick = |until| vec![sanction(SanctionKind::Kick, "a", "", until)];
        assert_eq!(push(&sanctions, 1, kick(2_000)).len(), 1);
        assert!(push(&sanctions, 2, kick(1_000)).is_empty(), "it is over");
        let all = SanctionsUpdate {
            whole: true,
            sanctions: kick(2_000),
            ..SanctionsUpdate::default()
        };
        assert!(
            sanctions.learn(all, 1_000).is_empty(),
            "meant for other sockets"
        );
    }

    #[test]
    fn a_whole_push_replaces_what_was_known() {
        let sanctions = Sanctions::default();
        push(&sanctions, 7, vec![sanction(SanctionKind::Ban, "a", "", 0)]);
        let all = SanctionsUpdate {
            version: 2,
            incarnation: 2,
            whole: true,
            ..SanctionsUpdate::default()
        };
        sanctions.learn(all, 1_000);
        assert_eq!(sanctions.position(), (2, 2));
        assert_eq!(sanctions.pass("a", &[], 1_000), Ok(()));
    }
}
