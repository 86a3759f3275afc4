//! The months of the ledger, the sessions and the audit log: the words and decisions of both
//! stores.
//!
//! Always: the months of a table follow each other without a gap, and the first one begins with the
//! first row. They are closed in order, [`CLOSES_AFTER_MS`] after their end, and dropped in order.
//! `ledger_balances` is the sum of all rows of the closed months. A month of the ledger that is
//! dropped leaves its sums as rows of the cause [`CARRIED`], so that the sum of all rows stays what
//! it was, also for programs that know no months.

use std::fmt;

use super::error::{Result, StoreError};
use super::row::{FromRow, Read, Row};
use super::{DAY_MS, sessions};

/// Months that exist ahead of the current one.
pub(crate) const AHEAD: i64 = 3;
/// Time from a month's end until it is closed. No write takes as long.
pub(crate) const CLOSES_AFTER_MS: i64 = 6 * 3_600_000;
/// Cause of the rows that stand for dropped months. Only the store writes it.
pub(crate) const CARRIED: &str = "carried";
/// Rows of an export that the store hands over at once.
pub(crate) const PIECE: usize = 5_000;
/// Characters whose sessions the store adds up at once, and holders whose rows SQLite carries.
pub(crate) const HOLDERS: i64 = 500;

/// A row of an export: its values as text.
pub(crate) type Line = Vec<Option<String>>;

/// A table that is kept by months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Ledger,
    Sessions,
    Audit,
}

impl Table {
    pub(crate) const ALL: [Table; 3] = [Table::Ledger, Table::Sessions, Table::Audit];

    /// Returns the word for the table, as operators and `archive_months` have it.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Table::Ledger => "ledger",
            Table::Sessions => "sessions",
            Table::Audit => "audit",
        }
    }

    /// Returns the table of a word.
    pub(crate) fn of(kind: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.kind() == kind)
    }

    /// Returns the name in the database, without quotes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Table::Ledger => "ledger",
            Table::Sessions => "playerSessions",
            Table::Audit => "audit_log",
        }
    }

    /// Returns the column with the time of a row.
    pub(crate) fn at(self) -> &'static str {
        match self {
            Table::Ledger | Table::Audit => "at",
            Table::Sessions => "login",
        }
    }

    /// Returns the columns in their order.
    pub(crate) fn columns(self) -> &'static [&'static str] {
        match self {
            Table::Ledger => &[
                "run_id",
                "sequence",
                "row",
                "character_id",
                "item_id",
                "cause",
                "delta",
                "at",
            ],
            Table::Sessions => &[
                "id",
                "playerId",
                "sessionEpoch",
                "sessionId",
                "gatewayId",
                "login",
                "logout",
                "reason",
            ],
            Table::Audit => &[
                "id",
                "at",
                "by",
                "action",
                "accountId",
                "characterId",
                "detail",
            ],
        }
    }

    /// Returns the query for all rows of a month as text, oldest first.
    pub(crate) fn lines(self, month: &Month) -> String {
        let columns = self.columns().iter();
        let columns = columns.map(|name| format!(r#"CAST("{name}" AS text)"#));
        let order = match self {
            Table::Ledger => r#"at, run_id, sequence, "row""#,
            Table::Sessions => "login, id",
            Table::Audit => "at, id",
        };
        format!(
            "SELECT {} FROM {} ORDER BY {order}",
            columns.collect::<Vec<_>>().join(", "),
            self.within(month)
        )
    }

    /// Returns the query for the number of rows of a month.
    pub(crate) fn count(self, month: &Month) -> String {
        format!("SELECT count(*) FROM {}", self.within(month))
    }

    /// Returns the table with the condition that its rows are of the month.
    fn within(self, month: &Month) -> String {
        let (name, at) = (self.name(), self.at());
        // The first month has all rows before its end.
        let begins = match month.begins {
            0 => String::new(),
            begins => format!("{at} >= {begins} AND "),
        };
        format!(r#""{name}" WHERE {begins}{at} < {}"#, month.ends)
    }
}

/// A calendar month (UTC), counted from the year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Calendar(i64);

impl Calendar {
    /// Returns the month of a time in milliseconds since 1970.
    pub(crate) fn at(ms: i64) -> Calendar {
        // Years that begin in March, in cycles of 400 years, or 146,097 days.
        let days = ms.div_euclid(DAY_MS) + 719_468;
        let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        Calendar((cycle * 400 + year) * 12 + (5 * day + 2) / 153 + 2)
    }

    /// Returns the time at which the month begins.
    pub(crate) fn begins(self) -> i64 {
        let since_march = self.0 - 2;
        let (year, month) = (since_march.div_euclid(12), since_march.rem_euclid(12));
        let (cycle, of) = (year.div_euclid(400), year.rem_euclid(400));
        let day = (153 * month + 2) / 5 + 365 * of + of / 4 - of / 100;
        (cycle * 146_097 + day - 719_468) * DAY_MS
    }

    /// Returns the month `many` later.
    pub(crate) fn later(self, many: i64) -> Calendar {
        Calendar(self.0 + many)
    }
}

/// As `2026-11`.
impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.0.div_euclid(12), self.0.rem_euclid(12) + 1);
        write!(f, "{year:04}-{month:02}")
    }
}

