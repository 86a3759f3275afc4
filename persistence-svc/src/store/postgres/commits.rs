//! Batches in PostgreSQL: one transaction, one statement per table.
//!
//! Always: a batch takes locks in one order: runs by id, regions by place, characters by id. It
//! reads the rows under a lock with the locking statement, and all else under it with a later one.
//! A statement that waited still sees other rows as they were before it waited.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use super::session::{GenericClient, Kind, Transaction, Value};
use tokio_postgres::types::ToSql;
use tonic::async_trait;

use super::directory::bump;
use super::runs::columns;
use super::{Postgres, Values, ownership, value};
use crate::mutants::Mutants;
use crate::store::Commits;
use crate::store::error::{Result, StoreError};
use crate::store::judge::{
    After, Held, HeldCharacter, HeldRegion, Order, Verdict, gap, judge, order, regions,
};
use crate::store::model::{Batch, CommitOutcome, Region, SKILLS, Then};
use crate::store::value::Holdings;

/// Above this number of rows the statements get as much time as the batch's own deadline.
const LONG_ROWS: usize = 500;

/// The columns of a row beside its skills, in the order of the arrays.
const PLAIN: [(&str, &str); 12] = [
    ("regionX", "integer"),
    ("regionZ", "integer"),
    ("ownershipSequence", "bigint"),
    ("online", "boolean"),
    ("positionX", "real"),
    ("positionY", "real"),
    ("positionZ", "real"),
    ("combatLevel", "integer"),
    ("health", "integer"),
    ("coins", "integer"),
    ("placed", "boolean"),
    ("state", "bytea"),
];

