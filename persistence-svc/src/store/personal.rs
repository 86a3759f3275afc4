//! Personal data: its export, its removal with the account, and the expiry of guests.
//!
//! Always: an account goes whole or not at all, in one transaction. The ledger writes off all that
//! its characters have, and keeps their bare ids. Nothing else leads to the person, except the
//! revocation of the account's tokens, for as long as one of them could be good.

use super::DAY_MS;
use super::row::{FromRow, Read, Row};
use super::value::{DELETED, WrittenOff};

/// Longest time for which a token of a gateway is good, and some more.
pub(crate) const TOKENS_MS: i64 = DAY_MS;
/// Longest time between two looks at a guest, so that a shorter setting counts by then.
const LOOK_MS: i64 = 30 * DAY_MS;
/// Time until the next look at a guest that cannot go right now.
const AGAIN_MS: i64 = 7 * DAY_MS;
/// Most rows of one read of an account's part of the ledger.
pub(crate) const LEDGER_MAX: i64 = 1_000;
/// Most records of operators and most sanctions in an export.
pub(crate) const RECORDS_MAX: i64 = 1_000;
/// Owner of the things on the ground that waited for a deleted character. No character has this
/// id, so the things lie until their ticks end.
pub(crate) const NOBODYS: &str = DELETED;

/// Request to delete an account.
#[derive(Debug, Clone)]
pub(crate) struct Deletion {
    pub(crate) account: String,
    /// Logins that end with it, beside all tokens that name the account.
    pub(crate) logins: Vec<String>,
    /// Time by which all its tokens have ended.
    pub(crate) until_ms: i64,
}

/// Account with every column that says something about a person.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) roles: String,
    pub(crate) anonymous: bool,
    /// Whether a device key signs in to it. Nobody gets the key's hash.
    pub(crate) device_key: bool,
    pub(crate) provider_id: Option<String>,
    pub(crate) farcaster_id: Option<String>,
    pub(crate) avatar: Option<String>,
    pub(crate) wallet: Option<String>,
    pub(crate) created_ms: i64,
    pub(crate) seen_ms: i64,
    pub(crate) made_day: i64,
    pub(crate) made: i32,
    /// Name by which a password logs in.
    pub(crate) password_name: Option<String>,
}

/// A [`Person`]: $1 account.
pub(crate) const PERSON: &str = r#"SELECT name, roles, anonymous, "deviceKeyHash" IS NOT NULL,
 "privyUserId", "farcasterFid", avatar, wallet, "createdAt", "seenAt", "madeDay", made,
 (SELECT p.name FROM passwords p WHERE p."accountId" = users.id)
 FROM users WHERE id = $1"#;

impl FromRow for Person {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Person {
            name: row.column(0)?,
            roles: row.column(1)?,
            anonymous: row.column(2)?,
            device_key: row.column(3)?,
            provider_id: row.column(4)?,
            farcaster_id: row.column(5)?,
            avatar: row.column(6)?,
            wallet: row.column(7)?,
            created_ms: row.column(8)?,
            seen_ms: row.column(9)?,
            made_day: row.column(10)?,
            made: row.column(11)?,
            password_name: row.column(12)?,
        })
    }
}

/// Death of a character whose things lie in a grave.
#[derive(Debug, Clone)]
pub(crate) struct Death {
    pub(crate) character_id: String,
    pub(crate) position: String,
    /// JSON, or empty.
    pub(crate) items: String,
    pub(crate) at_ms: i64,
}

/// The [`Death`]s of an account's characters: $1 account.
pub(crate) const DEATHS: &str = r#"SELECT d."playerId", d.position,
 coalesce(CAST(d.items AS text), ''), d.timestamp
 FROM "playerDeaths" d JOIN characters c ON c.id = d."playerId"
 WHERE c."accountId" = $1 ORDER BY d."playerId""#;

impl FromRow for Death {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Death {
            character_id: row.column(0)?,
            position: row.column(1)?,
            items: row.column(2)?,
            at_ms: row.column(3)?,
        })
    }
}

/// The newest records of operators about an account and its characters: $1 account, $2 most.
pub(crate) const RECORDS: &str = r#"SELECT id, at, "by", action, "accountId", "characterId", detail
 FROM audit_log WHERE "accountId" = $1
   OR "characterId" IN (SELECT id FROM characters WHERE "accountId" = $1)
 ORDER BY id DESC LIMIT $2"#;

