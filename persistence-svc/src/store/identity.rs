//! Identity in the terms of the store: accounts, sanctions and the audit_log of operators.
//!
//! Always: versions of sanctions grow in the order in which their transactions commit. So a watcher
//! that has version 7 misses nothing that is 7 or lower.

use proto::rpc::OPERATOR_ROLE;
use strum::{EnumString, IntoStaticStr};

use super::error::{Result, StoreError};
use super::row::{FromRow, Read, Row};

/// Most sanctions of one read.
pub(crate) const SANCTIONS_MAX: i64 = 500;
/// Time for which a late watcher still gets an order to close or move sockets.
pub(crate) const ORDER_MS: i64 = 60_000;

/// Kind of a sanction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum SanctionKind {
    Revoked,
    Ban,
    Mute,
    Kick,
    Teleport,
}

impl SanctionKind {
    /// Returns the name that the column keeps.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Reads the kind from a column; an unknown name revokes nothing and bans nobody.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Fact about an account for gateways: one row of `sanctions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sanction {
    pub(crate) id: String,
    pub(crate) kind: SanctionKind,
    pub(crate) account_id: String,
    pub(crate) subject: String,
    pub(crate) reason: String,
    /// End; `None`: for ever.
    pub(crate) until_ms: Option<i64>,
    pub(crate) by: String,
    pub(crate) at_ms: i64,
    pub(crate) x: i32,
    pub(crate) z: i32,
    pub(crate) version: i64,
}

impl Sanction {
    /// Reads a row of [`SANCTION`].
    pub(crate) fn from_row<R: Row>(row: &R) -> Result<Sanction>
    where
        StoreError: From<R::Error>,
    {
        let kind: String = row.column(1)?;
        Ok(Sanction {
            id: row.column(0)?,
            kind: SanctionKind::parse(&kind)
                .ok_or_else(|| StoreError::Broken(format!("a sanction of the kind {kind:?}")))?,
            account_id: row.column(2)?,
            subject: row.column(3)?,
            reason: row.column(4)?,
            until_ms: row.column(5)?,
            by: row.column(6)?,
            at_ms: row.column(7)?,
            x: row.column(8)?,
            z: row.column(9)?,
            version: row.column(10)?,
        })
    }

    /// Builds the sanction of a token or login that is no longer valid; the store sets the time of
    /// writing.
    pub(crate) fn revoked(account: &str, id: &str, until_ms: i64, version: i64) -> Self {
        Self {
            id: format!("revoked:{id}"),
            kind: SanctionKind::Revoked,
            account_id: account.to_owned(),
            subject: id.to_owned(),
            reason: String::new(),
            until_ms: Some(until_ms),
            by: String::new(),
            at_ms: 0,
            x: 0,
            z: 0,
            version,
        }
    }
}

/// The columns of a sanction, in the order of [`Sanction`].
pub(crate) const SANCTION: &str =
    r#"id, kind, "accountId", subject, reason, until, "by", at, x, z, version"#;

/// Signs in the subject that the identity provider names.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) subject: String,
    /// Device key of the anonymous account that the subject claims.
    pub(crate) device_key: Option<[u8; 32]>,
}

/// AuditAction that an operator may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum AuditAction {
    Kick,
    Ban,
    Unban,
    Mute,
    Unmute,
    Teleport,
    Announce,
    Freeze,
    Unfreeze,
    /// The account has just these roles from now on.
    Roles,
    /// The account becomes an operator, as long as no account is one.
    #[strum(serialize = "first-operator")]
    FirstOperator,
    /// A zone gives its regions away; another call does it.
    Drain,
    /// A region is played by nobody until an operator resumes it; another call does it.
    #[strum(serialize = "pause-region")]
    PauseRegion,
    /// A paused region is played again; another call does it.
    #[strum(serialize = "resume-region")]
    ResumeRegion,
    /// A character leaves quarantine; another call does it.
    #[strum(serialize = "release-character")]
    ReleaseCharacter,
    /// The run of a zone is recorded; another call does it.
    Record,
    /// The processor of a process is sampled; another call does it.
    Profile,
    /// A process is broken for trial; another call does it.
    Chaos,
}

