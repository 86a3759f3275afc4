//! The months of the ledger, the sessions and the audit log in SQLite, where all rows of a table
//! stay together.
//!
//! Always: a month that is dropped goes in short transactions, each of which keeps all sums. If they
//! stop halfway, the same command goes on with the rest of the ledger or the audit log. The rest of
//! the sessions goes with the next month of sessions that is dropped.

use rusqlite::{OptionalExtension, params};
use tokio::sync::mpsc;
use tonic::async_trait;

use super::{Sqlite, Transaction, all};
use crate::store::Archive;
use crate::store::archive::{
    ADD, CARRIED, CLOSE, DROPPED, Dropped, EXPORTED, FORGET_NOTHING, HOLDERS, Kept, Line, MONTHS,
    Month, MonthReport, PIECE, Standing, Table, add_up, ahead, due, ended_before, find, may_drop,
    may_export, missing,
};
use crate::store::error::{Result, StoreError};
use crate::store::model::NOBODY;

/// Rows of the audit log that go at once.
const ROWS: i64 = 5_000;

#[async_trait]
impl Archive for Sqlite {
    async fn keep_months(&self, now_ms: Option<i64>) -> Result<Kept> {
        let made = self.write(move |transaction| {
            let now = now_ms.unwrap_or_else(|| transaction.now_ms());
            let mut made = Vec::new();
            while let Some(next) = missing(&months(transaction)?, now) {
                let kind = next.table.kind();
                let values = params![kind, next.month, next.begins, next.ends];
                transaction.execute(ADD, values)?;
                made.push(format!("{kind} {}", next.month));
            }
            Ok(made)
        });
        let mut kept = Kept {
            made: made.await?,
            closed: Vec::new(),
        };
        while let Some(closed) = self.write(move |at| close_next(at, now_ms)).await? {
            kept.closed.push(closed);
        }
        Ok(kept)
    }

    async fn months_standing(&self) -> Result<Standing> {
        self.read(|transaction| {
            Ok(Standing {
                ahead: ahead(&months(transaction)?, transaction.now_ms()),
                // Every row has its place in the table.
                unplaced: 0,
            })
        })
        .await
    }

    async fn months(&self) -> Result<Vec<MonthReport>> {
        self.read(|transaction| {
            let with_rows = |month: Month| {
                let rows = count(transaction, &month)?;
                let bytes = None;
                Ok(MonthReport { month, rows, bytes })
            };
            months(transaction)?.into_iter().map(with_rows).collect()
        })
        .await
    }

    async fn export_month(
        &self,
        table: Table,
        month: &str,
        rows: mpsc::Sender<Vec<Line>>,
    ) -> Result<i64> {
        let month = month.to_owned();
        self.read(move |transaction| {
            let months = months(transaction)?;
            let month = find(&months, table, &month)?;
            may_export(month)?;
            let now = transaction.now_ms();
            let columns = table.columns().len();
            let mut statement = transaction.prepare(&table.lines(month))?;
            let mut lines = statement.query([])?;
            let mut piece = Vec::with_capacity(PIECE);
            while let Some(line) = lines.next()? {
                let line = (0..columns).map(|column| line.get(column));
                piece.push(line.collect::<rusqlite::Result<Line>>()?);
                if piece.len() == PIECE {
                    hand_over(&rows, std::mem::take(&mut piece))?;
                }
            }
            hand_over(&rows, piece)?;
            Ok(now)
        })
        .await
    }

    async fn note_export(
        &self,
        table: Table,
        month: &str,
        at_ms: i64,
        rows: i64,
        sha256: &str,
    ) -> Result<()> {
        let (month, sha256) = (month.to_owned(), sha256.to_owned());
        self.write(move |transaction| {
            let values = params![at_ms, rows, sha256, table.kind(), month];
            match transaction.execute(EXPORTED, values)? {
                0 => Err(StoreError::NotFound("month of that table")),
                _ => Ok(()),
            }
        })
        .await
    }

    async fn drop_month(&self, table: Table, month: &str, unexported: bool) -> Result<Dropped> {
        let name = month.to_owned();
        let begun = self.write(move |transaction| {
            let months = months(transaction)?;
            let month = find(&months, table, &name)?.clone();
            let left = count(transaction, &month)?;
            let goes_on = month.dropped.is_some() && table != Table::Sessions && left > 0;
            if !goes_on {
                may_drop(&months, &month, left, unexported)?;
                let values = params!["", transaction.now_ms(), month.kind, month.ends];
                transaction.execute(DROPPED, values)?;
            }
            Ok((month, left))
        });
        let (month, had) = begun.await?;
        let ends = month.ends;
        match table {
            Table::Ledger => while self.write(move |at| carry(at, ends)).await? > 0 {},
            Table::Sessions => {
                let mut after = Some(String::new());
                while let Some(last) = after {
                    let month = month.clone();
                    after = self
                        .write(move |at| sum_sessions(at, &month, &last))
                        .await?;
                }
            }
            Table::Audit => while self.write(move |at| forget(at, ends)).await? > 0 {},
        }
        let kept = self.read(move |transaction| match table {
            // The sums stand for all months that were dropped.
            Table::Ledger => {
                let query = "SELECT count(*) FROM ledger WHERE cause = ?1 AND at < ?2";
                Ok(transaction.query_row(query, params![CARRIED, ends], |row| row.get(0))?)
            }
            Table::Sessions | Table::Audit => count(transaction, &month),
        });
        let kept: i64 = kept.await?;
        let stay = if table == Table::Ledger { 0 } else { kept };
        Ok(Dropped {
            rows: had - stay,
            kept,
        })
    }
}

