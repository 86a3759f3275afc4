//! The directory and placement in SQLite.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::{Sqlite, Transaction, all, bump, placement};
use crate::placement::plan::{Applied, Change, FAULT_MS, View, WITNESS_MS};
use crate::store::Directories;
use crate::store::directory::{OWNERS, REGION_VIEWS, RUN_VIEWS, RUNS};
use crate::store::error::{Result, StoreError};
use crate::store::model::Directory;

const MINUTE_MS: i64 = 60_000;

#[async_trait]
impl Directories for Sqlite {
    async fn version(&self) -> Result<i64> {
        self.read(version).await
    }

    async fn directory(&self) -> Result<Directory> {
        self.read(|transaction| {
            Ok(Directory {
                version: version(transaction)?,
                incarnation: incarnation(transaction)?,
                runs: all(transaction, RUNS, [])?,
                regions: all(transaction, OWNERS, [])?,
                frozen: transaction
                    .prepare_cached("SELECT frozen FROM switches")?
                    .query_row([], |row| row.get(0))?,
            })
        })
        .await
    }

    async fn lead(&self, holder: &str, lease_ms: i64) -> Result<bool> {
        let holder = holder.to_owned();
        self.write(move |transaction| {
            let now = transaction.now_ms();
            let fresh: i64 = transaction
                .prepare_cached("SELECT count(*) FROM planner WHERE holder = ?1 AND until > ?2")?
                .query_row(params![holder, now + lease_ms / 2], |row| row.get(0))?;
            if fresh == 1 {
                return Ok(true);
            }
            let taken = transaction
                .prepare_cached(
                    "UPDATE planner SET holder = ?1, until = ?2 WHERE holder = ?1 OR until <= ?3",
                )?
                .execute(params![holder, now + lease_ms, now])?;
            Ok(taken == 1)
        })
        .await
    }

    async fn resign(&self, holder: &str) -> Result<()> {
        let holder = holder.to_owned();
        self.write(move |transaction| {
            transaction.execute("UPDATE planner SET until = 0 WHERE holder = ?1", [holder])?;
            Ok(())
        })
        .await
    }

    async fn view(&self) -> Result<View> {
        self.read(|transaction| {
            let now_ms = transaction.now_ms();
            let taken_over: i64 = transaction
                .prepare_cached("SELECT count(*) FROM runs WHERE taken_over > ?1")?
                .query_row([now_ms - MINUTE_MS], |row| row.get(0))?;
            Ok(View {
                now_ms,
                runs: all(transaction, RUN_VIEWS, [now_ms - WITNESS_MS])?,
                regions: all(transaction, REGION_VIEWS, [now_ms - FAULT_MS])?,
                taken_over: usize::try_from(taken_over).unwrap_or(usize::MAX),
                backed_off: BTreeSet::new(),
            })
        })
        .await
    }

    async fn apply(&self, change: Change) -> Result<Applied> {
        let applied = self
            .write(move |transaction| {
                let applied = placement::apply(transaction, &change)?;
                if applied.is_anything() {
                    bump(transaction)?;
                }
                Ok(applied)
            })
            .await?;
        if applied.is_anything() {
            self.changed.notify_one();
        }
        Ok(applied)
    }

    async fn suspect(&self, run: i64, witness: &str, by: Option<i64>) -> Result<()> {
        let witness = witness.to_owned();
        self.write(move |transaction| {
            if let Some(by) = by
                && is_alive(transaction, by)? != Some(true)
            {
                return Err(StoreError::Fenced);
            }
            match is_alive(transaction, run)? {
                None => return Err(StoreError::NotFound("run")),
                Some(false) => return Ok(()),
                Some(true) => {}
            }
            transaction
                .prepare_cached(
                    "INSERT INTO witnesses (run_id, witness, at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (run_id, witness) DO UPDATE SET at = excluded.at",
                )?
                .execute(params![run, witness, transaction.now_ms()])?;
            Ok(())
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }
}

/// Returns whether a run is not fenced; `None`: there is no such run.
fn is_alive(transaction: &Transaction<'_>, run: i64) -> Result<Option<bool>> {
    let alive = transaction
        .prepare_cached("SELECT state <> 'fenced' FROM runs WHERE id = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    Ok(alive)
}

fn version(transaction: &Transaction<'_>) -> Result<i64> {
    let version = transaction
        .prepare_cached("SELECT version FROM directory")?
        .query_row([], |row| row.get(0))?;
    Ok(version)
}

/// Returns the incarnation of the database.
pub(super) fn incarnation(transaction: &Transaction<'_>) -> Result<i64> {
    let value = transaction
        .prepare_cached("SELECT value FROM incarnation")?
        .query_row([], |row| row.get(0))?;
    Ok(value)
}
