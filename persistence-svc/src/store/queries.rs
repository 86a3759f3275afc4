//! Reads for lists and dashboards, in the SQL of both databases.
//!
//! Always: nothing here writes; every list has pages and one order, so that it shows no row twice
//! while nothing changes. `$n` first appears in order: SQLite counts names that way.

use std::sync::LazyLock;

use super::model::{Account, Record};
use super::row::{FromRow, Read, Row};

/// The most rows of a page.
pub(crate) const PAGE_MAX: i64 = 100;

/// A part of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) offset: i64,
    pub(crate) limit: i64,
}

/// A part of a list, and the length of the whole list.
#[derive(Debug)]
pub(crate) struct Part<T> {
    pub(crate) rows: Vec<T>,
    pub(crate) total: i64,
}

/// Profile of a character.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) record: Record,
    pub(crate) created_at_ms: i64,
    pub(crate) last_login_ms: i64,
    pub(crate) online: bool,
    pub(crate) quarantined: bool,
    pub(crate) agent: bool,
    /// Kills: kind of NPC and number.
    pub(crate) kills: Vec<(String, i32)>,
    pub(crate) logins: i64,
    pub(crate) played_ms: i64,
}

/// One login of a character.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) character_id: String,
    pub(crate) name: String,
    pub(crate) account_id: String,
    pub(crate) gateway_id: String,
    pub(crate) login_ms: i64,
    pub(crate) logout_ms: Option<i64>,
    pub(crate) reason: String,
}

/// Reads a row of the list of [`logins`].
impl FromRow for Login {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Login {
            character_id: row.column(0)?,
            name: row.column(1)?,
            account_id: row.column(2)?,
            gateway_id: row.column(3)?,
            login_ms: row.column(4)?,
            logout_ms: row.column(5)?,
            reason: row.column(6)?,
        })
    }
}

/// Filter of logins.
#[derive(Debug, Clone)]
pub(crate) struct LoginsOf {
    /// Empty: everybody's.
    pub(crate) character: String,
    /// Whether the list has only open logins.
    pub(crate) open: bool,
    pub(crate) page: Page,
}

/// Filter of accounts.
#[derive(Debug, Clone)]
pub(crate) struct UsersLike {
    /// Part of the name, or the whole id; empty: everybody.
    pub(crate) search: String,
    /// Empty: any.
    pub(crate) role: String,
    pub(crate) page: Page,
}

impl UsersLike {
    /// Returns the patterns for the name and for the roles.
    pub(crate) fn patterns(&self) -> (String, String) {
        let roles = match self.role.as_str() {
            "" => "%".to_owned(),
            role => format!("%,{},%", literally(role)),
        };
        (
            format!("%{}%", literally(&self.search.to_lowercase())),
            roles,
        )
    }
}

/// Returns a pattern that matches only the text itself, with `\` as the escape.
fn literally(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// An account and the number of its characters.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) account: Account,
    pub(crate) characters: i64,
}

/// Reads a row of [`USERS`].
impl FromRow for User {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(User {
            account: Account::from_row(row)?,
            characters: row.column(5)?,
        })
    }
}

/// Totals of the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) users: i64,
    pub(crate) characters: i64,
    pub(crate) online: i64,
    pub(crate) quarantined: i64,
    pub(crate) frozen: bool,
    pub(crate) banned: i64,
}

/// Reads a row of [`TOTALS`].
impl FromRow for Totals {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Totals {
            users: row.column(0)?,
            characters: row.column(1)?,
            online: row.column(2)?,
            quarantined: row.column(3)?,
            frozen: row.column(4)?,
            banned: row.column(5)?,
        })
    }
}

/// Filter of the ledger's rows; empty texts: any.
#[derive(Debug, Clone)]
pub(crate) struct LedgerOf {
    pub(crate) character: String,
    pub(crate) item: String,
    pub(crate) page: Page,
}

/// One row of the ledger.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) run: i64,
    pub(crate) sequence: i64,
    pub(crate) row: i32,
    /// Empty: the ground.
    pub(crate) character_id: String,
    pub(crate) item: String,
    pub(crate) cause: String,
    pub(crate) delta: i64,
    pub(crate) at_ms: i64,
}

/// Reads a row of the list of [`ledger`].
impl FromRow for Entry {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Entry {
            run: row.column(0)?,
            sequence: row.column(1)?,
            row: row.column(2)?,
            character_id: row.column(3)?,
            item: row.column(4)?,
            cause: row.column(5)?,
            delta: row.column(6)?,
            at_ms: row.column(7)?,
        })
    }
}

/// Change of a character at rest by its owner.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) account: String,
    pub(crate) character: String,
    pub(crate) name: Option<String>,
    pub(crate) agent: Option<bool>,
    pub(crate) look: Option<String>,
}

/// Columns of a character beside its record: $1 id.
pub(crate) const BESIDE: &str = r#"SELECT "createdAt", "lastLogin", online, quarantined,
 "isAgent" <> 0 FROM characters WHERE id = $1"#;