impl AuditAction {
    /// Returns the name in the record.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it concerns everybody, and names no account.
    pub(crate) const fn of_all(self) -> bool {
        match self {
            Self::Announce
            | Self::Freeze
            | Self::Unfreeze
            | Self::Drain
            | Self::PauseRegion
            | Self::ResumeRegion
            | Self::ReleaseCharacter
            | Self::Record
            | Self::Profile
            | Self::Chaos => true,
            Self::Kick
            | Self::Ban
            | Self::Unban
            | Self::Mute
            | Self::Unmute
            | Self::Teleport
            | Self::Roles
            | Self::FirstOperator => false,
        }
    }

    /// Returns the new state of the switch that freezes exchanges; `None`: it leaves the switch
    /// alone.
    pub(crate) const fn frozen(self) -> Option<bool> {
        match self {
            Self::Freeze => Some(true),
            Self::Unfreeze => Some(false),
            _ => None,
        }
    }
}

/// Whether an account other than $1 has the role $2.
pub(crate) const OTHER_OPERATOR: &str = "SELECT EXISTS (SELECT 1 FROM users
 WHERE roles <> '' AND id <> $1 AND ',' || roles || ',' LIKE '%,' || CAST($2 AS text) || ',%')";

/// One action of an operator.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) action: AuditAction,
    pub(crate) by: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) reason: String,
    /// End; `None`: for ever.
    pub(crate) until_ms: Option<i64>,
    pub(crate) x: i32,
    pub(crate) z: i32,
    /// New roles, with [`AuditAction::Roles`].
    pub(crate) roles: Vec<String>,
}

impl Act {
    /// Returns the sanction that it opens or closes, at `now_ms` and under `version`; `fresh`: an
    /// id for an action that counts once.
    pub(crate) fn sanction(&self, now_ms: i64, version: i64, fresh: &str) -> Option<Sanction> {
        let account = self.account_id.as_str();
        let (kind, id, until_ms) = match self.action {
            AuditAction::Ban => (SanctionKind::Ban, format!("ban:{account}"), self.until_ms),
            AuditAction::Unban => (SanctionKind::Ban, format!("ban:{account}"), Some(now_ms)),
            AuditAction::Mute => (SanctionKind::Mute, format!("mute:{account}"), self.until_ms),
            AuditAction::Unmute => (SanctionKind::Mute, format!("mute:{account}"), Some(now_ms)),
            AuditAction::Kick => (
                SanctionKind::Kick,
                fresh.to_owned(),
                Some(now_ms + ORDER_MS),
            ),
            AuditAction::Teleport => (
                SanctionKind::Teleport,
                fresh.to_owned(),
                Some(now_ms + ORDER_MS),
            ),
            AuditAction::Announce
            | AuditAction::Freeze
            | AuditAction::Unfreeze
            | AuditAction::Roles
            | AuditAction::FirstOperator
            | AuditAction::Drain
            | AuditAction::PauseRegion
            | AuditAction::ResumeRegion
            | AuditAction::ReleaseCharacter
            | AuditAction::Record
            | AuditAction::Profile
            | AuditAction::Chaos => return None,
        };
        Some(Sanction {
            id,
            kind,
            account_id: self.account_id.clone(),
            subject: self.character_id.clone(),
            reason: self.reason.clone(),
            until_ms,
            by: self.by.clone(),
            at_ms: now_ms,
            x: self.x,
            z: self.z,
            version,
        })
    }

