//! Runs, leases and the loading of regions, in PostgreSQL.

use std::collections::BTreeMap;

use super::session::{Client, GenericClient, Transaction};
use tonic::async_trait;

use super::directory::{INCARNATION, bump, moment};
pub(super) use super::ownership::disown;
use super::{Postgres, Values, all, operators, stored, value};
use crate::store::Runs;
use crate::store::columns::RECORD;
use crate::store::error::{Result, StoreError};
use crate::store::model::{
    Ended, LoadedRegion, Record, Region, Registered, Registration, Renewal, Renewed, RunState,
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
        name_towns(&transaction, &ask.towns).await?;
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
        // If the update renewed no lease, the run is fenced.
        let state = match state {
            Some(state) if renewed == 1 => RunState::parse(state),
            _ => RunState::Fenced,
        };
        if state != RunState::Fenced
            && let Err(error) = measure(&client, &ask).await
        {
            // The lease is renewed, and the next renewal reports the loads again.
            tracing::debug!(%error, run = ask.run, "the load of regions was not noted");
        }
        Ok(Renewed {
            state,
            now_ms: row.try_get(1)?,
            incarnation: row.try_get(2)?,
        })
    }

    async fn release(&self, run: i64) -> Result<()> {
        let ended = Ended {
            run,
            ..Ended::default()
        };
        self.ended(ended).await.map(|_| ())
    }

    async fn drain(&self, run: i64) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let drain = "UPDATE runs SET state = 'draining' WHERE id = $1 AND state = 'live'";
        let changed = transaction.execute(drain, &[&run]).await? == 1;
        if changed {
            bump(&transaction).await?;
        } else {
            let known = "SELECT 1 FROM runs WHERE id = $1 AND state = 'draining'";
            if transaction.query_opt(known, &[&run]).await?.is_none() {
                return Err(StoreError::Fenced);
            }
        }
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn ended(&self, ask: Ended) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let fenced = transaction
            .execute(
                "UPDATE runs SET state = 'fenced', until = tilestead_now_ms()
                 WHERE id = $1 AND state <> 'fenced'",
                &[&ask.run],
            )
            .await?;
        if fenced == 0 {
            return Ok(false);
        }
        let (xs, zs) = columns(&ask.faults);
        transaction
            .execute(
                "INSERT INTO region_faults (region_x, region_z, run_id, at)
                 SELECT r.region_x, r.region_z, r.run_id, tilestead_now_ms() FROM regions r
                 WHERE r.run_id = $3 AND (r.region_x, r.region_z) IN
                   (SELECT * FROM UNNEST($1::integer[], $2::integer[]))
                 ON CONFLICT DO NOTHING",
                &[&xs, &zs, &ask.run],
            )
            .await?;
        operators::quarantine(&transaction, ask.run, &ask.quarantine).await?;
        disown(&transaction, &[ask.run]).await?;
        bump(&transaction).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(true)
    }

    async fn quarantine(&self, run: i64, character: &str) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        operators::quarantine(&transaction, run, &[character.to_owned()]).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn load_region(&self, run: i64, region: Region, epoch: i64) -> Result<LoadedRegion> {
        let mut client = self.client().await?;
        // All of this is of one moment: each character has exactly the pack that came with it.
        let moment = moment(&mut client).await?;
        alive(&moment, run).await?;
        let query = "SELECT run_id, epoch, played_tick FROM regions
                     WHERE region_x = $1 AND region_z = $2";
        let statement = moment.prepare_cached(query).await?;
        let place: Values<'_> = &[&region.x, &region.z];
        let row = moment.query_opt(&statement, place).await?;
        let row = row.ok_or(StoreError::NotOwner)?;
        if (row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?) != (run, epoch) {
            return Err(StoreError::NotOwner);
        }
        let played_tick = row.try_get(2)?;
        let statement = moment
            .prepare_cached(&format!(
                r#"SELECT {} FROM characters c WHERE c."regionX" = $1 AND c."regionZ" = $2
                     AND c.online AND NOT c.quarantined ORDER BY c.id"#,
                *RECORD
            ))
            .await?;
        let rows = moment.query(&statement, place).await?;
        let mut characters: Vec<Record> = all(&rows)?;
        stored::fill(&moment, &mut characters).await?;
        let statement = moment
            .prepare_cached("SELECT state FROM region_states WHERE region_x = $1 AND region_z = $2")
            .await?;
        let row = moment
            .query_opt(&statement, &[&region.x, &region.z])
            .await?;
        let state = row.map(|row| row.try_get(0)).transpose()?;
        let ground = value::ground_of(&moment, region).await?;
        let chunks = value::chunks_of(&moment, region).await?;
        moment.commit().await?;
        Ok(LoadedRegion {
            characters,
            state: state.unwrap_or_default(),
            ground,
            chunks,
            played_tick,
        })
    }

    async fn prune(&self, older_ms: i64, most: i64) -> Result<u64> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let old = "SELECT id FROM runs r
                   WHERE state = 'fenced' AND until < tilestead_now_ms() - $1
                     AND NOT EXISTS (SELECT 1 FROM regions o WHERE o.run_id = r.id)
                   ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED";
        let mut ids: Vec<i64> = Vec::new();
        for row in transaction.query(old, &[&older_ms, &most]).await? {
            ids.push(row.try_get(0)?);
        }
        for table in [
            "commits WHERE run_id",
            "witnesses WHERE run_id",
            "runs WHERE id",
        ] {
            let delete = format!("DELETE FROM {table} = ANY($1)");
            transaction.execute(&delete, &[&ids]).await?;
        }
        let faults = "DELETE FROM region_faults WHERE (region_x, region_z, run_id) IN
                        (SELECT region_x, region_z, run_id FROM region_faults
                         WHERE at < tilestead_now_ms() - $1 LIMIT $2)";
        transaction.execute(faults, &[&older_ms, &most]).await?;
        transaction.commit().await?;
        Ok(ids.len() as u64)
    }
}