/// Writes all rows; a null skill leaves the column as it is.
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let mut names = vec!["id".to_owned()];
    let mut types = vec!["text"];
    let mut sets = Vec::new();
    for (name, kind) in PLAIN {
        // These are null if a row does not write them.
        sets.push(match name {
            "coins" | "state" => format!("{name} = coalesce(u.{name}, c.{name})"),
            _ => format!(r#""{name}" = u."{name}""#),
        });
        names.push(format!(r#""{name}""#));
        types.push(kind);
    }
    for skill in SKILLS {
        for (suffix, kind) in [("Level", "integer"), ("Xp", "bigint")] {
            let name = format!(r#""{skill}{suffix}""#);
            sets.push(format!("{name} = coalesce(u.{name}, c.{name})"));
            names.push(name);
            types.push(kind);
        }
    }
    let arrays = (1..).zip(&types).map(|(n, kind)| format!("${n}::{kind}[]"));
    format!(
        "UPDATE characters c SET {} FROM UNNEST({}) AS u ({}) WHERE c.id = u.id",
        sets.join(", "),
        arrays.collect::<Vec<_>>().join(", "),
        names.join(", ")
    )
});

#[async_trait]
impl Commits for Postgres {
    async fn commit(&self, batch: Arc<Batch>) -> Result<CommitOutcome> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let outcome = apply(&transaction, &batch, self.mutants).await?;
        // A refused batch has changed nothing but the lease.
        transaction.commit().await?;
        if !batch.gives.is_empty() {
            self.changed.notify_one();
        }
        Ok(outcome)
    }
}

async fn apply(
    transaction: &Transaction<'_>,
    batch: &Batch,
    mutants: Mutants,
) -> Result<CommitOutcome> {
    if batch.len() > LONG_ROWS {
        let limit = format!("SET LOCAL statement_timeout = {}", 3_000 + batch.len());
        transaction.batch_execute(&limit).await?;
    }
    let mut held = Held::default();
    let share = share(mutants);
    let renewed = runs(transaction, batch, share, &mut held).await?;
    held.believes = !renewed && mutants.no_fence;
    if !renewed && !held.believes {
        return Ok(CommitOutcome::Fenced);
    }
    let query = transaction
        .prepare_cached("SELECT sequence FROM commits WHERE run_id = $1")
        .await?;
    let last = match transaction.query_opt(&query, &[&batch.run]).await? {
        Some(row) => row.try_get(0)?,
        None => 0,
    };
    match order(last, batch.sequence) {
        Order::Next => {}
        Order::Repeated => return Ok(CommitOutcome::Done { repeated: true }),
        Order::Gap => return Ok(gap(last, batch.sequence)),
    }
    hold_regions(transaction, batch, share, &mut held).await?;
    hold_characters(transaction, batch, &mut held).await?;
    value::read(transaction, batch, &mut held).await?;
    let after = match judge(batch, &held) {
        Ok(after) => after,
        Err(refusal) => return Ok(refusal),
    };
    let Verdict { rows, positions } = after;
    write(transaction, batch, &rows).await?;
    write_positions(transaction, batch, &positions).await?;
    value::write(transaction, batch, &held).await?;
    count_kills(transaction, batch).await?;
    close_sessions(transaction, batch).await?;
    let note = transaction
        .prepare_cached(
            "INSERT INTO commits (run_id, sequence, tick, at)
             VALUES ($1, $2, $3, tilestead_now_ms())
             ON CONFLICT (run_id) DO UPDATE
               SET sequence = excluded.sequence, tick = excluded.tick, at = excluded.at",
        )
        .await?;
    transaction
        .execute(&note, &[&batch.run, &batch.sequence, &batch.tick])
        .await?;
    if !batch.gives.is_empty() {
        let gives = batch.gives.iter().map(|give| (give.region, give.to));
        ownership::give(transaction, &gives.collect::<Vec<_>>()).await?;
        bump(transaction).await?;
    }
    Ok(CommitOutcome::Done { repeated: false })
}

/// Locks the rows of runs by id: the writing run, whose lease it renews, and the takers of regions.
/// Returns false if the writing run is fenced.
async fn runs(
    transaction: &Transaction<'_>,
    batch: &Batch,
    share: &str,
    held: &mut Held,
) -> Result<bool> {
    let targets: BTreeSet<i64> = batch.gives.iter().map(|give| give.to).collect();
    let (before, after): (Vec<i64>, Vec<i64>) = targets.iter().partition(|id| **id < batch.run);
    live(transaction, &before, share, held).await?;
    let renew = transaction
        .prepare_cached(
            "UPDATE runs SET until = tilestead_now_ms() + $2
             WHERE id = $1 AND state <> 'fenced'",
        )
        .await?;
    let values: Values<'_> = &[&batch.run, &batch.lease_ms];
    if transaction.execute(&renew, values).await? == 0 {
        return Ok(false);
    }
    live(transaction, &after, share, held).await?;
    Ok(true)
}

/// Share-locks runs and notes which of them are live.
async fn live(
    transaction: &Transaction<'_>,
    ids: &[i64],
    share: &str,
    held: &mut Held,
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let query =
        format!("SELECT id FROM runs WHERE id = ANY($1) AND state = 'live' ORDER BY id {share}");
    let statement = transaction.prepare_cached(&query).await?;
    for row in transaction.query(&statement, &[&ids]).await? {
        held.live.insert(row.try_get(0)?);
    }
    Ok(())
}

/// Returns the lock clause that orders a batch against changes of rows that it only reads.
fn share(mutants: Mutants) -> &'static str {
    if mutants.no_share_lock {
        return "";
    }
    "FOR SHARE"
}

/// Locks the regions that the batch names and reads them. If the batch gives some away, all get
/// that kind of lock: it could not take two kinds of lock in the order of places.
async fn hold_regions(
    transaction: &Transaction<'_>,
    batch: &Batch,
    share: &str,
    held: &mut Held,
) -> Result<()> {
    let regions = regions(batch);
    if regions.is_empty() {
        return Ok(());
    }
    let (xs, zs) = columns(&regions);
    let lock = if batch.gives.is_empty() {
        share
    } else {
        "FOR UPDATE"
    };
    let query = format!(
        "SELECT region_x, region_z, run_id, epoch, paused FROM regions
         WHERE (region_x, region_z) IN
           (SELECT * FROM UNNEST($1::integer[], $2::integer[]))
         ORDER BY region_x, region_z {lock}"
    );
    let statement = transaction.prepare_cached(&query).await?;
    for row in transaction.query(&statement, &[&xs, &zs]).await? {
        let region = Region {
            x: row.try_get(0)?,
            z: row.try_get(1)?,
        };
        let owner = HeldRegion {
            run: row.try_get(2)?,
            epoch: row.try_get(3)?,
            paused: row.try_get(4)?,
        };
        held.regions.insert(region, owner);
    }
    Ok(())
}

