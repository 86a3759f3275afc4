//! Batches in SQLite.

use std::sync::{Arc, LazyLock};

use rusqlite::{OptionalExtension, ToSql, params};
use tonic::async_trait;

use super::runs::state;
use super::{Sqlite, Transaction, bump, ownership, value};
use crate::store::Commits;
use crate::store::error::Result;
use crate::store::judge::{
    After, Held, HeldCharacter, HeldRegion, Order, gap, judge, order, regions,
};
use crate::store::model::{Batch, CommitOutcome, Region, Row, RunState, SKILLS, Then};
use crate::store::value::Holdings;

/// Writes one row; a null skill leaves the column as it is.
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let skills: String = SKILLS
        .iter()
        .enumerate()
        .map(|(number, skill)| {
            let (level, xp) = (14 + 2 * number, 15 + 2 * number);
            format!(
                r#", "{skill}Level" = coalesce(?{level}, "{skill}Level"),
                   "{skill}Xp" = coalesce(?{xp}, "{skill}Xp")"#
            )
        })
        .collect();
    format!(
        r#"UPDATE characters SET "regionX" = ?2, "regionZ" = ?3, "ownershipSequence" = ?4,
             online = ?5, "positionX" = ?6, "positionY" = ?7, "positionZ" = ?8,
             "combatLevel" = ?9, health = ?10, coins = coalesce(?11, coins), placed = ?12,
             state = coalesce(?13, state) {skills}
           WHERE id = ?1"#
    )
});

/// Writes the row of a position.
const WALKED: &str = r#"UPDATE characters SET "regionX" = ?2, "regionZ" = ?3,
   "positionX" = ?4, "positionY" = ?5, "positionZ" = ?6, health = ?7,
   "agilityLevel" = coalesce(?8, "agilityLevel"), "agilityXp" = coalesce(?9, "agilityXp")
 WHERE id = ?1"#;

/// Counts kills.
const KILLED: &str = r#"INSERT INTO "npcKills" ("playerId", "npcId", "killCount")
 VALUES (?1, ?2, ?3)
 ON CONFLICT ("playerId", "npcId") DO UPDATE
   SET "killCount" = min("killCount" + excluded."killCount", 2147483647)"#;

#[async_trait]
impl Commits for Sqlite {
    async fn commit(&self, batch: Arc<Batch>) -> Result<CommitOutcome> {
        let gives = !batch.gives.is_empty();
        let done = self
            .write(move |transaction| apply(transaction, &batch))
            .await?;
        if gives {
            self.changed.notify_one();
        }
        Ok(done)
    }
}

fn apply(transaction: &Transaction<'_>, batch: &Batch) -> Result<CommitOutcome> {
    let now = transaction.now_ms();
    let renewed = transaction
        .prepare_cached("UPDATE runs SET until = ?2 WHERE id = ?1 AND state <> 'fenced'")?
        .execute([batch.run, now + batch.lease_ms])?;
    let believes = renewed == 0 && transaction.mutants().no_fence;
    if renewed == 0 && !believes {
        return Ok(CommitOutcome::Fenced);
    }
    let last: Option<i64> = transaction
        .prepare_cached("SELECT sequence FROM commits WHERE run_id = ?1")?
        .query_row([batch.run], |row| row.get(0))
        .optional()?;
    let last = last.unwrap_or_default();
    match order(last, batch.sequence) {
        Order::Next => {}
        Order::Repeated => return Ok(CommitOutcome::Done { repeated: true }),
        Order::Gap => return Ok(gap(last, batch.sequence)),
    }
    let mut held = held(transaction, batch)?;
    held.believes = believes;
    value::read(transaction, batch, &mut held)?;
    let after = match judge(batch, &held) {
        Ok(after) => after,
        Err(refusal) => return Ok(refusal),
    };
    write_positions(transaction, batch, &after.positions)?;
    for (row, after) in batch.rows.iter().zip(&after.rows) {
        write(transaction, row, *after)?;
        if let Then::Logout { reason } = &row.then {
            transaction
                .prepare_cached(
                    r#"UPDATE "playerSessions" SET logout = ?3, reason = ?4
                       WHERE "playerId" = ?1 AND "sessionEpoch" = ?2 AND logout IS NULL"#,
                )?
                .execute(params![
                    row.record.id,
                    row.record.session_epoch,
                    now,
                    reason
                ])?;
        }
    }
    value::write(transaction, batch, &held, now)?;
    transaction
        .prepare_cached(
            "INSERT INTO commits (run_id, sequence, tick, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (run_id) DO UPDATE SET sequence = ?2, tick = ?3, at = ?4",
        )?
        .execute(params![batch.run, batch.sequence, batch.tick, now])?;
    if !batch.gives.is_empty() {
        let gives = batch.gives.iter().map(|give| (give.region, give.to));
        ownership::give(transaction, &gives.collect::<Vec<_>>())?;
        bump(transaction)?;
    }
    Ok(CommitOutcome::Done { repeated: false })
}

