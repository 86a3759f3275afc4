//! Batches in PostgreSQL: one transaction, one statement per table.
//!
//! Always: locks are taken in one order: the run's row, regions by place, characters by id. What
//! a lock protects is read in a statement after the one that took it, because a statement that
//! waited still sees the world as it was before it waited.

use std::sync::{Arc, LazyLock};

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::types::ToSql;
use tonic::async_trait;

use super::runs::columns;
use super::{Postgres, Values};
use crate::store::Commits;
use crate::store::error::{Result, StoreError};
use crate::store::judge::{
    After, Held, HeldCharacter, HeldRegion, Order, gap, judge, order, regions,
};
use crate::store::model::{Batch, CommitOutcome, Region, SKILLS, Then};

/// Above this the statements get as long as the batch's own deadline.
const LONG_ROWS: usize = 500;

/// The columns of a row beside its skills, in the order of the arrays.
const PLAIN: [(&str, &str); 13] = [
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
    ("runEnergy", "integer"),
    ("running", "boolean"),
    ("placed", "boolean"),
];

/// Writes all rows; a skill that is null stays as it is.
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let mut names = vec!["id".to_owned()];
    let mut types = vec!["text"];
    let mut sets = Vec::new();
    for (name, kind) in PLAIN {
        sets.push(format!(r#""{name}" = u."{name}""#));
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
        let outcome = apply(&transaction, &batch).await?;
        // A refused batch has changed nothing but the lease.
        transaction.commit().await?;
        Ok(outcome)
    }
}

async fn apply(transaction: &Transaction<'_>, batch: &Batch) -> Result<CommitOutcome> {
    if batch.rows.len() > LONG_ROWS {
        let limit = format!("SET LOCAL statement_timeout = {}", 3_000 + batch.rows.len());
        transaction.batch_execute(&limit).await?;
    }
    let renew = transaction
        .prepare_cached(
            "UPDATE runs SET until = tilestead_now_ms() + $2
             WHERE id = $1 AND state <> 'fenced'",
        )
        .await?;
    if transaction
        .execute(&renew, &[&batch.run, &batch.lease_ms])
        .await?
        == 0
    {
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
    let held = held(transaction, batch).await?;
    let after = match judge(batch, &held) {
        Ok(after) => after,
        Err(refusal) => return Ok(refusal),
    };
    write(transaction, batch, &after).await?;
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
    Ok(CommitOutcome::Done { repeated: false })
}

/// Locks everything that the batch names and reads it.
async fn held(transaction: &Transaction<'_>, batch: &Batch) -> Result<Held> {
    let mut held = Held::default();
    if batch.rows.is_empty() {
        return Ok(held);
    }
    let (xs, zs) = columns(&regions(batch));
    let statement = transaction
        .prepare_cached(
            "SELECT region_x, region_z, run_id, epoch FROM regions
             WHERE (region_x, region_z) IN
               (SELECT * FROM UNNEST($1::integer[], $2::integer[]))
             ORDER BY region_x, region_z FOR SHARE",
        )
        .await?;
    for row in transaction.query(&statement, &[&xs, &zs]).await? {
        let region = Region {
            x: row.try_get(0)?,
            z: row.try_get(1)?,
        };
        let owner = HeldRegion {
            run: row.try_get(2)?,
            epoch: row.try_get(3)?,
        };
        held.regions.insert(region, owner);
    }
    let ids: Vec<&str> = batch
        .rows
        .iter()
        .map(|row| row.record.id.as_str())
        .collect();
    let statement = transaction
        .prepare_cached(
            r#"SELECT id, "regionX", "regionZ", "ownershipSequence", "sessionEpoch", online
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
        held.characters.insert(row.try_get(0)?, character);
    }
    Ok(held)
}

type Column = Box<dyn ToSql + Sync + Send>;

async fn write(transaction: &Transaction<'_>, batch: &Batch, after: &[After]) -> Result<()> {
    if batch.rows.is_empty() {
        return Ok(());
    }
    let columns = arrays(batch, after);
    let values: Vec<&(dyn ToSql + Sync)> = columns
        .iter()
        .map(|column| -> &(dyn ToSql + Sync) { column.as_ref() })
        .collect();
    let statement = transaction.prepare_cached(&UPDATE).await?;
    let written = transaction.execute(&statement, &values).await?;
    if usize::try_from(written) != Ok(batch.rows.len()) {
        let text = format!("{written} of {} rows were written", batch.rows.len());
        return Err(StoreError::Broken(text));
    }
    Ok(())
}

/// One array per column: the id, then [`PLAIN`], then level and experience of each skill.
fn arrays(batch: &Batch, after: &[After]) -> Vec<Column> {
    fn of<T: ToSql + Sync + Send + 'static>(values: impl Iterator<Item = T>) -> Column {
        Box::new(values.collect::<Vec<T>>())
    }
    // A `real` holds every tile within a million exactly.
    #[allow(clippy::cast_precision_loss)]
    let real = |tile: i32| tile as f32;
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
        of(records().map(|record| record.coins)),
        of(records().map(|record| record.run_energy)),
        of(records().map(|record| record.running)),
        of(records().map(|record| record.placed)),
    ];
    for number in 0..SKILLS.len() {
        let skills = || records().map(move |record| record.skills[number]);
        columns.push(of(skills().map(|skill| skill.map(|skill| skill.level))));
        columns.push(of(skills().map(|skill| skill.map(|skill| skill.xp_tenths))));
    }
    columns
}

/// Closes the sessions that the batch ends, unless they were replaced before.
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