/// Locks the characters that the batch names and reads them.
async fn hold_characters(
    transaction: &Transaction<'_>,
    batch: &Batch,
    held: &mut Held,
) -> Result<()> {
    let ids = batch.rows.iter().map(|row| row.record.id.as_str());
    let walked = batch.positions.iter().map(|row| row.id.as_str());
    let ids: Vec<&str> = ids.chain(walked).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached(
            r#"SELECT id, "regionX", "regionZ", "ownershipSequence", "sessionEpoch", online, coins
               FROM characters WHERE id = ANY($1) ORDER BY id FOR UPDATE"#,
        )
        .await?;
    for row in transaction.query(&statement, &[&ids]).await? {
        let character = HeldCharacter {
            region: Region {
                x: row.try_get(1)?,
                z: row.try_get(2)?,
            },
            ownership_sequence: row.try_get(3)?,
            session_epoch: row.try_get(4)?,
            online: row.try_get(5)?,
        };
        let id: String = row.try_get(0)?;
        let holdings = Holdings {
            coins: row.try_get(6)?,
            ..Holdings::default()
        };
        held.holdings.insert(id.clone(), holdings);
        held.characters.insert(id, character);
    }
    Ok(())
}

type Column = Box<dyn Value + Sync + Send>;

async fn write(transaction: &Transaction<'_>, batch: &Batch, after: &[After]) -> Result<()> {
    if batch.rows.is_empty() {
        return Ok(());
    }
    let columns = arrays(batch, after);
    let values: Vec<&(dyn Value + Sync)> = columns
        .iter()
        .map(|column| -> &(dyn Value + Sync) { column.as_ref() })
        .collect();
    let statement = transaction.prepare_cached(&UPDATE).await?;
    let written = transaction.execute(&statement, &values).await?;
    all_written(written, batch.rows.len())
}

/// Returns one array per column: the id, then [`PLAIN`], then level and experience of each skill.
fn arrays(batch: &Batch, after: &[After]) -> Vec<Column> {
    fn of<T: Kind + ToSql + Sync + Send + 'static>(values: impl Iterator<Item = T>) -> Column {
        Box::new(values.collect::<Vec<T>>())
    }
    let records = || batch.rows.iter().map(|row| &row.record);
    let mut columns = vec![
        of(records().map(|record| record.id.clone())),
        of(after.iter().map(|after| after.region.x)),
        of(after.iter().map(|after| after.region.z)),
        of(after.iter().map(|after| after.ownership_sequence)),
        of(after.iter().map(|after| after.online)),
        of(records().map(|record| real(record.x))),
        of(records().map(|record| record.y)),
        of(records().map(|record| real(record.z))),
        of(records().map(|record| record.combat_level)),
        of(records().map(|record| record.health)),
        of(batch
            .rows
            .iter()
            .map(|row| row.holdings.then_some(row.record.holdings.coins))),
        of(records().map(|record| record.placed)),
        of(records().map(|record| record.written_state().map(<[u8]>::to_vec))),
    ];
    for number in 0..SKILLS.len() {
        let skills = || records().map(move |record| record.skills[number]);
        columns.push(of(skills().map(|skill| skill.map(|skill| skill.level))));
        columns.push(of(skills().map(|skill| skill.map(|skill| skill.xp_tenths))));
    }
    columns
}

