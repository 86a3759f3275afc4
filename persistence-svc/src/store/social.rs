//! Friends and ignored players in the terms of the store, and the decisions that both stores share.
//!
//! Always: friendship is mutual, two rows; no character befriends one of its own account; a request
//! is void after a week; the store keeps requests by ignored players, but does not show them, so
//! that an ignored player cannot tell.

use super::row::{FromRow, Read, Row};

/// Friends of a character, and its requests in one direction.
pub(crate) const FRIENDS_MAX: i64 = 99;
/// Most players that one account ignores.
pub(crate) const IGNORED_MAX: i64 = 99;
/// Time for which a request lives.
pub(crate) const REQUEST_MS: i64 = 7 * 24 * 60 * 60 * 1000;

// The statements of both stores. Both number parameters by their first place in the text.

/// The character with this id, if it belongs to this account: id.
pub(crate) const OWN: &str = r#"SELECT id FROM characters WHERE id = $1 AND "accountId" = $2"#;

/// A character by name, or by a name that looks like it: id and account.
pub(crate) const BY_NAME: &str = r#"SELECT id, "accountId" FROM characters
 WHERE "nameKey" = $1 OR "nameSkeleton" = $2
 ORDER BY "nameKey" = $1 DESC LIMIT 1"#;
/// A character by id: id and account.
pub(crate) const BY_ID: &str = r#"SELECT id, "accountId" FROM characters WHERE id = $1"#;

/// Query for the other character of a request that is younger than a moment. Parameters: this
/// character, the request, the moment. Columns: the other's id and account, and whether the other
/// one asked.
pub(crate) const BY_REQUEST: &str = r#"SELECT c.id, c."accountId", r."toPlayerId" = $1
 FROM friend_requests r JOIN characters c
   ON c.id = CASE WHEN r."toPlayerId" = $1 THEN r."fromPlayerId" ELSE r."toPlayerId" END
 WHERE r.id = $2 AND (r."toPlayerId" = $1 OR r."fromPlayerId" = $1) AND r."createdAt" > $3"#;

/// [`Relation`] of two characters. Parameters: a character, another one, the moment from which
/// requests count, and the first one's account.
pub(crate) const RELATION: &str = r#"SELECT
 (SELECT count(*) FROM friendships WHERE "playerId" = $1),
 (SELECT count(*) FROM friendships WHERE "playerId" = $2),
 EXISTS (SELECT 1 FROM friendships WHERE "playerId" = $1 AND "friendId" = $2),
 EXISTS (SELECT 1 FROM friend_requests
   WHERE "fromPlayerId" = $2 AND "toPlayerId" = $1 AND "createdAt" > $3),
 EXISTS (SELECT 1 FROM friend_requests
   WHERE "fromPlayerId" = $1 AND "toPlayerId" = $2 AND "createdAt" > $3),
 (SELECT count(*) FROM friend_requests WHERE "fromPlayerId" = $1 AND "createdAt" > $3),
 (SELECT count(*) FROM friend_requests WHERE "toPlayerId" = $2 AND "createdAt" > $3),
 (SELECT count(*) FROM ignore_lists WHERE "accountId" = $4),
 EXISTS (SELECT 1 FROM ignore_lists WHERE "accountId" = $4 AND "ignoredPlayerId" = $2)"#;

/// [`Friend`]s of a character.
pub(crate) const FRIENDS: &str = r#"SELECT c.id, c.name, c."combatLevel", c."lastLogin"
 FROM friendships f JOIN characters c ON c.id = f."friendId"
 WHERE f."playerId" = $1 ORDER BY c."nameKey""#;

