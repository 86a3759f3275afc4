//! Checks and decisions of operators in PostgreSQL.

use super::session::{GenericClient, Transaction};
use tonic::async_trait;

use super::directory::{bump, moment};
use super::runs::disown;
use super::{Postgres, Values, all};
use crate::store::Operators;
use crate::store::archive::{EDGE, MONTHS, Month, Table};
use crate::store::conservation::{
    Conservation, NEVER, REGIONS, Sides, Total, closed_difference, counted, difference,
    month_difference,
};
use crate::store::error::{Result, StoreError};
use crate::store::incarnation;
use crate::store::model::{Region, RegionReport};

/// Time limit of the check, because an old world has a long ledger.
const CHECK_LIMIT: &str = "SET LOCAL statement_timeout = '600s'; SET LOCAL enable_seqscan = on";

#[async_trait]
impl Operators for Postgres {
    async fn promoted(&self) -> Result<i64> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let raise = "UPDATE incarnation SET value = greatest(value, tilestead_now_ms() * $1) + $2
                     RETURNING value";
        let values: Values<'_> = &[&incarnation::PER_MS, &incarnation::step()];
        let life: i64 = transaction.query_one(raise, values).await?.try_get(0)?;
        let number = "SELECT setval(pg_get_serial_sequence('runs', 'id'), $1)";
        transaction.execute(number, &[&life]).await?;
        let end = "UPDATE runs SET state = 'fenced', until = tilestead_now_ms()
                   WHERE state <> 'fenced' RETURNING id";
        let mut runs = Vec::new();
        for row in transaction.query(end, &[]).await? {
            runs.push(row.try_get(0)?);
        }
        disown(&transaction, &runs).await?;
        let raise = "UPDATE regions SET epoch = greatest(epoch, $1)";
        transaction.execute(raise, &[&life]).await?;
        // As commits do, it locks the characters by id before it changes them.
        let lock = "SELECT id FROM characters WHERE online ORDER BY id FOR UPDATE";
        transaction.execute(lock, &[]).await?;
        let raise = incarnation::RAISE_SEQUENCES.replace("?1", "$1");
        transaction.execute(&raise, &[&life]).await?;
        for raise in incarnation::RAISE_COUNTERS {
            transaction
                .execute(&raise.replace("?1", "$1"), &[&life])
                .await?;
        }
        bump(&transaction).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(life)
    }

    async fn check(&self, full: bool) -> Result<Conservation> {
        let mut client = self.client().await?;
        let moment = moment(&mut client).await?;
        moment.batch_execute(CHECK_LIMIT).await?;
        let edge: i64 = moment.query_one(EDGE, &[]).await?.try_get(0)?;
        let (totals, differences) = compare(&moment, &Sides::whole(edge), difference).await?;
        let mut found = Conservation {
            totals,
            differences,
        };
        if full {
            let (_, more) = compare(&moment, &Sides::closed(edge), closed_difference).await?;
            found.differences.extend(more);
            let months: Vec<Month> = all(&moment.query(MONTHS, &[]).await?)?;
            for month in months.iter().filter(|month| counted(month)) {
                let rows = moment.query_one(&Table::Ledger.count(month), &[]).await?;
                let more = month_difference(month, rows.try_get(0)?);
                found.differences.extend(more);
            }
        }
        for (what, query) in NEVER {
            for row in moment.query(query, &[]).await? {
                let id: &str = row.try_get(0)?;
                found.differences.push(format!("{what} {id}"));
            }
        }
        moment.commit().await?;
        Ok(found)
    }

    async fn freeze(&self, frozen: bool) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let set = "UPDATE switches SET frozen = $1 WHERE frozen <> $1";
        let changed = transaction.execute(set, &[&frozen]).await? == 1;
        if changed {
            bump(&transaction).await?;
        }
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn regions(&self) -> Result<Vec<RegionReport>> {
        all(&self.client().await?.query(REGIONS, &[]).await?)
    }

    async fn pause_region(&self, region: Region) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let place: Values<'_> = &[&region.x, &region.z];
        let pause = "UPDATE regions SET paused = true, wanted_run_id = 0
                     WHERE region_x = $1 AND region_z = $2 AND NOT paused";
        let changed = transaction.execute(pause, place).await? == 1;
        if changed {
            bump(&transaction).await?;
        } else {
            let known = "SELECT 1 FROM regions WHERE region_x = $1 AND region_z = $2";
            let found = transaction.query_opt(known, place).await?;
            found.ok_or(StoreError::NotFound("region"))?;
        }
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn resume_region(&self, region: Region) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let resume = "UPDATE regions SET paused = false
                      WHERE region_x = $1 AND region_z = $2 AND paused";
        let changed = transaction.execute(resume, &[&region.x, &region.z]).await? == 1;
        if changed {
            let forget = "DELETE FROM region_faults WHERE region_x = $1 AND region_z = $2";
            transaction.execute(forget, &[&region.x, &region.z]).await?;
            bump(&transaction).await?;
        }
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(changed)
    }

    async fn quarantined(&self) -> Result<Vec<(String, String)>> {
        let query = "SELECT id, name FROM characters WHERE quarantined ORDER BY id";
        all(&self.client().await?.query(query, &[]).await?)
    }

    async fn release_character(&self, id: &str) -> Result<bool> {
        let release = "UPDATE characters SET quarantined = false WHERE id = $1 AND quarantined";
        let client = self.client().await?;
        Ok(client.execute(release, &[&id]).await? == 1)
    }
}

