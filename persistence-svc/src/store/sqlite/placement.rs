//! Carries a plan out in SQLite.
//!
//! Always: the store checks each step of the plan again in the transaction that carries it out, and
//! leaves out each step that no longer fits.

use rusqlite::{OptionalExtension, params};

use super::Transaction;
use super::ownership::{disown, give};
use super::runs::state;
use crate::placement::plan::{Applied, Change, WITNESS_MS, WITNESSES_MIN};
use crate::store::error::Result;
use crate::store::model::{Region, RunState};

/// Time after which the store forgets the reports of witnesses.
const FORGET_MS: i64 = 60_000;

/// Carries the plan out as far as it fits.
pub(super) fn apply(transaction: &Transaction<'_>, change: &Change) -> Result<Applied> {
    let mut applied = Applied::default();
    let fenced = fence(transaction, &change.fence, &mut applied)?;
    for step in &change.moves {
        if is_nobodys(transaction, step.region, step.epoch)? == Some(false)
            && state(transaction, step.to)? == RunState::Live
        {
            applied.moved += give(transaction, &[(step.region, step.to)])?;
        }
    }
    for pause in &change.pauses {
        if is_nobodys(transaction, pause.region, pause.epoch)?.is_some() {
            applied.paused += transaction
                .prepare_cached(
                    "UPDATE regions SET paused = 1
                     WHERE region_x = ?1 AND region_z = ?2 AND paused = 0",
                )?
                .execute([pause.region.x, pause.region.z])?;
        }
    }
    // Nothing may stay with a fenced run.
    for run in &fenced {
        disown(transaction, *run)?;
    }
    for request in &change.move_requests {
        applied.requested += transaction
            .prepare_cached(
                "UPDATE regions SET wanted_run_id = ?5
                 WHERE region_x = ?1 AND region_z = ?2 AND epoch = ?3 AND run_id = ?4
                   AND wanted_run_id <> ?5",
            )?
            .execute(params![
                request.region.x,
                request.region.z,
                request.epoch,
                request.owner,
                request.to
            ])?;
    }
    Ok(applied)
}

/// Fences those of the runs whose lease has ended or that enough witnesses saw dead of late.
fn fence(transaction: &Transaction<'_>, runs: &[i64], applied: &mut Applied) -> Result<Vec<i64>> {
    let now = transaction.now_ms();
    let mut fenced = Vec::new();
    for run in runs {
        let lapsed: Option<bool> = transaction
            .prepare_cached(
                "UPDATE runs SET state = 'fenced', taken_over = ?2
                 WHERE id = ?1 AND state <> 'fenced'
                   AND (until <= ?2 OR ?4 <=
                     (SELECT count(*) FROM witnesses WHERE run_id = ?1 AND at > ?3))
                 RETURNING until <= ?2",
            )?
            .query_row(params![run, now, now - WITNESS_MS, WITNESSES_MIN], |row| {
                row.get(0)
            })
            .optional()?;
        match lapsed {
            Some(true) => applied.lapsed += 1,
            Some(false) => applied.witnessed += 1,
            None => continue,
        }
        fenced.push(*run);
        transaction.execute("DELETE FROM witnesses WHERE run_id = ?1", [*run])?;
    }
    if !fenced.is_empty() {
        transaction.execute("DELETE FROM witnesses WHERE at <= ?1", [now - FORGET_MS])?;
    }
    Ok(fenced)
}

/// Returns whether a region that nobody or a fenced run has at this epoch is paused; `None`:
/// another run has it, or its epoch differs.
fn is_nobodys(transaction: &Transaction<'_>, region: Region, epoch: i64) -> Result<Option<bool>> {
    let paused = transaction
        .prepare_cached(
            "SELECT paused FROM regions
             WHERE region_x = ?1 AND region_z = ?2 AND epoch = ?3
               AND NOT EXISTS
                 (SELECT 1 FROM runs WHERE id = regions.run_id AND state <> 'fenced')",
        )?
        .query_row(params![region.x, region.z, epoch], |row| row.get(0))
        .optional()?;
    Ok(paused)
}