fn months(transaction: &Transaction<'_>) -> Result<Vec<Month>> {
    all(transaction, MONTHS, [])
}

/// Returns the number of rows of a month, without the sums that stand for it.
fn count(transaction: &Transaction<'_>, month: &Month) -> Result<i64> {
    let table = Table::of(&month.kind);
    let table = table.ok_or_else(|| StoreError::Broken(format!("a month of {}", month.kind)))?;
    let mut query = table.count(month);
    if table == Table::Ledger && month.dropped.is_some() {
        query = format!("{query} AND cause <> '{CARRIED}'");
    }
    Ok(transaction.query_row(&query, [], |row| row.get(0))?)
}

fn close_next(transaction: &Transaction<'_>, now_ms: Option<i64>) -> Result<Option<String>> {
    let now = now_ms.unwrap_or_else(|| transaction.now_ms());
    let months = months(transaction)?;
    let Some(month) = due(&months, now) else {
        return Ok(None);
    };
    if month.kind == Table::Ledger.kind() {
        transaction.execute(&add_up(month), [])?;
        transaction.execute(FORGET_NOTHING, [])?;
    }
    let rows = count(transaction, month)?;
    let values = params![now, rows, month.kind, month.month];
    transaction.execute(CLOSE, values)?;
    Ok(Some(format!("{} {}", month.kind, month.month)))
}

fn hand_over(rows: &mpsc::Sender<Vec<Line>>, piece: Vec<Line>) -> Result<()> {
    let sent = rows.blocking_send(piece);
    sent.map_err(|_| StoreError::Away("nobody takes the rows".to_owned()))
}

/// Replaces the rows before a time of one holder by their sums. Returns how many rows it removed.
fn carry(transaction: &Transaction<'_>, ends: i64) -> Result<usize> {
    let find = "SELECT character_id FROM ledger WHERE at < ?1 AND cause <> ?2 LIMIT 1";
    let holder: Option<Option<String>> = transaction
        .query_row(find, params![ends, CARRIED], |row| row.get(0))
        .optional()?;
    let Some(holder) = holder else {
        return Ok(0);
    };
    let sum = "SELECT item_id, sum(delta) FROM ledger WHERE character_id IS ?1 AND at < ?2
               GROUP BY item_id HAVING sum(delta) <> 0 ORDER BY item_id";
    let sums: Vec<(String, i64)> = {
        let mut statement = transaction.prepare_cached(sum)?;
        let rows = statement.query_map(params![holder, ends], |row| Ok((row.get(0)?, row.get(1)?)));
        rows?.collect::<rusqlite::Result<_>>()?
    };
    let remove = "DELETE FROM ledger WHERE character_id IS ?1 AND at < ?2";
    let removed = transaction.execute(remove, params![holder, ends])?;
    if sums.is_empty() {
        return Ok(removed);
    }
    let number = "UPDATE operations SET last = last + 1 RETURNING last";
    let number: i64 = transaction.query_row(number, [], |row| row.get(0))?;
    let write = r#"INSERT INTO ledger
                     (run_id, sequence, "row", character_id, item_id, cause, delta, at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"#;
    for (row, (item, amount)) in (1_i64..).zip(sums) {
        let values = params![NOBODY, number, row, holder, item, CARRIED, amount, ends - 1];
        transaction.prepare_cached(write)?.execute(values)?;
    }
    Ok(removed)
}

/// Adds the sessions of the next characters up, as far as they ended long ago, and removes them.
/// Returns the last character, if there may be more.
fn sum_sessions(
    transaction: &Transaction<'_>,
    month: &Month,
    after: &str,
) -> Result<Option<String>> {
    let before = ended_before(month, transaction.now_ms());
    let next = r#"SELECT DISTINCT "playerId" FROM "playerSessions"
                  WHERE login < ?1 AND logout < ?2 AND "playerId" > ?3 ORDER BY 1 LIMIT ?4"#;
    let ids: Vec<String> = {
        let mut statement = transaction.prepare_cached(next)?;
        let rows = statement.query_map(params![month.ends, before, after, HOLDERS], |row| {
            row.get(0)
        })?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for id in &ids {
        let values = params![id, month.ends, before];
        let sum = r#"UPDATE characters SET
             "earlierLogins" = "earlierLogins" + s.many, "earlierPlayedMs" = "earlierPlayedMs" + s.ms
           FROM (SELECT count(*) AS many, sum(max(logout - login, 0)) AS ms FROM "playerSessions"
                 WHERE "playerId" = ?1 AND login < ?2 AND logout < ?3) AS s
           WHERE id = ?1"#;
        transaction.prepare_cached(sum)?.execute(values)?;
        let remove = r#"DELETE FROM "playerSessions"
                        WHERE "playerId" = ?1 AND login < ?2 AND logout < ?3"#;
        transaction.prepare_cached(remove)?.execute(values)?;
    }
    Ok(ids.last().cloned())
}

/// Removes some rows of the audit log before a time. Returns how many.
fn forget(transaction: &Transaction<'_>, ends: i64) -> Result<usize> {
    let remove = "DELETE FROM audit_log WHERE id IN
                    (SELECT id FROM audit_log WHERE at < ?1 LIMIT ?2)";
    Ok(transaction.execute(remove, params![ends, ROWS])?)
}
