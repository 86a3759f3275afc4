//! The directory and placement in PostgreSQL.

use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio_postgres::IsolationLevel;
use tonic::async_trait;

use super::runs::{columns, disown};
use super::{CHANNEL, Postgres, Values};
use crate::placement::plan::{Change, Move, RunView, View};
use crate::store::Directories;
use crate::store::error::Result;
use crate::store::model::{Directory, DirectoryRun, Region, RegionOwner, RunState};

/// Which life of the database this is.
pub(super) const INCARNATION: &str = "(SELECT value FROM incarnation)";
const VERSION: &str = "SELECT version FROM directory";

#[async_trait]
impl Directories for Postgres {
    async fn version(&self) -> Result<i64> {
        let client = self.client().await?;
        let statement = client.prepare_cached(VERSION).await?;
        Ok(client.query_one(&statement, &[]).await?.try_get(0)?)
    }

    async fn directory(&self) -> Result<Directory> {
        let mut client = self.client().await?;
        let moment = moment(&mut client).await?;
        let version = moment.query_one(VERSION, &[]).await?.try_get(0)?;
        let incarnation = format!("SELECT {INCARNATION}");
        let incarnation = moment.query_one(&incarnation, &[]).await?.try_get(0)?;
        let query = "SELECT id, address, state, build, content_hash FROM runs
                     WHERE state <> 'fenced' ORDER BY id";
        let mut runs = Vec::new();
        for row in moment.query(query, &[]).await? {
            runs.push(DirectoryRun {
                id: row.try_get(0)?,
                address: row.try_get(1)?,
                state: RunState::parse(row.try_get(2)?),
                build: row.try_get(3)?,
                content_hash: row.try_get(4)?,
            });
        }
        let regions = owners(&moment).await?;
        moment.commit().await?;
        Ok(Directory {
            version,
            incarnation,
            runs,
            regions,
        })
    }

    async fn lead(&self, holder: &str, lease_ms: i64) -> Result<bool> {
        let client = self.client().await?;
        let fresh = client
            .prepare_cached(
                "SELECT 1 FROM planner
                 WHERE holder = $1 AND until > tilestead_now_ms() + $2::bigint / 2",
            )
            .await?;
        let values: Values<'_> = &[&holder, &lease_ms];
        if client.query_opt(&fresh, values).await?.is_some() {
            return Ok(true);
        }
        let take = client
            .prepare_cached(
                "UPDATE planner SET holder = $1, until = tilestead_now_ms() + $2
                 WHERE holder = $1 OR until <= tilestead_now_ms()",
            )
            .await?;
        Ok(client.execute(&take, values).await? == 1)
    }

    async fn resign(&self, holder: &str) -> Result<()> {
        let client = self.client().await?;
        let give_up = "UPDATE planner SET until = 0 WHERE holder = $1";
        client.execute(give_up, &[&holder]).await?;
        Ok(())
    }

    async fn view(&self) -> Result<View> {
        let mut client = self.client().await?;
        let moment = moment(&mut client).await?;
        let query = "SELECT tilestead_now_ms(),
                       (SELECT count(*) FROM runs WHERE taken_over > tilestead_now_ms() - 60000)";
        let row = moment.query_one(query, &[]).await?;
        let (now_ms, taken_over): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let query = "SELECT id, state, registered, until FROM runs WHERE state <> 'fenced'
                     ORDER BY id";
        let mut runs = Vec::new();
        for row in moment.query(query, &[]).await? {
            runs.push(RunView {
                id: row.try_get(0)?,
                state: RunState::parse(row.try_get(1)?),
                registered_ms: row.try_get(2)?,
                until_ms: row.try_get(3)?,
            });
        }
        let regions = owners(&moment).await?;
        moment.commit().await?;
        Ok(View {
            now_ms,
            runs,
            regions,
            taken_over: usize::try_from(taken_over).unwrap_or(usize::MAX),
        })
    }

    async fn apply(&self, change: Change) -> Result<(usize, usize)> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        // A row that is locked belongs to a run that is committing right now: it lives.
        let rows = transaction
            .query(
                "UPDATE runs SET state = 'fenced', taken_over = tilestead_now_ms()
                 WHERE id IN
                   (SELECT id FROM runs
                    WHERE id = ANY($1) AND state <> 'fenced' AND until <= tilestead_now_ms()
                    ORDER BY id FOR UPDATE SKIP LOCKED)
                 RETURNING id",
                &[&change.fence],
            )
            .await?;
        let mut fenced: Vec<i64> = Vec::new();
        for row in &rows {
            fenced.push(row.try_get(0)?);
        }
        let moved = give(&transaction, &change.moves).await?;
        // Nothing may stay with a fenced run.
        let orphans = disown(&transaction, &fenced).await?;
        if !fenced.is_empty() || moved + orphans > 0 {
            bump(&transaction).await?;
        }
        transaction.commit().await?;
        self.changed.notify_one();
        Ok((fenced.len(), usize::try_from(moved).unwrap_or(usize::MAX)))
    }
}

/// Gives away what stands at the epoch that the plan saw and is nobody's or a fenced run's.
async fn give(transaction: &Transaction<'_>, moves: &[Move]) -> Result<u64> {
    if moves.is_empty() {
        return Ok(0);
    }
    let (xs, zs) = columns(moves.iter().map(|step| &step.region));
    let epochs: Vec<i64> = moves.iter().map(|step| step.epoch).collect();
    let to: Vec<i64> = moves.iter().map(|step| step.to).collect();
    transaction
        .execute(
            "SELECT 1 FROM regions
             WHERE (region_x, region_z) IN
               (SELECT * FROM UNNEST($1::integer[], $2::integer[]))
             ORDER BY region_x, region_z FOR UPDATE",
            &[&xs, &zs],
        )
        .await?;
    let values: Values<'_> = &[&xs, &zs, &epochs, &to];
    let moved = transaction
        .execute(
            "UPDATE regions r SET run_id = u.to_run, epoch = r.epoch + 1
             FROM UNNEST($1::integer[], $2::integer[], $3::bigint[], $4::bigint[])
               AS u (x, z, epoch, to_run)
             WHERE r.region_x = u.x AND r.region_z = u.z AND r.epoch = u.epoch
               AND NOT EXISTS
                 (SELECT 1 FROM runs old WHERE old.id = r.run_id AND old.state <> 'fenced')
               AND EXISTS (SELECT 1 FROM runs new WHERE new.id = u.to_run AND new.state = 'live')",
            values,
        )
        .await?;
    Ok(moved)
}

/// A transaction that reads and sees one moment.
async fn moment(client: &mut Object) -> Result<Transaction<'_>> {
    let moment = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    Ok(moment)
}

async fn owners(moment: &Transaction<'_>) -> Result<Vec<RegionOwner>> {
    let query = "SELECT region_x, region_z, run_id, epoch FROM regions ORDER BY region_x, region_z";
    let mut owners = Vec::new();
    for row in moment.query(query, &[]).await? {
        owners.push(RegionOwner {
            region: Region {
                x: row.try_get(0)?,
                z: row.try_get(1)?,
            },
            run: row.try_get(2)?,
            epoch: row.try_get(3)?,
        });
    }
    Ok(owners)
}

/// Notes that runs or regions changed, and tells all replicas when the transaction commits.
pub(super) async fn bump(transaction: &Transaction<'_>) -> Result<()> {
    transaction
        .execute("UPDATE directory SET version = version + 1", &[])
        .await?;
    transaction
        .execute("SELECT pg_notify($1, '')", &[&CHANNEL])
        .await?;
    Ok(())
}
