//! The months of the ledger, the sessions and the audit log in PostgreSQL: a partition each.
//!
//! Always: one transaction at a time changes months, and play never waits for one: it takes the
//! locks that play needs by `archive_lock`, after all long work, and holds them only until its end.
//! The rest of a dropped month is in a partition from the beginning of time to the month's end.

use tokio::sync::mpsc;
use tokio_postgres::error::SqlState;
use tonic::async_trait;

use super::directory::moment;
use super::limits::PATIENT;
use super::session::{Client, GenericClient, Transaction};
use super::{Postgres, Values, all};
use crate::store::Archive;
use crate::store::archive::{
    CARRIED, CLOSE, Calendar, DROPPED, Dropped, EXPORTED, FORGET_NOTHING, HOLDERS, Kept, Line,
    MONTHS, Month, MonthReport, PIECE, Standing, Table, add_up, ahead, due, ended_before, find,
    may_drop, may_export, missing,
};
use crate::store::error::{Result, StoreError};
use crate::store::model::NOBODY;

/// Time limit of a statement over a month. The first month may have the rows of years.
const LIMITS: &str = "SET LOCAL statement_timeout = '3600s'; SET LOCAL enable_seqscan = on";
/// Only one transaction changes months at a time in a database; the number is ours alone.
const LOCK: &str = "7453010372";

#[async_trait]
impl Archive for Postgres {
    async fn keep_months(&self, now_ms: Option<i64>) -> Result<Kept> {
        let mut client = self.own_client().await?;
        let now = match now_ms {
            Some(now) => now,
            None => now_of(&client).await?,
        };
        let mut kept = Kept::default();
        while let Some(made) = make_next(&mut client, now).await? {
            kept.made.push(made);
        }
        while let Some(closed) = close_next(&mut client, now).await? {
            kept.closed.push(closed);
        }
        Ok(kept)
    }

