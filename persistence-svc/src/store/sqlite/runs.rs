//! Runs, leases and the loading of regions, in SQLite.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::directory::incarnation;
pub(super) use super::ownership::disown;
use super::{Sqlite, Transaction, all, bump, operators, read, stored, value};
use crate::store::Runs;
use crate::store::columns::RECORD;
use crate::store::error::{Result, StoreError};
use crate::store::model::{
    Ended, LoadedRegion, Record, Region, Registered, Registration, Renewal, Renewed, RunState,
};

#[async_trait]
impl Runs for Sqlite {
    async fn register(&self, ask: Registration) -> Result<Registered> {
        let registered = self
            .write(move |transaction| {
                let now_ms = transaction.now_ms();
                transaction.execute(
                    "INSERT INTO runs (address, build, content_hash, registered, until)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        ask.address,
                        ask.build,
                        ask.content_hash,
                        now_ms,
                        now_ms + ask.lease_ms
                    ],
                )?;
                let run = transaction.last_insert_rowid();
                let mut statement = transaction.prepare_cached(
                    "INSERT INTO regions (region_x, region_z) VALUES (?1, ?2)
                     ON CONFLICT DO NOTHING",
                )?;
                for region in &ask.regions {
                    statement.execute([region.x, region.z])?;
                }
                name_towns(transaction, &ask.towns)?;
                bump(transaction)?;
                Ok(Registered {
                    run,
                    now_ms,
                    incarnation: incarnation(transaction)?,
                })
            })
            .await?;
        self.changed.notify_one();
        Ok(registered)
    }

    async fn renew(&self, ask: Renewal) -> Result<Renewed> {
        self.write(move |transaction| {
            let now_ms = transaction.now_ms();
            transaction
                .prepare_cached(
                    "UPDATE runs SET until = ?2, players = ?3, tick_cost_us = ?4
                     WHERE id = ?1 AND state <> 'fenced'",
                )?
                .execute(params![
                    ask.run,
                    now_ms + ask.lease_ms,
                    ask.players,
                    ask.tick_cost_us
                ])?;
            measure(transaction, &ask)?;
            Ok(Renewed {
                state: state(transaction, ask.run)?,
                now_ms,
                incarnation: incarnation(transaction)?,
            })
        })
        .await
    }

    async fn release(&self, run: i64) -> Result<()> {
        let ended = Ended {
            run,
            ..Ended::default()
        };
        self.ended(ended).await.map(|_| ())
    }

    async fn drain(&self, run: i64) -> Result<bool> {
        let changed = self
            .write(move |transaction| {
                alive(transaction, run)?;
                let drain = "UPDATE runs SET state = 'draining' WHERE id = ?1 AND state = 'live'";
                let changed = transaction.execute(drain, [run])? == 1;
                if changed {
                    bump(transaction)?;
                }
                Ok(changed)
            })
            .await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn ended(&self, ask: Ended) -> Result<bool> {
        let ended = self
            .write(move |transaction| end(transaction, &ask))
            .await?;
        self.changed.notify_one();
        Ok(ended)
    }

    async fn quarantine(&self, run: i64, character: &str) -> Result<()> {
        let ids = [character.to_owned()];
        self.write(move |transaction| operators::quarantine(transaction, run, &ids))
            .await
    }

    async fn load_region(&self, run: i64, region: Region, epoch: i64) -> Result<LoadedRegion> {
        self.read(move |transaction| {
            alive(transaction, run)?;
            if owner(transaction, region)? != Some((run, epoch)) {
                return Err(StoreError::NotOwner);
            }
            let query = format!(
                r#"SELECT {} FROM characters c WHERE c."regionX" = ?1 AND c."regionZ" = ?2
                     AND c.online = 1 AND c.quarantined = 0 ORDER BY c.id"#,
                *RECORD
            );
            let mut characters: Vec<Record> = all(transaction, &query, [region.x, region.z])?;
            for character in &mut characters {
                stored::fill(transaction, character)?;
            }
            let state: Option<Vec<u8>> = transaction
                .prepare_cached(
                    "SELECT state FROM region_states WHERE region_x = ?1 AND region_z = ?2",
                )?
                .query_row([region.x, region.z], |row| row.get(0))
                .optional()?;
            let played_tick = transaction
                .prepare_cached(
                    "SELECT played_tick FROM regions WHERE region_x = ?1 AND region_z = ?2",
                )?
                .query_row([region.x, region.z], |row| row.get(0))?;
            Ok(LoadedRegion {
                characters,
                state: state.unwrap_or_default(),
                ground: value::ground_of(transaction, region)?,
                chunks: value::chunks_of(transaction, region)?,
                played_tick,
            })
        })
        .await
    }

    async fn prune(&self, older_ms: i64, most: i64) -> Result<u64> {
        self.write(move |transaction| {
            let before = transaction.now_ms() - older_ms;
            let mut statement = transaction.prepare_cached(
                "SELECT id FROM runs WHERE state = 'fenced' AND until < ?1
                   AND NOT EXISTS (SELECT 1 FROM regions WHERE regions.run_id = runs.id)
                 ORDER BY id LIMIT ?2",
            )?;
            let rows = statement.query_map([before, most], |row| row.get(0))?;
            let ids = rows.collect::<rusqlite::Result<Vec<i64>>>()?;
            for id in &ids {
                transaction.execute("DELETE FROM commits WHERE run_id = ?1", [id])?;
                transaction.execute("DELETE FROM witnesses WHERE run_id = ?1", [id])?;
                transaction.execute("DELETE FROM runs WHERE id = ?1", [id])?;
            }
            transaction.execute(
                "DELETE FROM region_faults WHERE rowid IN
                   (SELECT rowid FROM region_faults WHERE at < ?1 LIMIT ?2)",
                [before, most],
            )?;
            Ok(ids.len() as u64)
        })
        .await
    }
}