/// Personal data of an account that no other read gives.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) person: Person,
    pub(crate) characters: Vec<String>,
    pub(crate) deaths: Vec<Death>,
    /// Newest first, at most [`RECORDS_MAX`].
    pub(crate) sanctions: Vec<super::identity::Sanction>,
    /// Newest first, at most [`RECORDS_MAX`].
    pub(crate) records: Vec<super::identity::Done>,
}

/// Place of a row in the ledger of a character, newest first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at_ms: i64,
    pub(crate) run: i64,
    pub(crate) sequence: i64,
    pub(crate) row: i32,
}

impl Place {
    /// Place before the newest row.
    pub(crate) const NEWEST: Place = Place {
        at_ms: i64::MAX,
        run: i64::MAX,
        sequence: i64::MAX,
        row: i32::MAX,
    };
}

/// Part of the ledger of an account's character.
#[derive(Debug, Clone)]
pub(crate) struct LedgerOf {
    pub(crate) account: String,
    pub(crate) character: String,
    /// Row before which the part begins.
    pub(crate) before: Place,
    /// At most [`LEDGER_MAX`].
    pub(crate) most: i64,
}

/// A part of the ledger, by `ledger_holder`: $1 character, $2 to $5 the place before, $6 most.
pub(crate) const LEDGER: &str = r#"SELECT run_id, sequence, "row", coalesce(character_id, ''),
 item_id, cause, delta, at FROM ledger
 WHERE character_id = $1 AND (at, run_id, sequence, "row") < ($2, $3, $4, $5)
 ORDER BY at DESC, run_id DESC, sequence DESC, "row" DESC LIMIT $6"#;

/// Whether a character belongs to an account: $1 character, $2 account.
pub(crate) const OWNS: &str = r#"SELECT EXISTS
 (SELECT 1 FROM characters WHERE id = $1 AND "accountId" = $2)"#;

// The statements of a deletion. Each numbers its parameters by their first place in the text.

/// Roles of an account, and whether it is banned: $1 now, $2 account. PostgreSQL locks the row.
pub(crate) const STANDING: &str = "SELECT u.roles, EXISTS (SELECT 1 FROM sanctions g
   WHERE g.id = 'ban:' || u.id AND (g.until IS NULL OR g.until > $1))
 FROM users u WHERE u.id = $2";
/// Forgets the sanctions about an account: $1.
pub(crate) const NO_SANCTIONS: &str = r#"DELETE FROM sanctions WHERE "accountId" = $1"#;
/// Takes an operator's name off the sanctions about others: $1 its name in records.
pub(crate) const NO_NAME: &str = r#"UPDATE sanctions SET "by" = 'deleted' WHERE "by" = $1"#;
/// Takes an operator's name off its acts: $1 its name in records.
pub(crate) const NO_ACTOR: &str = r#"UPDATE audit_log SET "by" = 'deleted' WHERE "by" = $1"#;
/// Takes the person out of the records of operators' acts on an account and its characters: $1.
pub(crate) const NO_RECORD: &str = r#"UPDATE audit_log
 SET "accountId" = '', "characterId" = '', detail = '' WHERE "accountId" = $1
   OR "characterId" IN (SELECT id FROM characters WHERE "accountId" = $1)"#;
/// Removes the ended tokens of agents that another account has claimed since: $1.
pub(crate) const NO_TOKENS: &str = "DELETE FROM agent_credentials WHERE account_id = $1";
/// Removes the account, and by references all that belongs to it: $1.
pub(crate) const GONE: &str = "DELETE FROM users WHERE id = $1";

/// Returns an account's name in the records of operators.
pub(crate) fn actor(account: &str) -> String {
    format!("account:{account}")
}

/// Everything that decides whether a guest expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guest {
    pub(crate) id: String,
    /// Whether more than a device key leads to it, or it has roles.
    pub(crate) bound: bool,
    /// Whether it must not go now: a ban, an agent that is active, a character that is in the
    /// world or quarantined.
    pub(crate) held: bool,
    /// Whether any character ever stood in the world.
    pub(crate) played: bool,
    /// When the account was made, its key signed in, or a character was in the world.
    pub(crate) seen_ms: i64,
}

const GUEST: &str = r#"SELECT u.id,
 NOT u.anonymous OR u."privyUserId" IS NOT NULL OR u.roles <> '',
 EXISTS (SELECT 1 FROM sanctions g WHERE g.id = 'ban:' || u.id
     AND (g.until IS NULL OR g.until > $1))
   OR EXISTS (SELECT 1 FROM agent_mappings a WHERE a.account_id = u.id AND a.active)
   OR EXISTS (SELECT 1 FROM characters c
     WHERE c."accountId" = u.id AND (c.online OR c.quarantined)),
 EXISTS (SELECT 1 FROM characters c WHERE c."accountId" = u.id AND c.placed),
 u."createdAt", u."seenAt",
 coalesce((SELECT max(c."lastLogin") FROM characters c WHERE c."accountId" = u.id), 0),
 coalesce((SELECT max(s.logout) FROM characters c
   JOIN "playerSessions" s ON s."playerId" = c.id WHERE c."accountId" = u.id), 0)
 FROM users u"#;

