//! Changes of a region's owner in SQLite: this module makes all of them.
//!
//! Always: the epoch grows by one; the last committed tick of the old owner stays with the region;
//! the region loses its move request; and every online character of the region gets the next
//! ownership sequence, so that a character and a sequence name one owner for ever.

use rusqlite::params;

use super::Transaction;
use crate::store::error::Result;
use crate::store::model::{NOBODY, Region};

/// Gives each region to the run beside it (0: to nobody). The caller has checked that the gives are
/// allowed. Returns how many.
pub(crate) fn give(transaction: &Transaction<'_>, gives: &[(Region, i64)]) -> Result<usize> {
    let now = transaction.now_ms();
    let mut raise = transaction.prepare_cached(
        r#"UPDATE characters SET "ownershipSequence" = "ownershipSequence" + 1
           WHERE "regionX" = ?1 AND "regionZ" = ?2 AND online = 1"#,
    )?;
    let mut change = transaction.prepare_cached(
        "UPDATE regions SET run_id = ?3, epoch = epoch + 1, wanted_run_id = 0, changed_at = ?4,
           played_tick = max(played_tick, coalesce(
             (SELECT tick FROM commits WHERE commits.run_id = regions.run_id), 0))
         WHERE region_x = ?1 AND region_z = ?2",
    )?;
    let mut changed = 0;
    for (region, to) in gives {
        raise.execute([region.x, region.z])?;
        changed += change.execute(params![region.x, region.z, to, now])?;
    }
    Ok(changed)
}

/// Makes the regions of a run nobody's. Returns how many.
pub(crate) fn disown(transaction: &Transaction<'_>, run: i64) -> Result<usize> {
    let mut statement =
        transaction.prepare_cached("SELECT region_x, region_z FROM regions WHERE run_id = ?1")?;
    let rows = statement.query_map([run], |row| {
        let region = Region {
            x: row.get(0)?,
            z: row.get(1)?,
        };
        Ok((region, NOBODY))
    })?;
    let gives = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    give(transaction, &gives)
}