    /// Returns the roles of its account from now on; `None`: they stay as they are. `own`: the
    /// roles before; `others`: whether another account has the role of operators.
    pub(crate) fn new_roles(&self, own: &[String], others: bool) -> Result<Option<Vec<String>>> {
        let operates = |roles: &[String]| roles.iter().any(|role| role == OPERATOR_ROLE);
        match self.action {
            AuditAction::Roles if operates(own) && !operates(&self.roles) && !others => {
                Err(StoreError::LastOperator)
            }
            AuditAction::Roles => Ok(Some(self.roles.clone())),
            // A repeated call finds what the first one did.
            AuditAction::FirstOperator if operates(own) => Ok(None),
            AuditAction::FirstOperator if others => Err(StoreError::OperatorExists),
            AuditAction::FirstOperator => {
                let mut roles = own.to_vec();
                roles.push(OPERATOR_ROLE.to_owned());
                roles.sort_unstable();
                Ok(Some(roles))
            }
            AuditAction::Kick
            | AuditAction::Ban
            | AuditAction::Unban
            | AuditAction::Mute
            | AuditAction::Unmute
            | AuditAction::Teleport
            | AuditAction::Announce
            | AuditAction::Freeze
            | AuditAction::Unfreeze
            | AuditAction::Drain
            | AuditAction::PauseRegion
            | AuditAction::ResumeRegion
            | AuditAction::ReleaseCharacter
            | AuditAction::Record
            | AuditAction::Profile
            | AuditAction::Chaos => Ok(None),
        }
    }

    /// Returns the details for the record, beside the operator, the account and the time.
    pub(crate) fn detail(&self) -> String {
        let until = match (self.action, self.until_ms) {
            (AuditAction::Ban | AuditAction::Mute, Some(until)) => format!(" (until {until})"),
            (AuditAction::Ban | AuditAction::Mute, None) => " (for ever)".to_owned(),
            (AuditAction::Teleport, _) => format!(" (to {}, {})", self.x, self.z),
            (AuditAction::Roles, _) if self.roles.is_empty() => " (none)".to_owned(),
            (AuditAction::Roles, _) => format!(" ({})", self.roles.join(", ")),
            _ => String::new(),
        };
        format!("{}{until}", self.reason).trim().to_owned()
    }
}

/// Record of an operator's action: one row of `audit_log`.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) id: i64,
    pub(crate) at_ms: i64,
    pub(crate) by: String,
    pub(crate) action: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) detail: String,
}

/// The newest records of operators before $1, at most $2.
pub(crate) const DONE: &str = r#"SELECT id, at, "by", action, "accountId", "characterId", detail
 FROM audit_log WHERE id < $1 ORDER BY id DESC LIMIT $2"#;

/// Reads a row of [`DONE`].
impl FromRow for Done {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Done {
            id: row.column(0)?,
            at_ms: row.column(1)?,
            by: row.column(2)?,
            action: row.column(3)?,
            account_id: row.column(4)?,
            character_id: row.column(5)?,
            detail: row.column(6)?,
        })
    }
}

/// Accounts that a login with a device key finds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The account that the subject has already.
    pub(crate) own: Option<&'a str>,
    /// Account of the key, and whether it is still anonymous.
    pub(crate) keyed: Option<(&'a str, bool)>,
}

/// Outcome of a claim for the two accounts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// There is nothing to claim: the subject gets its own account, perhaps a new one.
    Nothing,
    /// The anonymous account becomes the subject's.
    Becomes,
    /// Its characters move to the account that the subject has.
    Moves,
}