/// Returns the query for the guests at which the store must look: $1 now, $2 most.
pub(crate) fn due() -> String {
    format!(r#"{GUEST} WHERE u.anonymous AND u."lookAt" <= $1 ORDER BY u."lookAt" LIMIT $2"#)
}

/// Returns the query for one [`Guest`]: $1 now, $2 account.
pub(crate) fn guest() -> String {
    format!("{GUEST} WHERE u.id = $2")
}

/// Sets the time of the next look at an account: $1 time, $2 account.
pub(crate) const LOOK: &str = r#"UPDATE users SET "lookAt" = $1 WHERE id = $2"#;

impl FromRow for Guest {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        let created: i64 = row.column(4)?;
        Ok(Guest {
            id: row.column(0)?,
            bound: row.column(1)?,
            held: row.column(2)?,
            played: row.column(3)?,
            seen_ms: created
                .max(row.column(5)?)
                .max(row.column(6)?)
                .max(row.column(7)?),
        })
    }
}

/// Decision about a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays, and the store looks again then.
    Stays(i64),
    /// It goes: nobody ever played it.
    Unplayed,
    /// It goes: it has been away for too long.
    Away,
}

/// Numbers of accounts that expired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Expired {
    /// Guests at which the store looked.
    pub(crate) looked: u64,
    /// Accounts that nobody ever played.
    pub(crate) unplayed: u64,
    /// Guests that were away for too long.
    pub(crate) away: u64,
    /// What their characters had.
    pub(crate) written_off: WrittenOff,
}

impl Expired {
    /// Counts a decision that was carried out.
    pub(crate) fn count(&mut self, fate: Fate) {
        self.looked += 1;
        match fate {
            Fate::Stays(_) => {}
            Fate::Unplayed => self.unplayed += 1,
            Fate::Away => self.away += 1,
        }
    }
}

impl Guest {
    /// Decides at `now_ms`. A guest goes after `guest_ms` away; `None`: never.
    pub(crate) fn fate(&self, now_ms: i64, guest_ms: Option<i64>) -> Fate {
        if self.bound {
            return Fate::Stays(now_ms + LOOK_MS);
        }
        if self.held {
            return Fate::Stays(now_ms + AGAIN_MS);
        }
        let (after_ms, goes) = match (self.played, guest_ms) {
            (false, _) => (DAY_MS, Fate::Unplayed),
            (true, Some(guest_ms)) => (guest_ms, Fate::Away),
            (true, None) => return Fate::Stays(now_ms + LOOK_MS),
        };
        let due_ms = self.seen_ms.saturating_add(after_ms);
        if now_ms >= due_ms {
            return goes;
        }
        Fate::Stays(due_ms.min(now_ms + LOOK_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_was_away_for_long_goes() {
        const GUESTS: Option<i64> = Some(90 * DAY_MS);
        let now = 1_000 * DAY_MS;
        let guest = |days_ago: i64| Guest {
            id: "a".to_owned(),
            bound: false,
            held: false,
            played: true,
            seen_ms: now - days_ago * DAY_MS,
        };
        assert_eq!(guest(90).fate(now, GUESTS), Fate::Away);
        assert_eq!(guest(89).fate(now, GUESTS), Fate::Stays(now + DAY_MS));
        assert_eq!(guest(0).fate(now, GUESTS), Fate::Stays(now + LOOK_MS));
        assert_eq!(guest(900).fate(now, None), Fate::Stays(now + LOOK_MS));
        let unplayed = |days_ago| Guest {
            played: false,
            ..guest(days_ago)
        };
        assert_eq!(unplayed(1).fate(now, None), Fate::Unplayed);
        assert_eq!(unplayed(0).fate(now, GUESTS), Fate::Stays(now + DAY_MS));
        let held = Guest {
            held: true,
            ..guest(900)
        };
        assert_eq!(held.fate(now, GUESTS), Fate::Stays(now + AGAIN_MS));
        let bound = Guest {
            bound: true,
            ..unplayed(900)
        };
        assert_eq!(bound.fate(now, GUESTS), Fate::Stays(now + LOOK_MS));
    }
}