    async fn months_standing(&self) -> Result<Standing> {
        let client = self.client().await?;
        let months = months(&client).await?;
        let mut unplaced = 0;
        for table in Table::ALL {
            let query = format!(r#"SELECT count(*) FROM "{}_rest""#, table.name());
            unplaced += client.query_one(&query, &[]).await?.try_get::<_, i64>(0)?;
        }
        Ok(Standing {
            ahead: ahead(&months, now_of(&client).await?),
            unplaced,
        })
    }

    async fn months(&self) -> Result<Vec<MonthReport>> {
        let mut client = self.own_client().await?;
        let moment = moment(&mut client).await?;
        moment.batch_execute(LIMITS).await?;
        let mut found = Vec::new();
        for month in months(&moment).await? {
            let (mut rows, mut bytes) = (0, 0);
            if month.dropped.is_none() {
                rows = count(&moment, &month).await?;
                let query = format!("SELECT pg_total_relation_size('{}')", quoted(&month.part));
                bytes = moment.query_one(&query, &[]).await?.try_get(0)?;
            }
            found.push(MonthReport {
                month,
                rows,
                bytes: Some(bytes),
            });
        }
        moment.commit().await?;
        Ok(found)
    }

    async fn export_month(
        &self,
        table: Table,
        month: &str,
        rows: mpsc::Sender<Vec<Line>>,
    ) -> Result<i64> {
        let mut client = self.own_client().await?;
        let moment = moment(&mut client).await?;
        moment.batch_execute(LIMITS).await?;
        let months = months(&moment).await?;
        let month = find(&months, table, month)?;
        may_export(month)?;
        let now = now_of(&moment).await?;
        // COPY would need a statement with a name, which a pooler cannot keep.
        let lines = table.lines(month);
        let declare = format!("{PATIENT}; DECLARE lines NO SCROLL CURSOR FOR {lines}");
        moment.batch_execute(&declare).await?;
        let fetch = format!("FETCH {PIECE} FROM lines");
        loop {
            let piece = moment.query(&fetch, &[]).await?;
            if piece.is_empty() {
                break;
            }
            let mut lines = Vec::with_capacity(piece.len());
            for row in &piece {
                let line = (0..row.len()).map(|column| row.try_get(column));
                lines.push(line.collect::<std::result::Result<Line, _>>()?);
            }
            let sent = rows.send(lines).await;
            sent.map_err(|_| StoreError::Away("nobody takes the rows".to_owned()))?;
        }
        moment.commit().await?;
        Ok(now)
    }

    async fn note_export(
        &self,
        table: Table,
        month: &str,
        at_ms: i64,
        rows: i64,
        sha256: &str,
    ) -> Result<()> {
        let client = self.client().await?;
        let values: Values<'_> = &[&at_ms, &rows, &sha256, &table.kind(), &month];
        match client.execute(EXPORTED, values).await? {
            0 => Err(StoreError::NotFound("month of that table")),
            _ => Ok(()),
        }
    }

    async fn drop_month(&self, table: Table, month: &str, unexported: bool) -> Result<Dropped> {
        let mut client = self.own_client().await?;
        let (now, had) = {
            let moment = moment(&mut client).await?;
            moment.batch_execute(LIMITS).await?;
            let months = months(&moment).await?;
            let month = find(&months, table, month)?;
            may_export(month)?;
            let had = count(&moment, month).await?;
            may_drop(&months, month, had, unexported)?;
            (now_of(&moment).await?, had)
        };
        if table == Table::Sessions {
            let mut after = Some(String::new());
            while let Some(last) = after {
                after = sum_sessions(&mut client, month, now, &last).await?;
            }
        }
        let number = match table {
            Table::Ledger => {
                let number = "UPDATE operations SET last = last + 1 RETURNING last";
                client.query_one(number, &[]).await?.try_get(0)?
            }
            Table::Sessions | Table::Audit => 0,
        };
        let transaction = client.transaction().await?;
        let kept = replace(&transaction, table, month, number, unexported).await?;
        transaction.commit().await?;
        let stay = if table == Table::Sessions { kept } else { 0 };
        Ok(Dropped {
            rows: had - stay,
            kept,
        })
    }
}

async fn now_of(client: &impl GenericClient) -> Result<i64> {
    let now = client.query_one("SELECT tilestead_now_ms()", &[]).await?;
    Ok(now.try_get(0)?)
}

async fn months(client: &impl GenericClient) -> Result<Vec<Month>> {
    all(&client.query(MONTHS, &[]).await?)
}

async fn count(client: &impl GenericClient, month: &Month) -> Result<i64> {
    let query = format!("SELECT count(*) FROM {}", quoted(&month.part));
    Ok(client.query_one(&query, &[]).await?.try_get(0)?)
}

/// Returns a name in the database with its quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Begins a change of months; `None`: another replica is at it for longer than a lock may take.
async fn begin(client: &mut Client) -> Result<Option<Transaction<'_>>> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(LIMITS).await?;
    let lock = format!("SELECT pg_advisory_xact_lock({LOCK})");
    match transaction.query_one(&lock, &[]).await {
        Ok(_) => Ok(Some(transaction)),
        Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes the next month that is missing.
async fn make_next(client: &mut Client, now: i64) -> Result<Option<String>> {
    let Some(transaction) = begin(client).await? else {
        return Ok(None);
    };
    let Some(next) = missing(&months(&transaction).await?, now) else {
        return Ok(None);
    };
    let kind = next.table.kind();
    let add = "SELECT archive_add($1, $2, $3, $4)";
    let values: Values<'_> = &[&kind, &next.month, &next.begins, &next.ends];
    transaction.execute(add, values).await?;
    transaction.commit().await?;
    Ok(Some(format!("{kind} {}", next.month)))
}

/// Closes the next month that is due.
async fn close_next(client: &mut Client, now: i64) -> Result<Option<String>> {
    let Some(transaction) = begin(client).await? else {
        return Ok(None);
    };
    let months = months(&transaction).await?;
    let Some(month) = due(&months, now) else {
        return Ok(None);
    };
    if month.kind == Table::Ledger.kind() {
        // Waits for those who still write into this month. The statements after it see their rows.
        let lock = format!("LOCK TABLE {} IN SHARE MODE", quoted(&month.part));
        transaction.batch_execute(&lock).await?;
        transaction.execute(&add_up(month), &[]).await?;
        transaction.execute(FORGET_NOTHING, &[]).await?;
    }
    let rows = count(&transaction, month).await?;
    let values: Values<'_> = &[&now, &rows, &month.kind, &month.month];
    transaction.execute(CLOSE, values).await?;
    transaction.commit().await?;
    Ok(Some(format!("{} {}", month.kind, month.month)))
}

/// Returns the partitions with the rows up to the end of a month, each once.
fn parts<'m>(months: &'m [Month], last: &Month) -> Vec<&'m str> {
    let up_to = |month: &&Month| month.kind == last.kind && month.ends <= last.ends;
    let mut parts: Vec<&str> = months.iter().filter(up_to).map(|m| &*m.part).collect();
    parts.dedup();
    parts
}

