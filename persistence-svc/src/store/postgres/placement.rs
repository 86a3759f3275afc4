//! Carries a plan out in PostgreSQL.
//!
//! Always: the store checks each step of the plan again under the locks of the changed rows; it
//! leaves out each step that no longer fits; it locks rows in the common order.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{GenericClient, Transaction};

use super::Values;
use super::ownership::give;
use super::runs::columns;
use crate::placement::plan::{Applied, Change, MoveRequest, Pause, WITNESS_MS, WITNESSES_MIN};
use crate::store::error::Result;
use crate::store::model::{NOBODY, Region};

/// Time after which the store forgets the reports of witnesses.
const FORGET_MS: i64 = 60_000;

/// A region of the plan, as it is now.
struct Now {
    run: i64,
    epoch: i64,
    paused: bool,
}

/// Regions by place.
type Owners = BTreeMap<Region, Now>;

/// Carries the plan out as far as it fits.
pub(super) async fn apply(transaction: &Transaction<'_>, change: &Change) -> Result<Applied> {
    let mut applied = Applied::default();
    let fenced = fence(transaction, &change.fence, &mut applied).await?;
    let owners = lock(transaction, change, &fenced).await?;
    // The takers, and the owners of the named regions.
    let named = change.moves.iter().map(|step| step.to);
    let named = named.chain(owners.values().map(|now| now.run));
    let states = states(transaction, &named.collect()).await?;
    let lost = |run: i64| states.get(&run).is_none_or(|state| state == "fenced");
    let mut gives: BTreeMap<Region, i64> = BTreeMap::new();
    for step in &change.moves {
        let fits = |now: &Now| now.epoch == step.epoch && lost(now.run) && !now.paused;
        if owners.get(&step.region).is_some_and(fits)
            && states.get(&step.to).is_some_and(|state| state == "live")
        {
            gives.insert(step.region, step.to);
        }
    }
    applied.moved = gives.len();
    let pauses = change.pauses.iter().filter(|pause| {
        let fits = |now: &Now| now.epoch == pause.epoch && lost(now.run);
        owners.get(&pause.region).is_some_and(fits)
    });
    applied.paused = pause(transaction, pauses).await?;
    // Nothing may stay with a fenced run.
    for (region, now) in &owners {
        if fenced.contains(&now.run) {
            gives.entry(*region).or_insert(NOBODY);
        }
    }
    let gives: Vec<(Region, i64)> = gives.into_iter().collect();
    give(transaction, &gives).await?;
    applied.requested = request_moves(transaction, &change.move_requests).await?;
    Ok(applied)
}

/// Fences those of the runs whose lease has ended or that enough witnesses saw dead of late.
/// A row that is locked belongs to a run that is committing right now: it lives.
async fn fence(
    transaction: &Transaction<'_>,
    runs: &[i64],
    applied: &mut Applied,
) -> Result<BTreeSet<i64>> {
    let mut fenced = BTreeSet::new();
    if runs.is_empty() {
        return Ok(fenced);
    }
    let values: Values<'_> = &[&runs, &WITNESS_MS, &WITNESSES_MIN];
    let rows = transaction
        .query(
            "UPDATE runs SET state = 'fenced', taken_over = tilestead_now_ms()
             WHERE id IN
               (SELECT id FROM runs r
                WHERE id = ANY($1) AND state <> 'fenced'
                  AND (until <= tilestead_now_ms() OR $3 <=
                    (SELECT count(*) FROM witnesses w
                     WHERE w.run_id = r.id AND w.at > tilestead_now_ms() - $2))
                ORDER BY id FOR UPDATE SKIP LOCKED)
             RETURNING id, until <= taken_over",
            values,
        )
        .await?;
    for row in &rows {
        fenced.insert(row.try_get(0)?);
        if row.try_get(1)? {
            applied.lapsed += 1;
        } else {
            applied.witnessed += 1;
        }
    }
    let done: Vec<i64> = fenced.iter().copied().collect();
    transaction
        .execute(
            "DELETE FROM witnesses WHERE run_id = ANY($1) OR at <= tilestead_now_ms() - $2",
            &[&done, &FORGET_MS],
        )
        .await?;
    Ok(fenced)
}

/// Locks all regions that the plan names or that a fenced run owns.
async fn lock(
    transaction: &Transaction<'_>,
    change: &Change,
    fenced: &BTreeSet<i64>,
) -> Result<Owners> {
    let moves = change.moves.iter().map(|step| &step.region);
    let move_requests = change.move_requests.iter().map(|request| &request.region);
    let pauses = change.pauses.iter().map(|pause| &pause.region);
    let (xs, zs) = columns(moves.chain(move_requests).chain(pauses));
    let fenced: Vec<i64> = fenced.iter().copied().collect();
    let values: Values<'_> = &[&xs, &zs, &fenced];
    let rows = transaction
        .query(
            "SELECT region_x, region_z, run_id, epoch, paused FROM regions
             WHERE run_id = ANY($3) OR (region_x, region_z) IN
               (SELECT * FROM UNNEST($1::integer[], $2::integer[]))
             ORDER BY region_x, region_z FOR UPDATE",
            values,
        )
        .await?;
    let mut owners = Owners::new();
    for row in &rows {
        let region = Region {
            x: row.try_get(0)?,
            z: row.try_get(1)?,
        };
        let now = Now {
            run: row.try_get(2)?,
            epoch: row.try_get(3)?,
            paused: row.try_get(4)?,
        };
        owners.insert(region, now);
    }
    Ok(owners)
}

/// Returns the states of runs. They may change at once: if a run ends after it got a region, the
/// next plan gives that region on.
async fn states(
    transaction: &Transaction<'_>,
    runs: &BTreeSet<i64>,
) -> Result<BTreeMap<i64, String>> {
    let runs: Vec<i64> = runs.iter().copied().collect();
    let query = "SELECT id, state FROM runs WHERE id = ANY($1)";
    let mut states = BTreeMap::new();
    for row in transaction.query(query, &[&runs]).await? {
        states.insert(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(states)
}

async fn pause(
    transaction: &Transaction<'_>,
    pauses: impl Iterator<Item = &Pause>,
) -> Result<usize> {
    let (xs, zs) = columns(pauses.map(|pause| &pause.region));
    let paused = transaction
        .execute(
            "UPDATE regions SET paused = true
             WHERE NOT paused AND (region_x, region_z) IN
               (SELECT * FROM UNNEST($1::integer[], $2::integer[]))",
            &[&xs, &zs],
        )
        .await?;
    Ok(usize::try_from(paused).unwrap_or(usize::MAX))
}

async fn request_moves(
    transaction: &Transaction<'_>,
    move_requests: &[MoveRequest],
) -> Result<usize> {
    let (xs, zs) = columns(move_requests.iter().map(|request| &request.region));
    let epochs: Vec<i64> = move_requests.iter().map(|request| request.epoch).collect();
    let owners: Vec<i64> = move_requests.iter().map(|request| request.owner).collect();
    let to: Vec<i64> = move_requests.iter().map(|request| request.to).collect();
    let values: Values<'_> = &[&xs, &zs, &epochs, &owners, &to];
    let requested = transaction
        .execute(
            "UPDATE regions r SET wanted_run_id = u.to_run
             FROM UNNEST($1::integer[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[])
               AS u (x, z, epoch, owner, to_run)
             WHERE r.region_x = u.x AND r.region_z = u.z AND r.epoch = u.epoch
               AND r.run_id = u.owner AND r.wanted_run_id <> u.to_run",
            values,
        )
        .await?;
    Ok(usize::try_from(requested).unwrap_or(usize::MAX))
}
