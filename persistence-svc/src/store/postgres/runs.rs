//! Runs, leases and what a run loads, in PostgreSQL.

use deadpool_postgres::{GenericClient, Object};
use tonic::async_trait;

use super::directory::{INCARNATION, bump};
pub(super) use super::ownership::disown;
use super::{Postgres, Values, record};
use crate::store::Runs;
use crate::store::columns::RECORD;
use crate::store::error::{Result, StoreError};
use crate::store::model::{
    LoadedRegion, Region, Registered, Registration, Renewal, Renewed, RunState,
};

#[async_trait]
impl Runs for Postgres {
    async fn register(&self, ask: Registration) -> Result<Registered> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let insert = format!(
            "INSERT INTO runs (address, build, content_hash, registered, until)
             SELECT $1, $2, $3, clock.now, clock.now + $4
             FROM (SELECT tilestead_now_ms() AS now OFFSET 0) clock
             RETURNING id, registered, {INCARNATION}"
        );
        let values: Values<'_> = &[&ask.address, &ask.build, &ask.content_hash, &ask.lease_ms];
        let row = transaction.query_one(&insert, values).await?;
        let (xs, zs) = columns(&ask.regions);
        transaction
            .execute(
                "INSERT INTO regions (region_x, region_z)
                 SELECT * FROM UNNEST($1::integer[], $2::integer[]) ON CONFLICT DO NOTHING",
                &[&xs, &zs],
            )
            .await?;
        bump(&transaction).await?;
        let registered = Registered {
            run: row.try_get(0)?,
            now_ms: row.try_get(1)?,
            incarnation: row.try_get(2)?,
        };
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(registered)
    }

    async fn renew(&self, ask: Renewal) -> Result<Renewed> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(
                "UPDATE runs SET until = tilestead_now_ms() + $2, players = $3, tick_cost_us = $4
                 WHERE id = $1 AND state <> 'fenced'",
            )
            .await?;
        let values: Values<'_> = &[&ask.run, &ask.lease_ms, &ask.players, &ask.tick_cost_us];
        let renewed = client.execute(&statement, values).await?;
        let statement = client
            .prepare_cached(&format!(
                "SELECT (SELECT state FROM runs WHERE id = $1), tilestead_now_ms(), {INCARNATION}"
            ))
            .await?;
        let row = client.query_one(&statement, &[&ask.run]).await?;
        let state: Option<&str> = row.try_get(0)?;
        // What counts is whether the lease was renewed, not what happened since.
        let state = match state {
            Some(state) if renewed == 1 => RunState::parse(state),
            _ => RunState::Fenced,
        };
        Ok(Renewed {
            state,
            now_ms: row.try_get(1)?,
            incarnation: row.try_get(2)?,
        })
    }

    async fn release(&self, run: i64) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let ended = transaction
            .execute(
                "UPDATE runs SET state = 'fenced', until = tilestead_now_ms()
                 WHERE id = $1 AND state <> 'fenced'",
                &[&run],
            )
            .await?;
        if ended == 0 {
            return Ok(());
        }
        disown(&transaction, &[run]).await?;
        bump(&transaction).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn load_region(&self, run: i64, region: Region, epoch: i64) -> Result<LoadedRegion> {
        let client = self.client().await?;
        alive(&client, run).await?;
        if owner(&client, region).await? != Some((run, epoch)) {
            return Err(StoreError::NotOwner);
        }
        let statement = client
            .prepare_cached(&format!(
                r#"SELECT {} FROM characters c
                   WHERE c."regionX" = $1 AND c."regionZ" = $2 AND c.online ORDER BY c.id"#,
                *RECORD
            ))
            .await?;
        let rows = client.query(&statement, &[&region.x, &region.z]).await?;
        let characters = rows
            .iter()
            .map(record)
            .collect::<std::result::Result<_, _>>()?;
        let statement = client
            .prepare_cached("SELECT state FROM region_states WHERE region_x = $1 AND region_z = $2")
            .await?;
        let row = client
            .query_opt(&statement, &[&region.x, &region.z])
            .await?;
        let state = row.map(|row| row.try_get(0)).transpose()?;
        Ok(LoadedRegion {
            characters,
            state: state.unwrap_or_default(),
        })
    }
}

/// Regions as two arrays, in order.
pub(super) fn columns<'a>(regions: impl IntoIterator<Item = &'a Region>) -> (Vec<i32>, Vec<i32>) {
    regions
        .into_iter()
        .map(|region| (region.x, region.z))
        .unzip()
}

/// Fails when the run is fenced or not known.
pub(super) async fn alive(client: &Object, run: i64) -> Result<()> {
    let statement = client
        .prepare_cached("SELECT 1 FROM runs WHERE id = $1 AND state <> 'fenced'")
        .await?;
    match client.query_opt(&statement, &[&run]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Fenced),
    }
}

/// Run and epoch of a region.
pub(super) async fn owner(client: &Object, region: Region) -> Result<Option<(i64, i64)>> {
    let statement = client
        .prepare_cached("SELECT run_id, epoch FROM regions WHERE region_x = $1 AND region_z = $2")
        .await?;
    let row = client
        .query_opt(&statement, &[&region.x, &region.z])
        .await?;
    Ok(match row {
        Some(row) => Some((row.try_get(0)?, row.try_get(1)?)),
        None => None,
    })
}