/// A row of `archive_months`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Month {
    pub(crate) kind: String,
    /// The last calendar month of its rows.
    pub(crate) month: String,
    pub(crate) begins: i64,
    pub(crate) ends: i64,
    /// The partition with its rows; SQLite has none.
    pub(crate) part: String,
    pub(crate) closed: Option<i64>,
    /// Rows when it was closed.
    pub(crate) rows: Option<i64>,
    pub(crate) exported: Option<i64>,
    pub(crate) exported_rows: Option<i64>,
    pub(crate) sha256: Option<String>,
    pub(crate) dropped: Option<i64>,
}

/// All months, by table and time.
pub(crate) const MONTHS: &str = "SELECT kind, month, begins, ends, part, closed_at, row_count,
 exported_at, exported_rows, exported_sha256, dropped_at FROM archive_months ORDER BY kind, begins";
/// Notes a month: $1 kind, $2 month, $3 begin, $4 end. SQLite.
pub(crate) const ADD: &str = "INSERT INTO archive_months (kind, month, begins, ends, part)
 VALUES ($1, $2, $3, $4, '')";
/// Closes a month: $1 now, $2 rows, $3 kind, $4 month.
pub(crate) const CLOSE: &str = "UPDATE archive_months SET closed_at = $1, row_count = $2
 WHERE kind = $3 AND month = $4";
/// Notes an export: $1 its moment, $2 rows, $3 SHA-256, $4 kind, $5 month.
pub(crate) const EXPORTED: &str = "UPDATE archive_months SET exported_at = $1, exported_rows = $2,
 exported_sha256 = $3 WHERE kind = $4 AND month = $5 AND dropped_at IS NULL";
/// Notes that a month and all before it were dropped: $1 partition, $2 now, $3 kind, $4 end.
pub(crate) const DROPPED: &str = "UPDATE archive_months SET part = $1,
 dropped_at = coalesce(dropped_at, $2) WHERE kind = $3 AND ends <= $4";
/// Takes the items that nobody has any more out of the balances.
pub(crate) const FORGET_NOTHING: &str = "DELETE FROM ledger_balances WHERE amount = 0";
/// The end of the last closed month of the ledger; 0: none is closed.
pub(crate) const EDGE: &str = "SELECT coalesce(max(ends), 0) FROM archive_months
 WHERE kind = 'ledger' AND closed_at IS NOT NULL";

/// Returns the statement that adds the sums of a month of the ledger to the balances.
pub(crate) fn add_up(month: &Month) -> String {
    format!(
        "INSERT INTO ledger_balances (character_id, item_id, amount)
         SELECT coalesce(character_id, ''), item_id, CAST(sum(delta) AS bigint) FROM {}
         GROUP BY 1, 2
         ON CONFLICT (character_id, item_id) DO UPDATE
           SET amount = ledger_balances.amount + excluded.amount",
        Table::Ledger.within(month)
    )
}

/// Reads a row of [`MONTHS`].
impl FromRow for Month {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Month {
            kind: row.column(0)?,
            month: row.column(1)?,
            begins: row.column(2)?,
            ends: row.column(3)?,
            part: row.column(4)?,
            closed: row.column(5)?,
            rows: row.column(6)?,
            exported: row.column(7)?,
            exported_rows: row.column(8)?,
            sha256: row.column(9)?,
            dropped: row.column(10)?,
        })
    }
}

/// A month that does not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) table: Table,
    pub(crate) month: String,
    pub(crate) begins: i64,
    pub(crate) ends: i64,
}

/// Returns the first month that is missing at a time, of any table.
pub(crate) fn missing(months: &[Month], now: i64) -> Option<Missing> {
    let last = Calendar::at(now).later(AHEAD);
    let of = |table: Table| {
        let ends = ends(months, table);
        let (month, begins) = match ends {
            // Whatever is older is of the first month.
            None => (Calendar::at(now), 0),
            Some(ends) => (Calendar::at(ends), ends),
        };
        (month <= last).then(|| Missing {
            table,
            month: month.to_string(),
            begins,
            ends: month.later(1).begins(),
        })
    };
    Table::ALL.into_iter().find_map(of)
}

