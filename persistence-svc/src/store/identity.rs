//! Who may come in, as the store speaks of it.
//!
//! Always: versions of gates grow in the order in which their transactions commit, so that who has
//! heard version 7 misses nothing that is 7 or lower.

use super::error::{Result, StoreError};

/// The most gates that are read at once.
pub(crate) const GATES_MAX: i64 = 500;
/// How long an order to close or move sockets is told to who comes late.
pub(crate) const ORDER_MS: i64 = 60_000;

/// What a gate is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateKind {
    Revoked,
    Ban,
    Mute,
    Kick,
    Teleport,
}

impl GateKind {
    /// As the column keeps it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::Ban => "ban",
            Self::Mute => "mute",
            Self::Kick => "kick",
            Self::Teleport => "teleport",
        }
    }

    /// Of a column; whatever is unknown revokes nothing and bans nobody.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let all = [
            Self::Revoked,
            Self::Ban,
            Self::Mute,
            Self::Kick,
            Self::Teleport,
        ];
        all.into_iter().find(|kind| kind.name() == text)
    }
}

/// Something that gateways must know of an account: one row of `gates`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) id: String,
    pub(crate) kind: GateKind,
    pub(crate) account_id: String,
    pub(crate) subject: String,
    pub(crate) reason: String,
    /// None: for ever.
    pub(crate) until_ms: Option<i64>,
    pub(crate) by: String,
    pub(crate) at_ms: i64,
    pub(crate) x: i32,
    pub(crate) z: i32,
    pub(crate) version: i64,
}

impl Gate {
    /// A token or login that is good for nothing; the store says when it was written.
    pub(crate) fn revoked(account: &str, id: &str, until_ms: i64, version: i64) -> Self {
        Self {
            id: format!("revoked:{id}"),
            kind: GateKind::Revoked,
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

/// The columns of a gate, in the order of [`Gate`].
pub(crate) const GATE: &str =
    r#"id, kind, "accountId", subject, reason, until, "by", at, x, z, version"#;

/// Signs in whom the identity provider names.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) subject: String,
    /// Whose anonymous account is claimed.
    pub(crate) device_key: Option<[u8; 32]>,
}

/// What an operator may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
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
}

impl Deed {
    /// As the record has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kick => "kick",
            Self::Ban => "ban",
            Self::Unban => "unban",
            Self::Mute => "mute",
            Self::Unmute => "unmute",
            Self::Teleport => "teleport",
            Self::Announce => "announce",
            Self::Freeze => "freeze",
            Self::Unfreeze => "unfreeze",
            Self::Roles => "roles",
        }
    }

    /// It concerns everybody, and names no account.
    pub(crate) const fn of_all(self) -> bool {
        matches!(self, Self::Announce | Self::Freeze | Self::Unfreeze)
    }

    /// What it makes of the switch that freezes exchanges.
    pub(crate) const fn frozen(self) -> Option<bool> {
        match self {
            Self::Freeze => Some(true),
            Self::Unfreeze => Some(false),
            _ => None,
        }
    }
}

/// One deed of an operator.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) deed: Deed,
    pub(crate) by: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) reason: String,
    /// None: for ever.
    pub(crate) until_ms: Option<i64>,
    pub(crate) x: i32,
    pub(crate) z: i32,
    /// With [`Deed::Roles`].
    pub(crate) roles: Vec<String>,
}

