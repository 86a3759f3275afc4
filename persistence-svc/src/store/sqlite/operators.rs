//! Checks and decisions of operators in SQLite.

use rusqlite::params;
use tonic::async_trait;

use super::ownership::disown;
use super::runs::owner;
use super::{Sqlite, Transaction, all, bump};
use crate::store::Operators;
use crate::store::archive::{EDGE, MONTHS, Month, Table};
use crate::store::conservation::{
    Conservation, NEVER, REGIONS, Sides, closed_difference, counted, difference, month_difference,
};
use crate::store::error::{Result, StoreError};
use crate::store::incarnation;
use crate::store::model::{Region, RegionReport};

#[async_trait]
impl Operators for Sqlite {
    async fn promoted(&self) -> Result<i64> {
        let life = self
            .write(|transaction| {
                let now = transaction.now_ms();
                let raise = "UPDATE incarnation SET value = max(value, ?1) + ?2 RETURNING value";
                let values = params![now * incarnation::PER_MS, incarnation::step()];
                let life: i64 = transaction.query_row(raise, values, |row| row.get(0))?;
                transaction.execute("DELETE FROM sqlite_sequence WHERE name = 'runs'", [])?;
                let number = "INSERT INTO sqlite_sequence (name, seq) VALUES ('runs', ?1)";
                transaction.execute(number, [life])?;
                let end = "UPDATE runs SET state = 'fenced', until = ?1 WHERE state <> 'fenced'
                           RETURNING id";
                let mut end = transaction.prepare_cached(end)?;
                let ids = end.query_map([now], |row| row.get(0))?;
                for run in ids.collect::<rusqlite::Result<Vec<i64>>>()? {
                    disown(transaction, run)?;
                }
                transaction.execute("UPDATE regions SET epoch = max(epoch, ?1)", [life])?;
                transaction.execute(incarnation::RAISE_SEQUENCES, [life])?;
                for raise in incarnation::RAISE_COUNTERS {
                    transaction.execute(raise, [life])?;
                }
                bump(transaction)?;
                Ok(life)
            })
            .await?;
        self.changed.notify_one();
        Ok(life)
    }

    async fn check(&self, full: bool) -> Result<Conservation> {
        self.read(move |transaction| check(transaction, full)).await
    }

    async fn freeze(&self, frozen: bool) -> Result<bool> {
        let changed = self
            .write(move |transaction| {
                let set = "UPDATE switches SET frozen = ?1 WHERE frozen <> ?1";
                let changed = transaction.execute(set, [frozen])? == 1;
                if changed {
                    bump(transaction)?;
                }
                Ok(changed)
            })
            .await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn regions(&self) -> Result<Vec<RegionReport>> {
        self.read(|transaction| all(transaction, REGIONS, [])).await
    }

    async fn pause_region(&self, region: Region) -> Result<bool> {
        let changed = self
            .write(move |transaction| {
                let place = [region.x, region.z];
                let pause = "UPDATE regions SET paused = 1, wanted_run_id = 0
                             WHERE region_x = ?1 AND region_z = ?2 AND paused = 0";
                let changed = transaction.execute(pause, place)? == 1;
                if changed {
                    bump(transaction)?;
                } else if owner(transaction, region)?.is_none() {
                    return Err(StoreError::NotFound("region"));
                }
                Ok(changed)
            })
            .await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn resume_region(&self, region: Region) -> Result<bool> {
        let changed = self
            .write(move |transaction| {
                let resume = "UPDATE regions SET paused = 0
                              WHERE region_x = ?1 AND region_z = ?2 AND paused = 1";
                let changed = transaction.execute(resume, [region.x, region.z])? == 1;
                if changed {
                    let forget = "DELETE FROM region_faults WHERE region_x = ?1 AND region_z = ?2";
                    transaction.execute(forget, [region.x, region.z])?;
                    bump(transaction)?;
                }
                Ok(changed)
            })
            .await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn quarantined(&self) -> Result<Vec<(String, String)>> {
        self.read(|transaction| {
            let query = "SELECT id, name FROM characters WHERE quarantined = 1 ORDER BY id";
            all(transaction, query, [])
        })
        .await
    }

    async fn release_character(&self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write(move |transaction| {
            let release = "UPDATE characters SET quarantined = 0 WHERE id = ?1 AND quarantined = 1";
            Ok(transaction.execute(release, [id])? == 1)
        })
        .await
    }
}

fn check(transaction: &Transaction<'_>, full: bool) -> Result<Conservation> {
    let edge: i64 = transaction.query_row(EDGE, [], |row| row.get(0))?;
    let sides = Sides::whole(edge);
    let mut found = Conservation {
        totals: all(transaction, &sides.totals("0"), [])?,
        differences: sentences(transaction, &sides, difference)?,
    };
    if full {
        let more = sentences(transaction, &Sides::closed(edge), closed_difference)?;
        found.differences.extend(more);
        let months: Vec<Month> = all(transaction, MONTHS, [])?;
        for month in months.iter().filter(|month| counted(month)) {
            let rows: i64 =
                transaction.query_row(&Table::Ledger.count(month), [], |row| row.get(0))?;
            found.differences.extend(month_difference(month, rows));
        }
    }
    for (what, query) in NEVER {
        let mut statement = transaction.prepare(query)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        for id in rows {
            found.differences.push(format!("{what} {}", id?));
        }
    }
    Ok(found)
}

/// Returns a sentence for each difference of two sides.
fn sentences(
    transaction: &Transaction<'_>,
    sides: &Sides,
    sentence: fn(&str, &str, i64, i64) -> String,
) -> Result<Vec<String>> {
    let mut statement = transaction.prepare(&sides.differences("true"))?;
    let rows = statement.query_map([], |row| {
        let (holder, item): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(sentence(&holder, &item, row.get(2)?, row.get(3)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Takes those of the characters that are in regions of the run out of the world and keeps them
/// out.
pub(super) fn quarantine(transaction: &Transaction<'_>, run: i64, ids: &[String]) -> Result<()> {
    let now = transaction.now_ms();
    for id in ids {
        // The owner of the character changes too: to nobody.
        let held = transaction.execute(
            r#"UPDATE characters SET quarantined = 1, online = 0,
                 "ownershipSequence" = "ownershipSequence" + 1
               WHERE id = ?1 AND online = 1 AND EXISTS
                 (SELECT 1 FROM regions r WHERE r.run_id = ?2
                    AND r.region_x = "regionX" AND r.region_z = "regionZ")"#,
            params![id, run],
        )?;
        if held == 1 {
            transaction.execute(
                r#"UPDATE "playerSessions" SET logout = ?2, reason = 'quarantined'
                   WHERE "playerId" = ?1 AND logout IS NULL"#,
                params![id, now],
            )?;
        }
    }
    Ok(())
}