/// Returns the end of the last month of a table.
fn ends(months: &[Month], table: Table) -> Option<i64> {
    let months = months.iter().filter(|month| month.kind == table.kind());
    months.map(|month| month.ends).max()
}

/// Returns the number of months after the current one for which every table is ready.
pub(crate) fn ahead(months: &[Month], now: i64) -> i64 {
    let of = |table| ends(months, table).map_or(0, |ends| Calendar::at(ends - 1).0);
    let last = Table::ALL.into_iter().map(of).min().unwrap_or_default();
    last - Calendar::at(now).0
}

/// Returns the first month that is due to be closed.
pub(crate) fn due(months: &[Month], now: i64) -> Option<&Month> {
    let open = |month: &&Month| month.closed.is_none();
    let due = |month: &&Month| month.ends.saturating_add(CLOSES_AFTER_MS) <= now;
    months.iter().filter(open).find(due)
}

/// Returns the month of a table.
///
/// # Errors
/// There is none.
pub(crate) fn find<'m>(months: &'m [Month], table: Table, month: &str) -> Result<&'m Month> {
    let is = |one: &&Month| one.kind == table.kind() && one.month == month;
    months
        .iter()
        .find(is)
        .ok_or(StoreError::NotFound("month of that table"))
}

/// Decides whether a month may be exported.
///
/// # Errors
/// It is open, so rows may still come; or it was dropped.
pub(crate) fn may_export(month: &Month) -> Result<()> {
    let Month { kind, month: m, .. } = month;
    if month.dropped.is_some() {
        return Err(StoreError::Archive(format!(
            "{kind} {m} was dropped already"
        )));
    }
    if month.closed.is_none() {
        return Err(StoreError::Archive(format!(
            "{kind} {m} is not closed yet; that happens 6 hours after its end"
        )));
    }
    Ok(())
}

/// Decides whether a month that has `rows` rows now may be dropped.
///
/// # Errors
/// It is open, dropped, not the oldest, or not exported with all of its rows. With `unexported` the
/// export does not matter.
pub(crate) fn may_drop(months: &[Month], month: &Month, rows: i64, unexported: bool) -> Result<()> {
    may_export(month)?;
    let Month { kind, month: m, .. } = month;
    let older =
        |one: &&Month| one.kind == *kind && one.begins < month.begins && one.dropped.is_none();
    if let Some(older) = months.iter().find(older) {
        return Err(StoreError::Archive(format!(
            "{kind} {} is older; drop it first",
            older.month
        )));
    }
    if unexported {
        return Ok(());
    }
    match month.exported_rows {
        None => Err(StoreError::Archive(format!(
            "{kind} {m} was not exported; --unexported drops it nevertheless"
        ))),
        // Logins that were forgotten or deleted since are no loss; rows of the ledger never go.
        Some(exported) if exported < rows || (kind == "ledger" && exported != rows) => {
            Err(StoreError::Archive(format!(
                "{kind} {m} has {rows} rows, and {exported} were exported; export it again"
            )))
        }
        Some(_) => Ok(()),
    }
}

/// Returns the time before which a session must have ended to be removed with its month: before the
/// export, which has its end, and before the last refresh of the hiscores, which looks for it.
pub(crate) fn ended_before(month: &Month, now: i64) -> i64 {
    let seen = now - sessions::SEEN_AFTER_MS;
    month.exported.map_or(seen, |exported| exported.min(seen))
}

/// Result of a round over the months.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Months that were made and closed, as `ledger 2026-11`.
    pub(crate) made: Vec<String>,
    pub(crate) closed: Vec<String>,
}

/// State of the months.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Months after the current one for which every table is ready.
    pub(crate) ahead: i64,
    /// Rows of months that do not exist yet.
    pub(crate) unplaced: i64,
}

/// A month as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MonthReport {
    pub(crate) month: Month,
    /// Its rows now.
    pub(crate) rows: i64,
    /// Its size with its indexes; SQLite does not know.
    pub(crate) bytes: Option<i64>,
}

/// Rows of a month that was dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// Rows that are gone.
    pub(crate) rows: i64,
    /// Rows that stay: sessions without an end in the export, or sums of the ledger.
    pub(crate) kept: i64,
}

#[cfg(test)]
mod tests;
