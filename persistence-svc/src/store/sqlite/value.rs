//! Packs, ground items and the ledger in SQLite, as a batch reads and writes them.

use std::collections::BTreeMap;

use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, params};

use super::{Transaction, all, read as from_row, stored};
use crate::store::error::Result;
use crate::store::judge::{Held, grave_owners, slots};
use crate::store::model::{Batch, Region};
use crate::store::value::{Chunk, GROUND, GroundItem, LedgerRow, Pack, Stack};

/// Returns the pack of a character.
pub(super) fn pack(transaction: &Transaction<'_>, id: &str) -> Result<Pack> {
    let select = r#"SELECT "slotIndex", "itemId", quantity FROM inventory WHERE "playerId" = ?1"#;
    stacks(transaction, select, id)
}

/// Returns the stacks of a character by place. `select` gives the place, the id of the item and its
/// quantity; its parameter is `id`.
pub(super) fn stacks<P: Ord + FromSql>(
    transaction: &Transaction<'_>,
    select: &str,
    id: &str,
) -> Result<BTreeMap<P, Stack>> {
    let mut statement = transaction.prepare_cached(select)?;
    let rows = statement.query_map([id], |row| {
        let stack = Stack {
            item: row.get(1)?,
            quantity: row.get(2)?,
        };
        Ok((row.get(0)?, stack))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the ground items of a region, by id.
pub(super) fn ground_of(transaction: &Transaction<'_>, region: Region) -> Result<Vec<GroundItem>> {
    let query = format!(
        "SELECT {GROUND} FROM ground_items WHERE region_x = ?1 AND region_z = ?2 ORDER BY id"
    );
    all(transaction, &query, [region.x, region.z])
}

/// Reads the packs and ground items that the batch changes.
pub(super) fn read(transaction: &Transaction<'_>, batch: &Batch, held: &mut Held) -> Result<()> {
    for row in batch.rows.iter().filter(|row| row.holdings) {
        let id = &row.record.id;
        held.holdings.entry(id.clone()).or_default().pack = pack(transaction, id)?;
    }
    stored::read(transaction, batch, held)?;
    let mut statement =
        transaction.prepare_cached(&format!("SELECT {GROUND} FROM ground_items WHERE id = ?1"))?;
    let put = batch.ground.iter().map(|item| &item.id);
    for id in put.chain(batch.gone.iter().map(|gone| &gone.id)) {
        if let Some(item) = statement
            .query_row([id], from_row::<GroundItem>)
            .optional()?
        {
            held.ground.insert(item.id.clone(), item);
        }
    }
    Ok(())
}

/// Writes all items of value that the batch changes. The judge has passed it.
pub(super) fn write(
    transaction: &Transaction<'_>,
    batch: &Batch,
    held: &Held,
    now: i64,
) -> Result<()> {
    write_slots(transaction, batch, held)?;
    stored::write(transaction, batch, held)?;
    write_ground(transaction, batch)?;
    write_deaths(transaction, batch, held, now)?;
    write_chunks(transaction, batch)?;
    write_states(transaction, batch)?;
    write_ledger(transaction, batch.run, batch.sequence, &batch.ledger, now)
}

fn write_slots(transaction: &Transaction<'_>, batch: &Batch, held: &Held) -> Result<()> {
    let changes = slots(batch, held);
    let mut clear = transaction
        .prepare_cached(r#"DELETE FROM inventory WHERE "playerId" = ?1 AND "slotIndex" = ?2"#)?;
    for (id, slot) in changes.cleared {
        clear.execute(params![id, slot])?;
    }
    let mut fill = transaction.prepare_cached(
        r#"INSERT INTO inventory ("playerId", "slotIndex", "itemId", quantity)
           VALUES (?1, ?2, ?3, ?4)"#,
    )?;
    for (id, slot, stack) in changes.filled {
        fill.execute(params![id, slot, stack.item, stack.quantity])?;
    }
    let mut change = transaction.prepare_cached(
        r#"UPDATE inventory SET "itemId" = ?3, quantity = ?4
           WHERE "playerId" = ?1 AND "slotIndex" = ?2"#,
    )?;
    for (id, slot, stack) in changes.changed {
        change.execute(params![id, slot, stack.item, stack.quantity])?;
    }
    Ok(())
}

/// Returns the persistent objects of the chunks of a region, in order.
pub(super) fn chunks_of(transaction: &Transaction<'_>, region: Region) -> Result<Vec<Chunk>> {
    let query = r#"SELECT "chunkX", "chunkZ", data FROM "worldChunks"
                   WHERE "chunkX" BETWEEN ?1 AND ?1 + 7 AND "chunkZ" BETWEEN ?2 AND ?2 + 7
                   ORDER BY 1, 2"#;
    let first = |at: i32| at.saturating_mul(Chunk::OF_REGION);
    all(transaction, query, [first(region.x), first(region.z)])
}

fn write_chunks(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut put = transaction.prepare_cached(
        r#"INSERT INTO "worldChunks" ("chunkX", "chunkZ", data, "lastActive")
           VALUES (?1, ?2, ?3, ?4)
           ON CONFLICT ("chunkX", "chunkZ") DO UPDATE SET data = ?3, "lastActive" = ?4"#,
    )?;
    for chunk in &batch.chunks {
        put.execute(params![chunk.x, chunk.z, chunk.data, batch.tick])?;
    }
    Ok(())
}

fn write_states(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut put = transaction.prepare_cached(
        "INSERT INTO region_states (region_x, region_z, tick, state) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (region_x, region_z) DO UPDATE SET tick = ?3, state = ?4",
    )?;
    for of in &batch.states {
        put.execute(params![of.region.x, of.region.z, batch.tick, &*of.state])?;
    }
    Ok(())
}

fn write_ground(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut remove = transaction.prepare_cached("DELETE FROM ground_items WHERE id = ?1")?;
    for gone in &batch.gone {
        remove.execute([&gone.id])?;
    }
    let mut put = transaction.prepare_cached(&format!(
        "INSERT INTO ground_items ({GROUND}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (id) DO UPDATE
           SET x = ?4, z = ?5, item_id = ?6, quantity = ?7, owner_id = ?8, public_tick = ?9,
             expires_tick = ?10, grave_id = ?11"
    ))?;
    for item in &batch.ground {
        put.execute(params![
            item.id,
            item.region.x,
            item.region.z,
            item.x,
            item.z,
            item.stack.item,
            item.stack.quantity,
            item.owner,
            item.public_tick,
            item.expires_tick,
            item.grave
        ])?;
    }
    Ok(())
}

/// Writes the locks of the dead, which name the items in their graves. It removes a lock with the
/// last item in the grave.
fn write_deaths(transaction: &Transaction<'_>, batch: &Batch, held: &Held, now: i64) -> Result<()> {
    let mut remove = transaction.prepare_cached(
        r#"DELETE FROM "playerDeaths" WHERE "playerId" = ?1 AND NOT EXISTS
             (SELECT 1 FROM ground_items WHERE owner_id = ?1 AND grave_id <> '')"#,
    )?;
    // In SQLite, the other columns beside `max` come from the row with the maximum.
    let mut put = transaction.prepare_cached(
        r#"INSERT INTO "playerDeaths"
             ("playerId", "gravestoneId", position, "zoneType", "itemCount", items, timestamp)
           SELECT owner_id, max(grave_id), x || ',' || z, 'grave', count(*),
             json_group_array(json_object('itemId', item_id, 'quantity', quantity)), ?2
           FROM ground_items WHERE owner_id = ?1 AND grave_id <> '' GROUP BY owner_id
           ON CONFLICT ("playerId") DO UPDATE
             SET "gravestoneId" = excluded."gravestoneId", position = excluded.position,
               "itemCount" = excluded."itemCount", items = excluded.items"#,
    )?;
    for owner in grave_owners(batch, held) {
        remove.execute([owner])?;
        if batch.rows.iter().any(|row| row.record.id == owner) {
            put.execute(params![owner, now])?;
        }
    }
    Ok(())
}

/// Writes rows under the operation (run, sequence), numbered from 1.
pub(super) fn write_ledger(
    transaction: &Transaction<'_>,
    run: i64,
    sequence: i64,
    ledger: &[LedgerRow],
    now: i64,
) -> Result<()> {
    let mut note = transaction.prepare_cached(
        r#"INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"#,
    )?;
    for (number, row) in (1_i64..).zip(ledger) {
        note.execute(params![
            run,
            sequence,
            number,
            row.character,
            row.item,
            row.cause,
            row.delta,
            now
        ])?;
    }
    Ok(())
}