/// Notes the costs of the regions of a run. A region that the run does not name costs nothing.
fn measure(transaction: &Transaction<'_>, ask: &Renewal) -> Result<()> {
    let said: BTreeMap<Region, (i32, i32)> = ask
        .loads
        .iter()
        .map(|load| (load.region, (load.cost_us, load.players)))
        .collect();
    let mut statement = transaction.prepare_cached(
        "SELECT region_x, region_z, cost_us, players FROM regions WHERE run_id = ?1",
    )?;
    let rows = statement.query_map([ask.run], |row| {
        let region = Region {
            x: row.get(0)?,
            z: row.get(1)?,
        };
        Ok((region, (row.get(2)?, row.get(3)?)))
    })?;
    let known = rows.collect::<rusqlite::Result<Vec<(Region, (i32, i32))>>>()?;
    let mut set = transaction.prepare_cached(
        "UPDATE regions SET cost_us = ?3, players = ?4 WHERE region_x = ?1 AND region_z = ?2",
    )?;
    for (region, before) in known {
        let now = said.get(&region).copied().unwrap_or_default();
        if now != before {
            set.execute([region.x, region.z, now.0, now.1])?;
        }
    }
    Ok(())
}

fn end(transaction: &Transaction<'_>, ask: &Ended) -> Result<bool> {
    let now = transaction.now_ms();
    let fenced = transaction.execute(
        "UPDATE runs SET state = 'fenced', until = ?2 WHERE id = ?1 AND state <> 'fenced'",
        [ask.run, now],
    )?;
    if fenced == 0 {
        return Ok(false);
    }
    for region in &ask.faults {
        transaction.execute(
            "INSERT INTO region_faults (region_x, region_z, run_id, at)
             SELECT region_x, region_z, run_id, ?4 FROM regions
             WHERE region_x = ?1 AND region_z = ?2 AND run_id = ?3
             ON CONFLICT DO NOTHING",
            params![region.x, region.z, ask.run, now],
        )?;
    }
    operators::quarantine(transaction, ask.run, &ask.quarantine)?;
    disown(transaction, ask.run)?;
    bump(transaction)?;
    Ok(true)
}

/// Returns the state of a run; an unknown run counts as fenced.
pub(super) fn state(transaction: &Transaction<'_>, run: i64) -> Result<RunState> {
    let state: Option<String> = transaction
        .prepare_cached("SELECT state FROM runs WHERE id = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    Ok(state.map_or(RunState::Fenced, |state| RunState::parse(&state)))
}

/// Fails if the run is fenced.
pub(super) fn alive(transaction: &Transaction<'_>, run: i64) -> Result<()> {
    match state(transaction, run)? {
        RunState::Fenced => Err(StoreError::Fenced),
        RunState::Live | RunState::Draining => Ok(()),
    }
}

/// Returns run and epoch of a region.
pub(super) fn owner(transaction: &Transaction<'_>, region: Region) -> Result<Option<(i64, i64)>> {
    let owner = transaction
        .prepare_cached("SELECT run_id, epoch FROM regions WHERE region_x = ?1 AND region_z = ?2")?
        .query_row([region.x, region.z], read)
        .optional()?;
    Ok(owner)
}

/// Gives each region its town, and takes it from all others; nothing if no town is named.
fn name_towns(transaction: &Transaction<'_>, towns: &BTreeMap<Region, i32>) -> Result<()> {
    if towns.is_empty() {
        return Ok(());
    }
    transaction.execute("UPDATE regions SET town = 0 WHERE town <> 0", [])?;
    let mut statement = transaction
        .prepare_cached("UPDATE regions SET town = ?3 WHERE region_x = ?1 AND region_z = ?2")?;
    for (region, town) in towns {
        statement.execute([region.x, region.z, *town])?;
    }
    Ok(())
}