/// [`Request`]s from and to a character that are not void, except those of players that the account
/// ignores.
pub(crate) const REQUESTS: &str = r#"SELECT r.id, a.id, a.name, b.id, b.name, r."createdAt"
 FROM friend_requests r
   JOIN characters a ON a.id = r."fromPlayerId" JOIN characters b ON b.id = r."toPlayerId"
 WHERE (r."fromPlayerId" = $1 OR r."toPlayerId" = $1) AND r."createdAt" > $2
   AND NOT EXISTS (SELECT 1 FROM ignore_lists i JOIN characters g ON g.id = i."ignoredPlayerId"
     WHERE i."accountId" = $3 AND g."accountId" = a."accountId")
 ORDER BY r."createdAt", r.id"#;

/// [`Ignored`] players of an account.
pub(crate) const IGNORED: &str = r#"SELECT c.id, c.name, c."accountId", i."createdAt"
 FROM ignore_lists i JOIN characters c ON c.id = i."ignoredPlayerId"
 WHERE i."accountId" = $1 ORDER BY c."nameKey""#;

/// Forgets void requests of a character.
pub(crate) const TIDY: &str =
    r#"DELETE FROM friend_requests WHERE "fromPlayerId" = $1 AND "createdAt" <= $2"#;

const FORGET: &str = r#"DELETE FROM friend_requests
 WHERE ("fromPlayerId" = $1 AND "toPlayerId" = $2)
    OR ("fromPlayerId" = $2 AND "toPlayerId" = $1)"#;
const BEFRIEND: &str = r#"INSERT INTO friendships ("playerId", "friendId", "createdAt")
 VALUES ($1, $2, $3), ($2, $1, $3) ON CONFLICT ("playerId", "friendId") DO NOTHING"#;
const PART: &str = r#"DELETE FROM friendships
 WHERE ("playerId" = $1 AND "friendId" = $2) OR ("playerId" = $2 AND "friendId" = $1)"#;
const ASK: &str = r#"INSERT INTO friend_requests ("fromPlayerId", "toPlayerId", "createdAt", id)
 VALUES ($1, $2, $3, $4)
 ON CONFLICT ("fromPlayerId", "toPlayerId") DO UPDATE
   SET id = excluded.id, "createdAt" = excluded."createdAt""#;
const IGNORE: &str = r#"INSERT INTO ignore_lists ("accountId", "ignoredPlayerId", "createdAt")
 VALUES ($1, $2, $3) ON CONFLICT ("accountId", "ignoredPlayerId") DO NOTHING"#;
const UNIGNORE: &str =
    r#"DELETE FROM ignore_lists WHERE "accountId" = $1 AND "ignoredPlayerId" = $2"#;

/// Change of a player's lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Be friends with the character of this name.
    Request(String),
    /// Request by its id.
    Accept(String),
    /// Request by its id.
    Decline(String),
    /// Character by its id.
    Remove(String),
    /// Character by its name.
    Ignore(String),
    /// Character by its id.
    Unignore(String),
}

/// Player that asks for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) account_id: String,
    pub(crate) character_id: String,
}

/// Outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    NoSuchPlayer,
    NotThere,
    Yourself,
    AlreadyFriends,
    AlreadyRequested,
    AlreadyIgnored,
    FriendLimit,
    IgnoreLimit,
}

/// State of two characters toward each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Relation {
    pub(crate) friends: i64,
    pub(crate) their_friends: i64,
    pub(crate) are_friends: bool,
    /// Whether the other one has asked.
    pub(crate) was_asked: bool,
    /// Whether the first one has asked.
    pub(crate) has_asked: bool,
    /// Requests by the first one that wait.
    pub(crate) asking: i64,
    /// Requests to the other one that wait.
    pub(crate) asked: i64,
    pub(crate) ignored: i64,
    pub(crate) is_ignored: bool,
}

/// Reads a row of [`RELATION`].
impl FromRow for Relation {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Relation {
            friends: row.column(0)?,
            their_friends: row.column(1)?,
            are_friends: row.column(2)?,
            was_asked: row.column(3)?,
            has_asked: row.column(4)?,
            asking: row.column(5)?,
            asked: row.column(6)?,
            ignored: row.column(7)?,
            is_ignored: row.column(8)?,
        })
    }
}