/// Kills of a character: $1 id.
pub(crate) const KILLS: &str = r#"SELECT "npcId", "killCount" FROM "npcKills"
 WHERE "playerId" = $1 ORDER BY "npcId""#;
/// Number and length of a character's logins: $1 now, $2 id.
pub(crate) const PLAYED: &str = r#"SELECT count(s.id) + c."earlierLogins",
 CAST(coalesce(sum(coalesce(s.logout, $1) - s.login), 0) AS bigint) + c."earlierPlayedMs"
 FROM characters c LEFT JOIN "playerSessions" s ON s."playerId" = c.id WHERE c.id = $2
 GROUP BY c.id"#;

/// A list, and its length. It has only the conditions of the request, since an index serves no
/// optional condition.
pub(crate) struct Listing {
    pub(crate) list: String,
    pub(crate) total: String,
}

static LOGINS: LazyLock<[Listing; 4]> = LazyLock::new(|| {
    std::array::from_fn(|asked| {
        let whose = condition(asked & 1 != 0, r#"s."playerId" = $1"#, "$1 = ''");
        let open = condition(asked & 2 != 0, "$2 AND s.logout IS NULL", "NOT $2");
        Listing {
            list: format!(
                r#"SELECT s."playerId", c.name, c."accountId", s."gatewayId",
 s.login, s.logout, coalesce(s.reason, '')
 FROM "playerSessions" s JOIN characters c ON c.id = s."playerId" WHERE {whose} AND {open}
 ORDER BY s.login DESC, s.id DESC LIMIT $3 OFFSET $4"#
            ),
            total: format!(r#"SELECT count(*) FROM "playerSessions" s WHERE {whose} AND {open}"#),
        }
    })
});

/// Returns the list of logins, newest first: $1 character or empty, $2 only open ones, $3 limit, $4
/// offset.
pub(crate) fn logins(of: &LoginsOf) -> &'static Listing {
    &LOGINS[usize::from(!of.character.is_empty()) + 2 * usize::from(of.open)]
}

fn condition(asked: bool, it: &'static str, not: &'static str) -> &'static str {
    if asked { it } else { not }
}

/// Accounts, newest first: $1 pattern of the name, $2 id, $3 pattern of the roles, $4 limit,
/// $5 offset.
pub(crate) const USERS: &str = r#"SELECT u.id, u.name, u.anonymous, u.roles, u."createdAt",
 (SELECT count(*) FROM characters c WHERE c."accountId" = u.id)
 FROM users u WHERE (lower(u.name) LIKE $1 ESCAPE '\' OR u.id = $2)
   AND ',' || u.roles || ',' LIKE $3 ESCAPE '\'
 ORDER BY u."createdAt" DESC, u.id LIMIT $4 OFFSET $5"#;
/// Number of accounts: $1 to $3 as in [`USERS`].
pub(crate) const USERS_TOTAL: &str = r"SELECT count(*) FROM users u
 WHERE (lower(u.name) LIKE $1 ESCAPE '\' OR u.id = $2)
   AND ',' || u.roles || ',' LIKE $3 ESCAPE '\'";

/// Users, characters, online, quarantined, frozen, banned: $1 now.
pub(crate) const TOTALS: &str = "SELECT (SELECT count(*) FROM users),
 (SELECT count(*) FROM characters), (SELECT count(*) FROM characters WHERE online),
 (SELECT count(*) FROM characters WHERE quarantined), frozen,
 (SELECT count(*) FROM sanctions WHERE kind = 'ban' AND (until IS NULL OR until > $1)) FROM switches";

static LEDGER: LazyLock<[Listing; 4]> = LazyLock::new(|| {
    std::array::from_fn(|asked| {
        let holder = condition(asked & 1 != 0, "character_id = $1", "$1 = ''");
        let item = condition(asked & 2 != 0, "item_id = $2", "$2 = ''");
        Listing {
            list: format!(
                r#"SELECT run_id, sequence, "row", coalesce(character_id, ''),
 item_id, cause, delta, at FROM ledger WHERE {holder} AND {item}
 ORDER BY at DESC, run_id DESC, sequence DESC, "row" DESC LIMIT $3 OFFSET $4"#
            ),
            total: format!("SELECT count(*) FROM ledger WHERE {holder} AND {item}"),
        }
    })
});

/// Returns the list of the ledger's rows, newest first: $1 character, $2 item, $3 limit, $4 offset;
/// empty: any.
pub(crate) fn ledger(of: &LedgerOf) -> &'static Listing {
    &LEDGER[usize::from(!of.character.is_empty()) + 2 * usize::from(!of.item.is_empty())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_means_only_what_it_says() {
        let ask = UsersLike {
            search: r"A_b%\".to_owned(),
            role: String::new(),
            page: Page {
                offset: 0,
                limit: 1,
            },
        };
        assert_eq!(ask.patterns(), (r"%a\_b\%\\%".to_owned(), "%".to_owned()));
    }
}