/// Writes the rows of positions. Unchanged columns keep the row out of all indexes, so that
/// PostgreSQL puts its new version beside the old one.
async fn write_positions(
    transaction: &Transaction<'_>,
    batch: &Batch,
    after: &[Region],
) -> Result<()> {
    if batch.positions.is_empty() {
        return Ok(());
    }
    let rows = || batch.positions.iter();
    let ids: Vec<&str> = rows().map(|row| row.id.as_str()).collect();
    let (region_xs, region_zs) = columns(after);
    let xs: Vec<f32> = rows().map(|row| real(row.x)).collect();
    let ys: Vec<f32> = rows().map(|row| row.y).collect();
    let zs: Vec<f32> = rows().map(|row| real(row.z)).collect();
    let healths: Vec<i32> = rows().map(|row| row.health).collect();
    let statement = transaction
        .prepare_cached(
            r#"UPDATE characters c
               SET "regionX" = u.rx, "regionZ" = u.rz,
                 "positionX" = u.x, "positionY" = u.y, "positionZ" = u.z, health = u.health,
                 "agilityLevel" = coalesce(u.level, c."agilityLevel"),
                 "agilityXp" = coalesce(u.xp, c."agilityXp")
               FROM UNNEST($1::text[], $2::integer[], $3::integer[],
                 $4::real[], $5::real[], $6::real[], $7::integer[], $8::integer[], $9::bigint[])
                 AS u (id, rx, rz, x, y, z, health, level, xp)
               WHERE c.id = u.id"#,
        )
        .await?;
    let agility = || rows().map(|row| row.agility);
    let levels: Vec<Option<i32>> = agility().map(|grown| Some(grown?.level)).collect();
    let xps: Vec<Option<i64>> = agility().map(|grown| Some(grown?.xp_tenths)).collect();
    let values: Values<'_> = &[
        &ids, &region_xs, &region_zs, &xs, &ys, &zs, &healths, &levels, &xps,
    ];
    let written = transaction.execute(&statement, values).await?;
    all_written(written, batch.positions.len())
}

/// Checks that a statement wrote every row.
fn all_written(written: u64, rows: usize) -> Result<()> {
    if usize::try_from(written) == Ok(rows) {
        return Ok(());
    }
    let text = format!("{written} of {rows} rows were written");
    Err(StoreError::Broken(text))
}

/// Returns a coordinate as its column keeps it.
fn real(tile: i32) -> f32 {
    // A `real` holds every tile within a million exactly.
    #[allow(clippy::cast_precision_loss)]
    let real = tile as f32;
    real
}

/// Counts the kills of the batch.
async fn count_kills(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let rows = batch.rows.iter();
    let kills = rows.flat_map(|row| row.kills.iter().map(|kill| (&*row.record.id, kill)));
    let kills: Vec<(&str, &(String, i32))> = kills.collect();
    if kills.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = kills.iter().map(|(id, _)| *id).collect();
    let kinds: Vec<&str> = kills.iter().map(|(_, (kind, _))| kind.as_str()).collect();
    let counts: Vec<i32> = kills.iter().map(|(_, (_, count))| *count).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO "npcKills" ("playerId", "npcId", "killCount")
               SELECT id, kind, least(sum(many), 2147483647)::integer
               FROM UNNEST($1::text[], $2::text[], $3::integer[]) AS u (id, kind, many)
               GROUP BY id, kind
               ON CONFLICT ("playerId", "npcId") DO UPDATE
                 SET "killCount" = least(
                   "npcKills"."killCount"::bigint + excluded."killCount", 2147483647)::integer"#,
        )
        .await?;
    let values: Values<'_> = &[&ids, &kinds, &counts];
    transaction.execute(&statement, values).await?;
    Ok(())
}

/// Closes the sessions that the batch ends, unless others replaced them before.
async fn close_sessions(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut ids = Vec::new();
    let mut epochs = Vec::new();
    let mut reasons = Vec::new();
    for row in &batch.rows {
        if let Then::Logout { reason } = &row.then {
            ids.push(row.record.id.as_str());
            epochs.push(row.record.session_epoch);
            reasons.push(reason.as_str());
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached(
            r#"UPDATE "playerSessions" s SET logout = tilestead_now_ms(), reason = u.reason
               FROM UNNEST($1::text[], $2::bigint[], $3::text[]) AS u (id, epoch, reason)
               WHERE s."playerId" = u.id AND s."sessionEpoch" = u.epoch AND s.logout IS NULL"#,
        )
        .await?;
    let values: Values<'_> = &[&ids, &epochs, &reasons];
    transaction.execute(&statement, values).await?;
    Ok(())
}