/// Decides on a claim. An unknown key keeps nobody out.
pub(crate) fn claim(found: Found<'_>) -> Result<Claim> {
    match (found.own, found.keyed) {
        (_, None) => Ok(Claim::Nothing),
        (Some(own), Some((keyed, _))) if own == keyed => Ok(Claim::Nothing),
        (_, Some((_, false))) => Err(StoreError::KeyClaimed),
        (None, Some((_, true))) => Ok(Claim::Becomes),
        (Some(_), Some((_, true))) => Ok(Claim::Moves),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(action: AuditAction) -> Act {
        Act {
            action,
            by: "account:1".to_owned(),
            account_id: "a".to_owned(),
            character_id: "c".to_owned(),
            reason: "why".to_owned(),
            until_ms: None,
            x: 3,
            z: 4,
            roles: vec!["admin".to_owned(), "moderator".to_owned()],
        }
    }

    #[test]
    fn a_ban_and_its_end_are_the_same_sanction() {
        let ban = act(AuditAction::Ban).sanction(100, 7, "x").unwrap();
        let end = act(AuditAction::Unban).sanction(200, 8, "x").unwrap();
        assert_eq!(ban.id, end.id);
        assert_eq!((ban.until_ms, end.until_ms), (None, Some(200)));
        assert_ne!(
            ban.id,
            act(AuditAction::Mute).sanction(100, 7, "x").unwrap().id
        );
    }

    #[test]
    fn a_key_is_claimed_once() {
        let decide = |own, keyed| claim(Found { own, keyed }).ok();
        assert_eq!(decide(None, None), Some(Claim::Nothing));
        assert_eq!(decide(Some("p"), None), Some(Claim::Nothing));
        assert_eq!(decide(None, Some(("d", true))), Some(Claim::Becomes));
        assert_eq!(decide(Some("p"), Some(("d", true))), Some(Claim::Moves));
        // The same subject claims it again, then another subject does.
        assert_eq!(decide(Some("d"), Some(("d", false))), Some(Claim::Nothing));
        assert_eq!(decide(Some("p"), Some(("d", false))), None);
        assert_eq!(decide(None, Some(("d", false))), None);
    }

    #[test]
    fn orders_end_by_themselves_and_what_concerns_all_is_no_sanction() {
        for action in [AuditAction::Kick, AuditAction::Teleport] {
            let sanction = act(action).sanction(100, 7, "fresh").unwrap();
            assert_eq!(
                (sanction.id.as_str(), sanction.until_ms),
                ("fresh", Some(60_100))
            );
        }
        for action in [
            AuditAction::Announce,
            AuditAction::Freeze,
            AuditAction::Unfreeze,
        ] {
            assert!(action.of_all() && act(action).sanction(1, 1, "x").is_none());
        }
        for action in [
            AuditAction::Drain,
            AuditAction::PauseRegion,
            AuditAction::ResumeRegion,
            AuditAction::ReleaseCharacter,
            AuditAction::Record,
            AuditAction::Profile,
            AuditAction::Chaos,
        ] {
            assert!(action.of_all() && act(action).sanction(1, 1, "x").is_none());
        }
        assert!(
            !AuditAction::Roles.of_all() && act(AuditAction::Roles).sanction(1, 1, "x").is_none()
        );
        assert_eq!(act(AuditAction::Roles).detail(), "why (admin, moderator)");
        assert_eq!(act(AuditAction::Ban).detail(), "why (for ever)");
        assert_eq!(act(AuditAction::Teleport).detail(), "why (to 3, 4)");
    }

    #[test]
    fn the_code_makes_one_operator_and_the_last_one_stays() {
        let decide = |action, given: &[&str], own: &[&str], others| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let act = Act {
                roles: owned(given),
                ..act(action)
            };
            let own: Vec<String> = owned(own);
            let roles = act
                .new_roles(&own, others)
                .map_err(|error| error.to_string());
            roles.map(|roles| roles.map(|roles| roles.join(",")))
        };
        let some = |roles: &str| Ok(Some(roles.to_owned()));
        let first = |own: &[&str], others| decide(AuditAction::FirstOperator, &[], own, others);
        assert_eq!(first(&[], false), some("admin"));
        assert_eq!(first(&["moderator"], false), some("admin,moderator"));
        assert_eq!(first(&["admin"], true), Ok(None), "repeated");
        assert!(first(&[], true).unwrap_err().contains("operator"));
        let give =
            |given: &[&str], own: &[&str], others| decide(AuditAction::Roles, given, own, others);
        assert!(give(&[], &["admin"], false).unwrap_err().contains("last"));
        assert!(give(&["moderator"], &["admin"], false).is_err());
        assert_eq!(give(&["moderator"], &["admin"], true), some("moderator"));
        assert_eq!(give(&["admin"], &["admin"], false), some("admin"));
        assert_eq!(give(&[], &["moderator"], false), some(""));
        assert_eq!(decide(AuditAction::Ban, &[], &["admin"], false), Ok(None));
    }
}
