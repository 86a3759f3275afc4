//! Changes of a region's owner in PostgreSQL: this module makes all of them.
//!
//! Always: the epoch grows by one; the last committed tick of the old owner stays with the region;
//! the region loses its move request; and every online character of the region gets the next
//! ownership sequence, so that a character and a sequence name one owner for ever.

use super::session::{GenericClient, Transaction};

use super::Values;
use super::runs::columns;
use crate::store::error::Result;
use crate::store::model::Region;

/// Gives each region to the run beside it (0: to nobody). The caller has locked the rows of the
/// taking runs and of the regions, in the common order. It has also checked that the gives are
/// allowed. It must not name a region twice, or one that does not exist. Returns how many.
pub(crate) async fn give(transaction: &Transaction<'_>, gives: &[(Region, i64)]) -> Result<u64> {
    if gives.is_empty() {
        return Ok(0);
    }
    let (xs, zs) = columns(gives.iter().map(|(region, _)| region));
    let to: Vec<i64> = gives.iter().map(|(_, to)| *to).collect();
    // Locks the characters by id before it changes them, as commits do.
    let lock = transaction
        .prepare_cached(
            r#"SELECT id FROM characters c
               WHERE online AND ("regionX", "regionZ") IN
                 (SELECT * FROM UNNEST($1::integer[], $2::integer[]))
               ORDER BY id FOR UPDATE"#,
        )
        .await?;
    let rows = transaction.query(&lock, &[&xs, &zs]).await?;
    let mut ids: Vec<String> = Vec::with_capacity(rows.len());
    for row in &rows {
        ids.push(row.try_get(0)?);
    }
    let raise = transaction
        .prepare_cached(
            r#"UPDATE characters SET "ownershipSequence" = "ownershipSequence" + 1
               WHERE id = ANY($1) AND online"#,
        )
        .await?;
    transaction.execute(&raise, &[&ids]).await?;
    let change = transaction
        .prepare_cached(
            "UPDATE regions r SET run_id = u.to_run, epoch = r.epoch + 1, wanted_run_id = 0,
               changed_at = tilestead_now_ms(),
               played_tick = greatest(r.played_tick, coalesce(
                 (SELECT tick FROM commits c WHERE c.run_id = r.run_id), 0))
             FROM UNNEST($1::integer[], $2::integer[], $3::bigint[]) AS u (x, z, to_run)
             WHERE r.region_x = u.x AND r.region_z = u.z",
        )
        .await?;
    let values: Values<'_> = &[&xs, &zs, &to];
    Ok(transaction.execute(&change, values).await?)
}

/// Makes the regions of runs nobody's, locked in their order. Returns how many.
pub(crate) async fn disown(transaction: &Transaction<'_>, runs: &[i64]) -> Result<u64> {
    if runs.is_empty() {
        return Ok(0);
    }
    let lock = transaction
        .prepare_cached(
            "SELECT region_x, region_z FROM regions WHERE run_id = ANY($1)
             ORDER BY region_x, region_z FOR UPDATE",
        )
        .await?;
    let mut gives = Vec::new();
    for row in transaction.query(&lock, &[&runs]).await? {
        let region = Region {
            x: row.try_get(0)?,
            z: row.try_get(1)?,
        };
        gives.push((region, 0));
    }
    give(transaction, &gives).await
}