/// Adds the sessions of the next characters up, as far as they ended long ago, and removes them.
/// Returns the last character, if there may be more.
async fn sum_sessions(
    client: &mut Client,
    month: &str,
    now: i64,
    after: &str,
) -> Result<Option<String>> {
    let transaction = client.transaction().await?;
    let months = months(&transaction).await?;
    let month = find(&months, Table::Sessions, month)?;
    let (before, ends) = (ended_before(month, now), month.ends);
    let next = format!(
        r#"SELECT DISTINCT "playerId" FROM "playerSessions"
           WHERE login < {ends} AND logout < $1 AND "playerId" > $2 ORDER BY 1 LIMIT $3"#
    );
    let mut ids: Vec<String> = Vec::new();
    for row in transaction
        .query(&next, &[&before, &after, &HOLDERS])
        .await?
    {
        ids.push(row.try_get(0)?);
    }
    // The order of locks is that of all others: the characters by id, then their sessions.
    let lock = "SELECT 1 FROM characters WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    transaction.execute(lock, &[&ids]).await?;
    let sum = format!(
        r#"WITH gone AS (DELETE FROM "playerSessions"
             WHERE login < {ends} AND "playerId" = ANY($1) AND logout < $2
             RETURNING "playerId", greatest(logout - login, 0) AS ms),
           sums AS (SELECT "playerId" AS id, count(*) AS many, sum(ms)::bigint AS ms
             FROM gone GROUP BY 1)
           UPDATE characters c SET "earlierLogins" = c."earlierLogins" + s.many,
             "earlierPlayedMs" = c."earlierPlayedMs" + s.ms
           FROM sums s WHERE c.id = s.id"#
    );
    transaction.execute(&sum, &[&ids, &before]).await?;
    transaction.commit().await?;
    Ok(ids.pop())
}

/// Replaces the partitions up to the end of a month by one with all that stays of them. Returns
/// the number of its rows.
async fn replace(
    transaction: &Transaction<'_>,
    table: Table,
    month: &str,
    number: i64,
    unexported: bool,
) -> Result<i64> {
    let lock = format!("{LIMITS}; SELECT pg_advisory_xact_lock({LOCK})");
    transaction.batch_execute(&lock).await?;
    let months = months(transaction).await?;
    let month = find(&months, table, month)?;
    let name = quoted(table.name());
    let rest = format!(
        "{}_before_{}",
        table.name(),
        Calendar::at(month.ends).to_string().replace('-', "_")
    );
    let make = "SELECT archive_part($1, $2)";
    transaction.execute(make, &[&table.kind(), &rest]).await?;
    let stays = quoted(&rest);
    // Proves that the rows belong there, so that nobody waits while PostgreSQL reads them.
    let (at, ends) = (table.at(), month.ends);
    let prove = format!("ALTER TABLE {stays} ADD CHECK ({at} < {ends})");
    transaction.batch_execute(&prove).await?;
    let parts: Vec<String> = parts(&months, month).into_iter().map(quoted).collect();
    let together = parts.iter().map(|part| format!("SELECT * FROM {part}"));
    let together = together.collect::<Vec<_>>().join(" UNION ALL ");
    let all_parts = parts.join(", ");
    if table == Table::Ledger {
        let lock = format!("LOCK TABLE {all_parts} IN SHARE MODE");
        transaction.batch_execute(&lock).await?;
    } else {
        exclusive(transaction, table, &all_parts).await?;
    }
    may_drop(&months, month, count(transaction, month).await?, unexported)?;
    let kept = match table {
        Table::Ledger => {
            let sums = format!(
                r#"INSERT INTO {stays}
                     (run_id, sequence, "row", character_id, item_id, cause, delta, at)
                   SELECT $1, $2, (row_number() OVER ())::integer, s.holder, s.item, $3, s.amount, $4
                   FROM (SELECT character_id AS holder, item_id AS item, sum(delta)::bigint AS amount
                         FROM ({together}) AS rows GROUP BY 1, 2 HAVING sum(delta) <> 0) AS s"#
            );
            let values: Values<'_> = &[&NOBODY, &number, &CARRIED, &(ends - 1)];
            let kept = transaction.execute(&sums, values).await?;
            exclusive(transaction, table, &all_parts).await?;
            kept
        }
        // All that ended long ago is gone already.
        Table::Sessions => {
            let copy = format!("INSERT INTO {stays} {together}");
            transaction.execute(&copy, &[]).await?
        }
        Table::Audit => 0,
    };
    let swap = format!(
        "DROP TABLE {all_parts};
         ALTER TABLE {name} ATTACH PARTITION {stays} FOR VALUES FROM (MINVALUE) TO ({ends})"
    );
    transaction.batch_execute(&swap).await?;
    let now = now_of(transaction).await?;
    let values: Values<'_> = &[&rest, &now, &table.kind(), &ends];
    transaction.execute(DROPPED, values).await?;
    i64::try_from(kept).map_err(|_| StoreError::Broken(format!("{kept} rows")))
}

/// Locks a table, these of its partitions and the rest, until the transaction ends.
async fn exclusive(transaction: &Transaction<'_>, table: Table, parts: &str) -> Result<()> {
    let name = table.name();
    // A partition of sessions refers to characters.
    let first = match table {
        Table::Sessions => "LOCK TABLE characters IN SHARE ROW EXCLUSIVE MODE; ",
        Table::Ledger | Table::Audit => "",
    };
    let locks = format!(
        r#"{first}LOCK TABLE ONLY "{name}", {parts}, "{name}_rest" IN ACCESS EXCLUSIVE MODE"#
    );
    transaction
        .execute("SELECT archive_lock($1)", &[&locks])
        .await?;
    Ok(())
}
