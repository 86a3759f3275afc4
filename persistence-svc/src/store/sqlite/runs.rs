//! Runs, leases and what a run loads, in SQLite.

use rusqlite::{OptionalExtension, Transaction, params};
use tonic::async_trait;

use super::directory::incarnation;
pub(super) use super::ownership::disown;
use super::{Sqlite, bump, now_ms, record};
use crate::store::Runs;
use crate::store::columns::RECORD;
use crate::store::error::{Result, StoreError};
use crate::store::model::{
    LoadedRegion, Region, Registered, Registration, Renewal, Renewed, RunState,
};

#[async_trait]
impl Runs for Sqlite {
    async fn register(&self, ask: Registration) -> Result<Registered> {
        let registered = self
            .write(move |transaction| {
                let now_ms = now_ms();
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
            let now_ms = now_ms();
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
            Ok(Renewed {
                state: state(transaction, ask.run)?,
                now_ms,
                incarnation: incarnation(transaction)?,
            })
        })
        .await
    }

    async fn release(&self, run: i64) -> Result<()> {
        self.write(move |transaction| {
            let ended = transaction.execute(
                "UPDATE runs SET state = 'fenced', until = ?2 WHERE id = ?1 AND state <> 'fenced'",
                params![run, now_ms()],
            )?;
            if ended == 0 {
                return Ok(());
            }
            disown(transaction, run)?;
            bump(transaction)
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn load_region(&self, run: i64, region: Region, epoch: i64) -> Result<LoadedRegion> {
        self.read(move |transaction| {
            alive(transaction, run)?;
            if owner(transaction, region)? != Some((run, epoch)) {
                return Err(StoreError::NotOwner);
            }
            let mut statement = transaction.prepare_cached(&format!(
                r#"SELECT {} FROM characters c
                   WHERE c."regionX" = ?1 AND c."regionZ" = ?2 AND c.online = 1 ORDER BY c.id"#,
                *RECORD
            ))?;
            let rows = statement.query_map([region.x, region.z], record)?;
            let characters = rows.collect::<rusqlite::Result<_>>()?;
            let state: Option<Vec<u8>> = transaction
                .prepare_cached(
                    "SELECT state FROM region_states WHERE region_x = ?1 AND region_z = ?2",
                )?
                .query_row([region.x, region.z], |row| row.get(0))
                .optional()?;
            Ok(LoadedRegion {
                characters,
                state: state.unwrap_or_default(),
            })
        })
        .await
    }
}

/// The state of a run; one that is not known is fenced.
pub(super) fn state(transaction: &Transaction<'_>, run: i64) -> Result<RunState> {
    let state: Option<String> = transaction
        .prepare_cached("SELECT state FROM runs WHERE id = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    Ok(state.map_or(RunState::Fenced, |state| RunState::parse(&state)))
}

/// Fails when the run is fenced.
pub(super) fn alive(transaction: &Transaction<'_>, run: i64) -> Result<()> {
    match state(transaction, run)? {
        RunState::Fenced => Err(StoreError::Fenced),
        RunState::Live | RunState::Draining => Ok(()),
    }
}

/// Run and epoch of a region.
pub(super) fn owner(transaction: &Transaction<'_>, region: Region) -> Result<Option<(i64, i64)>> {
    let owner = transaction
        .prepare_cached("SELECT run_id, epoch FROM regions WHERE region_x = ?1 AND region_z = ?2")?
        .query_row([region.x, region.z], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(owner)
}