/// Compares two sides. Returns the totals of all items, and a sentence for each difference.
///
/// Sums by holder and item would take minutes in an old world. So it first sums by item, each
/// amount times a number that stands for its holder, 64 bits of chance that are others at each
/// check. Only where that sum differs does it look for the holders. If amounts differ, it overlooks
/// that once in 2^64 checks.
async fn compare(
    moment: &Transaction<'_>,
    sides: &Sides,
    sentence: fn(&str, &str, i64, i64) -> String,
) -> Result<(Vec<Total>, Vec<String>)> {
    let seed = rand::random::<i64>() >> 1;
    let differs = format!("sum((one - other)::numeric * hashtextextended(holder, {seed})) <> 0");
    let rows = moment.query(&sides.totals(&differs), &[]).await?;
    let mut items: Vec<String> = Vec::new();
    for row in &rows {
        if row.try_get(3)? {
            items.push(row.try_get(0)?);
        }
    }
    let mut found = Vec::new();
    if !items.is_empty() {
        let query = sides.differences("item = ANY($1)");
        for row in moment.query(&query, &[&items]).await? {
            let (holder, item) = (row.try_get(0)?, row.try_get(1)?);
            found.push(sentence(holder, item, row.try_get(2)?, row.try_get(3)?));
        }
    }
    Ok((all(&rows)?, found))
}

/// Takes those of the characters that are in regions of the run out of the world and keeps them
/// out. It locks the regions first, then the characters by id.
pub(super) async fn quarantine(
    transaction: &Transaction<'_>,
    run: i64,
    ids: &[String],
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let lock = "SELECT 1 FROM regions WHERE run_id = $1 ORDER BY region_x, region_z FOR UPDATE";
    transaction.execute(lock, &[&run]).await?;
    let lock = r#"SELECT id FROM characters c WHERE id = ANY($1) AND online AND EXISTS
                    (SELECT 1 FROM regions r WHERE r.run_id = $2
                       AND r.region_x = c."regionX" AND r.region_z = c."regionZ")
                  ORDER BY id FOR UPDATE"#;
    let mut held: Vec<String> = Vec::new();
    for row in transaction.query(lock, &[&ids, &run]).await? {
        held.push(row.try_get(0)?);
    }
    // The owner of the character changes too: to nobody.
    transaction
        .execute(
            r#"UPDATE characters SET quarantined = true, online = false,
                 "ownershipSequence" = "ownershipSequence" + 1 WHERE id = ANY($1)"#,
            &[&held],
        )
        .await?;
    transaction
        .execute(
            r#"UPDATE "playerSessions" SET logout = tilestead_now_ms(), reason = 'quarantined'
               WHERE "playerId" = ANY($1) AND logout IS NULL"#,
            &[&held],
        )
        .await?;
    Ok(())
}
