//! The directory and placement in SQLite.

use rusqlite::{Transaction, params};
use tonic::async_trait;

use super::runs::disown;
use super::{Sqlite, bump, now_ms};
use crate::placement::plan::{Change, RunView, View};
use crate::store::Directories;
use crate::store::error::Result;
use crate::store::model::{Directory, DirectoryRun, Region, RegionOwner, RunState};

const MINUTE_MS: i64 = 60_000;

#[async_trait]
impl Directories for Sqlite {
    async fn version(&self) -> Result<i64> {
        self.read(version).await
    }

    async fn directory(&self) -> Result<Directory> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT id, address, state, build, content_hash FROM runs
                 WHERE state <> 'fenced' ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(DirectoryRun {
                    id: row.get(0)?,
                    address: row.get(1)?,
                    state: RunState::parse(&row.get::<_, String>(2)?),
                    build: row.get(3)?,
                    content_hash: row.get(4)?,
                })
            })?;
            Ok(Directory {
                version: version(transaction)?,
                incarnation: incarnation(transaction)?,
                runs: rows.collect::<rusqlite::Result<_>>()?,
                regions: owners(transaction)?,
            })
        })
        .await
    }

    async fn lead(&self, holder: &str, lease_ms: i64) -> Result<bool> {
        let holder = holder.to_owned();
        self.write(move |transaction| {
            let now = now_ms();
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
            let now_ms = now_ms();
            let mut statement = transaction.prepare_cached(
                "SELECT id, state, registered, until FROM runs WHERE state <> 'fenced'
                 ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(RunView {
                    id: row.get(0)?,
                    state: RunState::parse(&row.get::<_, String>(1)?),
                    registered_ms: row.get(2)?,
                    until_ms: row.get(3)?,
                })
            })?;
            let taken_over: i64 = transaction
                .prepare_cached("SELECT count(*) FROM runs WHERE taken_over > ?1")?
                .query_row([now_ms - MINUTE_MS], |row| row.get(0))?;
            Ok(View {
                now_ms,
                runs: rows.collect::<rusqlite::Result<_>>()?,
                regions: owners(transaction)?,
                taken_over: usize::try_from(taken_over).unwrap_or(usize::MAX),
            })
        })
        .await
    }

    async fn apply(&self, change: Change) -> Result<(usize, usize)> {
        let done = self
            .write(move |transaction| apply(transaction, &change))
            .await?;
        self.changed.notify_one();
        Ok(done)
    }
}

fn apply(transaction: &Transaction<'_>, change: &Change) -> Result<(usize, usize)> {
    let now = now_ms();
    let mut fenced = Vec::new();
    for run in &change.fence {
        let ended = transaction.execute(
            "UPDATE runs SET state = 'fenced', taken_over = ?2
             WHERE id = ?1 AND state <> 'fenced' AND until <= ?2",
            [*run, now],
        )?;
        if ended == 1 {
            fenced.push(*run);
        }
    }
    let mut moved = 0;
    for step in &change.moves {
        moved += transaction
            .prepare_cached(
                "UPDATE regions SET run_id = ?3, epoch = epoch + 1
                 WHERE region_x = ?1 AND region_z = ?2 AND epoch = ?4
                   AND NOT EXISTS
                     (SELECT 1 FROM runs WHERE id = regions.run_id AND state <> 'fenced')
                   AND EXISTS (SELECT 1 FROM runs WHERE id = ?3 AND state = 'live')",
            )?
            .execute(params![step.region.x, step.region.z, step.to, step.epoch])?;
    }
    // Nothing may stay with a fenced run.
    let mut orphans = 0;
    for run in &fenced {
        orphans += disown(transaction, *run)?;
    }
    if fenced.len() + moved + orphans > 0 {
        bump(transaction)?;
    }
    Ok((fenced.len(), moved))
}

fn version(transaction: &Transaction<'_>) -> Result<i64> {
    let version = transaction
        .prepare_cached("SELECT version FROM directory")?
        .query_row([], |row| row.get(0))?;
    Ok(version)
}

/// Which life of the database this is.
pub(super) fn incarnation(transaction: &Transaction<'_>) -> Result<i64> {
    let value = transaction
        .prepare_cached("SELECT value FROM incarnation")?
        .query_row([], |row| row.get(0))?;
    Ok(value)
}

fn owners(transaction: &Transaction<'_>) -> Result<Vec<RegionOwner>> {
    let mut statement = transaction.prepare_cached(
        "SELECT region_x, region_z, run_id, epoch FROM regions ORDER BY region_x, region_z",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(RegionOwner {
            region: Region {
                x: row.get(0)?,
                z: row.get(1)?,
            },
            run: row.get(2)?,
            epoch: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
