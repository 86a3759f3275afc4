//! The directory and placement in PostgreSQL.

use std::collections::BTreeSet;

use super::session::{Client, GenericClient, Transaction};
use tonic::async_trait;

use super::{CHANNEL, Postgres, Values, all, placement};
use crate::placement::plan::{Applied, Change, FAULT_MS, View, WITNESS_MS};
use crate::store::Directories;
use crate::store::directory::{OWNERS, REGION_VIEWS, RUN_VIEWS, RUNS};
use crate::store::error::{Result, StoreError};
use crate::store::model::Directory;

/// Incarnation of the database.
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
        let runs = all(&moment.query(RUNS, &[]).await?)?;
        let regions = all(&moment.query(OWNERS, &[]).await?)?;
        let frozen = "SELECT frozen FROM switches";
        let frozen = moment.query_one(frozen, &[]).await?.try_get(0)?;
        moment.commit().await?;
        Ok(Directory {
            version,
            incarnation,
            runs,
            regions,
            frozen,
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
        let witnessed = moment.query(RUN_VIEWS, &[&(now_ms - WITNESS_MS)]).await?;
        let measured = moment.query(REGION_VIEWS, &[&(now_ms - FAULT_MS)]).await?;
        moment.commit().await?;
        Ok(View {
            now_ms,
            runs: all(&witnessed)?,
            regions: all(&measured)?,
            taken_over: usize::try_from(taken_over).unwrap_or(usize::MAX),
            backed_off: BTreeSet::new(),
        })
    }

    async fn apply(&self, change: Change) -> Result<Applied> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let applied = placement::apply(&transaction, &change).await?;
        if applied.is_anything() {
            bump(&transaction).await?;
        }
        transaction.commit().await?;
        if applied.is_anything() {
            self.changed.notify_one();
        }
        Ok(applied)
    }

    async fn suspect(&self, run: i64, witness: &str, by: Option<i64>) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let state = "SELECT state <> 'fenced' FROM runs WHERE id = $1";
        let alive = |row: Option<tokio_postgres::Row>| row.map(|row| row.try_get(0)).transpose();
        if let Some(by) = by
            && alive(transaction.query_opt(state, &[&by]).await?)? != Some(true)
        {
            return Err(StoreError::Fenced);
        }
        match alive(transaction.query_opt(state, &[&run]).await?)? {
            None => return Err(StoreError::NotFound("run")),
            Some(false) => return Ok(()),
            Some(true) => {}
        }
        transaction
            .execute(
                "INSERT INTO witnesses (run_id, witness, at) VALUES ($1, $2, tilestead_now_ms())
                 ON CONFLICT (run_id, witness) DO UPDATE SET at = EXCLUDED.at",
                &[&run, &witness],
            )
            .await?;
        notify(&transaction).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(())
    }
}

/// Begins a transaction that reads and sees one moment.
pub(super) async fn moment(client: &mut Client) -> Result<Transaction<'_>> {
    Ok(client.moment(true).await?)
}

/// Notes that runs or regions changed, and tells all replicas when the transaction commits.
pub(super) async fn bump(transaction: &Transaction<'_>) -> Result<()> {
    transaction
        .execute("UPDATE directory SET version = version + 1", &[])
        .await?;
    notify(transaction).await
}

/// Tells all replicas, when the transaction commits, to look again.
pub(super) async fn notify(transaction: &Transaction<'_>) -> Result<()> {
    transaction
        .execute("SELECT pg_notify($1, '')", &[&CHANNEL])
        .await?;
    Ok(())
}