/// Reads the store's rows of everything that the batch names, except packs and ground items.
fn held(transaction: &Transaction<'_>, batch: &Batch) -> Result<Held> {
    let mut held = Held::default();
    for give in &batch.gives {
        if state(transaction, give.to)? == RunState::Live {
            held.live.insert(give.to);
        }
    }
    for region in regions(batch) {
        if let Some(owner) = held_region(transaction, region)? {
            held.regions.insert(region, owner);
        }
    }
    let mut statement = transaction.prepare_cached(
        r#"SELECT "regionX", "regionZ", "ownershipSequence", "sessionEpoch", online, coins
           FROM characters WHERE id = ?1"#,
    )?;
    let ids = batch.rows.iter().map(|row| &row.record.id);
    for id in ids.chain(batch.positions.iter().map(|row| &row.id)) {
        let found = statement
            .query_row([id], |row| {
                let character = HeldCharacter {
                    region: Region {
                        x: row.get(0)?,
                        z: row.get(1)?,
                    },
                    ownership_sequence: row.get(2)?,
                    session_epoch: row.get(3)?,
                    online: row.get(4)?,
                };
                let holdings = Holdings {
                    coins: row.get(5)?,
                    ..Holdings::default()
                };
                Ok((character, holdings))
            })
            .optional()?;
        if let Some((character, holdings)) = found {
            held.characters.insert(id.clone(), character);
            held.holdings.insert(id.clone(), holdings);
        }
    }
    Ok(held)
}

fn held_region(transaction: &Transaction<'_>, region: Region) -> Result<Option<HeldRegion>> {
    let query = "SELECT run_id, epoch, paused FROM regions WHERE region_x = ?1 AND region_z = ?2";
    let mut statement = transaction.prepare_cached(query)?;
    let found = statement.query_row([region.x, region.z], |row| {
        Ok(HeldRegion {
            run: row.get(0)?,
            epoch: row.get(1)?,
            paused: row.get(2)?,
        })
    });
    Ok(found.optional()?)
}

/// Writes the rows of positions; `after` has the region of each afterwards.
fn write_positions(transaction: &Transaction<'_>, batch: &Batch, after: &[Region]) -> Result<()> {
    let mut statement = transaction.prepare_cached(WALKED)?;
    for (row, region) in batch.positions.iter().zip(after) {
        let level = row.agility.map(|grown| grown.level);
        let xp = row.agility.map(|grown| grown.xp_tenths);
        statement.execute(params![
            row.id, region.x, region.z, row.x, row.y, row.z, row.health, level, xp
        ])?;
    }
    Ok(())
}

fn write(transaction: &Transaction<'_>, row: &Row, after: After) -> Result<()> {
    let record = &row.record;
    let levels: Vec<Option<i32>> = record.skills.iter().map(|s| s.map(|s| s.level)).collect();
    let xps: Vec<Option<i64>> = record
        .skills
        .iter()
        .map(|s| s.map(|s| s.xp_tenths))
        .collect();
    let coins = row.holdings.then_some(record.holdings.coins);
    let state = record.written_state();
    let mut values: Vec<&dyn ToSql> = vec![
        &record.id,
        &after.region.x,
        &after.region.z,
        &after.ownership_sequence,
        &after.online,
        &record.x,
        &record.y,
        &record.z,
        &record.combat_level,
        &record.health,
        &coins,
        &record.placed,
        &state,
    ];
    for (level, xp) in levels.iter().zip(&xps) {
        values.push(level);
        values.push(xp);
    }
    transaction.prepare_cached(&UPDATE)?.execute(&*values)?;
    let mut count = transaction.prepare_cached(KILLED)?;
    for (kind, more) in &row.kills {
        count.execute(params![record.id, kind, more])?;
    }
    Ok(())
}