/// Notes the costs of the regions of a run. A region that the run does not name costs nothing.
async fn measure(client: &Client, ask: &Renewal) -> Result<()> {
    let (xs, zs) = columns(ask.loads.iter().map(|load| &load.region));
    let costs: Vec<i32> = ask.loads.iter().map(|load| load.cost_us).collect();
    let players: Vec<i32> = ask.loads.iter().map(|load| load.players).collect();
    // It locks the rows in the order of places, as commits do.
    let statement = client
        .prepare_cached(
            "WITH mine AS
               (SELECT region_x, region_z FROM regions WHERE run_id = $1
                ORDER BY region_x, region_z FOR NO KEY UPDATE),
             said AS
               (SELECT * FROM UNNEST($2::integer[], $3::integer[], $4::integer[], $5::integer[])
                  AS u (x, z, cost, players))
             UPDATE regions r
             SET cost_us = coalesce(said.cost, 0), players = coalesce(said.players, 0)
             FROM mine LEFT JOIN said ON said.x = mine.region_x AND said.z = mine.region_z
             WHERE r.region_x = mine.region_x AND r.region_z = mine.region_z AND r.run_id = $1
               AND (r.cost_us, r.players)
                 IS DISTINCT FROM (coalesce(said.cost, 0), coalesce(said.players, 0))",
        )
        .await?;
    let values: Values<'_> = &[&ask.run, &xs, &zs, &costs, &players];
    client.execute(&statement, values).await?;
    Ok(())
}

/// Returns regions as two arrays, in order.
pub(super) fn columns<'a>(regions: impl IntoIterator<Item = &'a Region>) -> (Vec<i32>, Vec<i32>) {
    regions
        .into_iter()
        .map(|region| (region.x, region.z))
        .unzip()
}

/// Fails if the run is fenced or unknown.
pub(super) async fn alive<C: GenericClient>(client: &C, run: i64) -> Result<()> {
    let statement = client
        .prepare_cached("SELECT 1 FROM runs WHERE id = $1 AND state <> 'fenced'")
        .await?;
    match client.query_opt(&statement, &[&run]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Fenced),
    }
}

/// Gives each region its town, and takes it from all others; nothing if no town is named.
async fn name_towns(transaction: &Transaction<'_>, towns: &BTreeMap<Region, i32>) -> Result<()> {
    if towns.is_empty() {
        return Ok(());
    }
    let (xs, zs) = columns(towns.keys());
    let numbers: Vec<i32> = towns.values().copied().collect();
    transaction
        .execute(
            "WITH changed AS (
               SELECT r.region_x, r.region_z, coalesce(n.town, 0) AS town FROM regions r
               LEFT JOIN UNNEST($1::integer[], $2::integer[], $3::integer[]) AS n (x, z, town)
                 ON n.x = r.region_x AND n.z = r.region_z
               WHERE r.town <> coalesce(n.town, 0)
               ORDER BY r.region_x, r.region_z FOR UPDATE OF r)
             UPDATE regions r SET town = c.town FROM changed c
             WHERE r.region_x = c.region_x AND r.region_z = c.region_z",
            &[&xs, &zs, &numbers],
        )
        .await?;
    Ok(())
}