/// Step of a change about two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuditAction {
    /// Settle all requests between them.
    Forget,
    Befriend,
    Part,
    Ask,
    Ignore,
    Unignore,
}

impl AuditAction {
    /// Returns the statement and its parameters, out of: the first one's account, both characters,
    /// now, and a fresh id.
    pub(crate) fn statement(self) -> (&'static str, &'static [Put]) {
        use Put::{Account, FreshId, Me, Now, Other};
        match self {
            AuditAction::Forget => (FORGET, &[Me, Other]),
            AuditAction::Befriend => (BEFRIEND, &[Me, Other, Now]),
            AuditAction::Part => (PART, &[Me, Other]),
            AuditAction::Ask => (ASK, &[Me, Other, Now, FreshId]),
            AuditAction::Ignore => (IGNORE, &[Account, Other, Now]),
            AuditAction::Unignore => (UNIGNORE, &[Account, Other]),
        }
    }
}

/// Parameter of an action's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    Account,
    Me,
    Other,
    Now,
    FreshId,
}

/// Decides on a change about another character. `own`: that character is of the same account.
/// `asked`: that character made the request that the change names.
///
/// # Errors
/// The outcome if there is nothing to do.
pub(crate) fn decide(
    change: &Change,
    own: bool,
    asked: bool,
    relation: &Relation,
) -> std::result::Result<&'static [AuditAction], Outcome> {
    let full = relation.friends >= FRIENDS_MAX || relation.their_friends >= FRIENDS_MAX;
    match change {
        Change::Request(_) | Change::Ignore(_) if own => Err(Outcome::Yourself),
        Change::Request(_) if relation.are_friends => Err(Outcome::AlreadyFriends),
        Change::Request(_) if relation.has_asked => Err(Outcome::AlreadyRequested),
        Change::Request(_) if full => Err(Outcome::FriendLimit),
        Change::Request(_) if relation.was_asked => {
            Ok(&[AuditAction::Forget, AuditAction::Befriend])
        }
        Change::Request(_) if relation.asking.max(relation.asked) >= FRIENDS_MAX => {
            Err(Outcome::FriendLimit)
        }
        Change::Request(_) => Ok(&[AuditAction::Ask]),
        Change::Accept(_) if !asked => Err(Outcome::NotThere),
        Change::Accept(_) if relation.are_friends => Ok(&[AuditAction::Forget]),
        Change::Accept(_) if full => Err(Outcome::FriendLimit),
        Change::Accept(_) => Ok(&[AuditAction::Forget, AuditAction::Befriend]),
        Change::Decline(_) => Ok(&[AuditAction::Forget]),
        Change::Remove(_) if !relation.are_friends => Err(Outcome::NotThere),
        Change::Remove(_) => Ok(&[AuditAction::Part]),
        Change::Ignore(_) if relation.is_ignored => Err(Outcome::AlreadyIgnored),
        Change::Ignore(_) if relation.ignored >= IGNORED_MAX => Err(Outcome::IgnoreLimit),
        Change::Ignore(_) => Ok(&[AuditAction::Ignore]),
        Change::Unignore(_) if !relation.is_ignored => Err(Outcome::NotThere),
        Change::Unignore(_) => Ok(&[AuditAction::Unignore]),
    }
}

/// Returns whether the other one sees something of the change.
pub(crate) fn concerns_both(change: &Change) -> bool {
    !matches!(change, Change::Ignore(_) | Change::Unignore(_))
}

/// All lists of a character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    pub(crate) friends: Vec<Friend>,
    pub(crate) requests: Vec<Request>,
    pub(crate) ignored: Vec<Ignored>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Friend {
    pub(crate) character_id: String,
    pub(crate) name: String,
    pub(crate) combat_level: i32,
    /// 0: never.
    pub(crate) last_login_ms: i64,
}