impl Act {
    /// The gate that it opens or closes, at `now_ms` and under `version`; `fresh`: an id for what
    /// counts once.
    pub(crate) fn gate(&self, now_ms: i64, version: i64, fresh: &str) -> Option<Gate> {
        let account = self.account_id.as_str();
        let (kind, id, until_ms) = match self.deed {
            Deed::Ban => (GateKind::Ban, format!("ban:{account}"), self.until_ms),
            Deed::Unban => (GateKind::Ban, format!("ban:{account}"), Some(now_ms)),
            Deed::Mute => (GateKind::Mute, format!("mute:{account}"), self.until_ms),
            Deed::Unmute => (GateKind::Mute, format!("mute:{account}"), Some(now_ms)),
            Deed::Kick => (GateKind::Kick, fresh.to_owned(), Some(now_ms + ORDER_MS)),
            Deed::Teleport => (
                GateKind::Teleport,
                fresh.to_owned(),
                Some(now_ms + ORDER_MS),
            ),
            Deed::Announce | Deed::Freeze | Deed::Unfreeze | Deed::Roles => return None,
        };
        Some(Gate {
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

    /// What the record says beside who, whom and when.
    pub(crate) fn detail(&self) -> String {
        let until = match (self.deed, self.until_ms) {
            (Deed::Ban | Deed::Mute, Some(until)) => format!(" (until {until})"),
            (Deed::Ban | Deed::Mute, None) => " (for ever)".to_owned(),
            (Deed::Teleport, _) => format!(" (to {}, {})", self.x, self.z),
            (Deed::Roles, _) if self.roles.is_empty() => " (none)".to_owned(),
            (Deed::Roles, _) => format!(" ({})", self.roles.join(", ")),
            _ => String::new(),
        };
        format!("{}{until}", self.reason).trim().to_owned()
    }
}

/// What an operator did: one row of `deeds`.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) id: i64,
    pub(crate) at_ms: i64,
    pub(crate) by: String,
    pub(crate) deed: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) detail: String,
}

/// What a login with a device key finds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The account that the subject has already.
    pub(crate) own: Option<&'a str>,
    /// The account of the key, and whether it is anonymous still.
    pub(crate) keyed: Option<(&'a str, bool)>,
}

/// What becomes of the two accounts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// There is nothing to claim: the subject's own account, which may have to be made.
    Nothing,
    /// The anonymous account becomes the subject's.
    Becomes,
    /// Its characters move to the account that the subject has.
    Moves,
}

/// Decides on a claim. A key that nobody has is no reason to keep anybody out.
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

    fn act(deed: Deed) -> Act {
        Act {
            deed,
            by: "operator:1".to_owned(),
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
    fn a_ban_and_its_end_are_the_same_gate() {
        let ban = act(Deed::Ban).gate(100, 7, "x").unwrap();
        let end = act(Deed::Unban).gate(200, 8, "x").unwrap();
        assert_eq!(ban.id, end.id);
        assert_eq!((ban.until_ms, end.until_ms), (None, Some(200)));
        assert_ne!(ban.id, act(Deed::Mute).gate(100, 7, "x").unwrap().id);
    }

    #[test]
    fn a_key_is_claimed_once() {
        let decide = |own, keyed| claim(Found { own, keyed }).ok();
        assert_eq!(decide(None, None), Some(Claim::Nothing));
        assert_eq!(decide(Some("p"), None), Some(Claim::Nothing));
        assert_eq!(decide(None, Some(("d", true))), Some(Claim::Becomes));
        assert_eq!(decide(Some("p"), Some(("d", true))), Some(Claim::Moves));
        // Asked again by who has it, and by somebody else.
        assert_eq!(decide(Some("d"), Some(("d", false))), Some(Claim::Nothing));
        assert_eq!(decide(Some("p"), Some(("d", false))), None);
        assert_eq!(decide(None, Some(("d", false))), None);
    }

    #[test]
    fn orders_end_by_themselves_and_what_concerns_all_is_no_gate() {
        for deed in [Deed::Kick, Deed::Teleport] {
            let gate = act(deed).gate(100, 7, "fresh").unwrap();
            assert_eq!((gate.id.as_str(), gate.until_ms), ("fresh", Some(60_100)));
        }
        for deed in [Deed::Announce, Deed::Freeze, Deed::Unfreeze] {
            assert!(deed.of_all() && act(deed).gate(1, 1, "x").is_none());
        }
        assert!(!Deed::Roles.of_all() && act(Deed::Roles).gate(1, 1, "x").is_none());
        assert_eq!(act(Deed::Roles).detail(), "why (admin, moderator)");
        assert_eq!(act(Deed::Ban).detail(), "why (for ever)");
        assert_eq!(act(Deed::Teleport).detail(), "why (to 3, 4)");
    }
}