/// Reads a row of [`FRIENDS`].
impl FromRow for Friend {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Friend {
            character_id: row.column(0)?,
            name: row.column(1)?,
            combat_level: row.column(2)?,
            last_login_ms: row.column(3)?,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) from_id: String,
    pub(crate) from_name: String,
    pub(crate) to_id: String,
    pub(crate) to_name: String,
    pub(crate) at_ms: i64,
}

/// Reads a row of [`REQUESTS`].
impl FromRow for Request {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Request {
            id: row.column(0)?,
            from_id: row.column(1)?,
            from_name: row.column(2)?,
            to_id: row.column(3)?,
            to_name: row.column(4)?,
            at_ms: row.column(5)?,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ignored {
    pub(crate) character_id: String,
    pub(crate) name: String,
    pub(crate) account_id: String,
    pub(crate) added_ms: i64,
}

/// Reads a row of [`IGNORED`].
impl FromRow for Ignored {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Ignored {
            character_id: row.column(0)?,
            name: row.column(1)?,
            account_id: row.column(2)?,
            added_ms: row.column(3)?,
        })
    }
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) outcome: Outcome,
    pub(crate) lists: Lists,
    /// Other character whose lists changed too.
    pub(crate) other: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::too_many_lines, clippy::type_complexity, reason = "one table")]
    fn what_comes_of_a_change_depends_on_what_there_is() {
        let none = Relation::default();
        let friends = Relation {
            are_friends: true,
            ..none
        };
        let asked = Relation {
            was_asked: true,
            ..none
        };
        let asking = Relation {
            has_asked: true,
            ..none
        };
        let full = Relation {
            their_friends: FRIENDS_MAX,
            was_asked: true,
            ..none
        };
        let pestered = Relation {
            asked: FRIENDS_MAX,
            ..none
        };
        let ignores = Relation {
            is_ignored: true,
            ..none
        };
        let tired = Relation {
            ignored: IGNORED_MAX,
            ..none
        };
        let request = &Change::Request(String::new());
        let (accept, remove) = (
            &Change::Accept(String::new()),
            &Change::Remove(String::new()),
        );
        let (ignore, unignore) = (
            &Change::Ignore(String::new()),
            &Change::Unignore(String::new()),
        );
        let both: &[AuditAction] = &[AuditAction::Forget, AuditAction::Befriend];
        let table: [(
            &Change,
            &Relation,
            std::result::Result<&[AuditAction], Outcome>,
        ); 15] = [
            (request, &none, Ok(&[AuditAction::Ask])),
            (request, &asked, Ok(both)),
            (request, &friends, Err(Outcome::AlreadyFriends)),
            (request, &asking, Err(Outcome::AlreadyRequested)),
            (request, &full, Err(Outcome::FriendLimit)),
            (request, &pestered, Err(Outcome::FriendLimit)),
            (accept, &none, Ok(both)),
            (accept, &friends, Ok(&[AuditAction::Forget])),
            (accept, &full, Err(Outcome::FriendLimit)),
            (remove, &none, Err(Outcome::NotThere)),
            (remove, &friends, Ok(&[AuditAction::Part])),
            (ignore, &ignores, Err(Outcome::AlreadyIgnored)),
            (ignore, &tired, Err(Outcome::IgnoreLimit)),
            (unignore, &none, Err(Outcome::NotThere)),
            (unignore, &ignores, Ok(&[AuditAction::Unignore])),
        ];
        for (change, relation, then) in table {
            assert_eq!(
                decide(change, false, true, relation),
                then,
                "{change:?} {relation:?}"
            );
        }
        assert_eq!(decide(request, true, false, &none), Err(Outcome::Yourself));
        assert_eq!(decide(ignore, true, false, &none), Err(Outcome::Yourself));
        // A player cannot accept a request that it made.
        assert_eq!(decide(accept, false, false, &none), Err(Outcome::NotThere));
    }
}
