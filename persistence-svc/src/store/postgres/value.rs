//! Packs, ground items and the ledger in PostgreSQL: a batch reads and writes each with one
//! statement over arrays.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{GenericClient, Transaction};
use tokio_postgres::types::FromSql;

use super::runs::columns;
use super::{Values, all, stored};
use crate::store::error::Result;
use crate::store::judge::{Held, SlotChanges, grave_owners, slots};
use crate::store::model::{Batch, Region};
use crate::store::row::FromRow;
use crate::store::value::{Chunk, GROUND, GroundItem, LedgerRow, Pack, Stack};

/// Returns the packs of characters; a character with an empty pack has no entry.
pub(super) async fn packs<C: GenericClient>(
    client: &C,
    ids: &[&str],
) -> Result<BTreeMap<String, Pack>> {
    let select = r#"SELECT "playerId", "slotIndex", "itemId", quantity FROM inventory
                    WHERE "playerId" = ANY($1)"#;
    stacks(client, select, ids).await
}

/// Returns the stacks of these characters by place. `select` gives the id of the character, the
/// place, the id of the item and its quantity; its parameter is `ids`.
pub(super) async fn stacks<C: GenericClient, P: Ord + for<'a> FromSql<'a>>(
    client: &C,
    select: &str,
    ids: &[&str],
) -> Result<BTreeMap<String, BTreeMap<P, Stack>>> {
    let mut all: BTreeMap<String, BTreeMap<P, Stack>> = BTreeMap::new();
    if ids.is_empty() {
        return Ok(all);
    }
    let statement = client.prepare_cached(select).await?;
    for row in client.query(&statement, &[&ids]).await? {
        let stack = Stack {
            item: row.try_get(2)?,
            quantity: row.try_get(3)?,
        };
        let of = all.entry(row.try_get(0)?).or_default();
        of.insert(row.try_get(1)?, stack);
    }
    Ok(all)
}

/// Returns the ground items of a region, by id.
pub(super) async fn ground_of<C: GenericClient>(
    client: &C,
    region: Region,
) -> Result<Vec<GroundItem>> {
    let statement = client
        .prepare_cached(&format!(
            "SELECT {GROUND} FROM ground_items WHERE region_x = $1 AND region_z = $2 ORDER BY id"
        ))
        .await?;
    let rows = client.query(&statement, &[&region.x, &region.z]).await?;
    all(&rows)
}

/// Returns the persistent objects of the chunks of a region, in order.
pub(super) async fn chunks_of<C: GenericClient>(client: &C, region: Region) -> Result<Vec<Chunk>> {
    let statement = client
        .prepare_cached(
            r#"SELECT "chunkX", "chunkZ", data FROM "worldChunks"
               WHERE "chunkX" BETWEEN $1 AND $1 + 7 AND "chunkZ" BETWEEN $2 AND $2 + 7
               ORDER BY 1, 2"#,
        )
        .await?;
    let first = |at: i32| at.saturating_mul(Chunk::OF_REGION);
    let place: Values<'_> = &[&first(region.x), &first(region.z)];
    all(&client.query(&statement, place).await?)
}

async fn write_chunks(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    if batch.chunks.is_empty() {
        return Ok(());
    }
    let chunks = || batch.chunks.iter();
    let xs: Vec<i32> = chunks().map(|chunk| chunk.x).collect();
    let zs: Vec<i32> = chunks().map(|chunk| chunk.z).collect();
    let data: Vec<&str> = chunks().map(|chunk| chunk.data.as_str()).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO "worldChunks" ("chunkX", "chunkZ", data, "lastActive")
               SELECT x, z, data, $4 FROM UNNEST($1::integer[], $2::integer[], $3::text[])
                 AS u (x, z, data)
               ON CONFLICT ("chunkX", "chunkZ") DO UPDATE
                 SET data = excluded.data, "lastActive" = excluded."lastActive""#,
        )
        .await?;
    let values: Values<'_> = &[&xs, &zs, &data, &batch.tick];
    transaction.execute(&statement, values).await?;
    Ok(())
}

async fn write_states(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    if batch.states.is_empty() {
        return Ok(());
    }
    let (xs, zs) = columns(batch.states.iter().map(|state| &state.region));
    let states: Vec<&[u8]> = batch.states.iter().map(|state| &*state.state).collect();
    let statement = transaction
        .prepare_cached(
            "INSERT INTO region_states (region_x, region_z, tick, state)
             SELECT x, z, $4, state FROM UNNEST($1::integer[], $2::integer[], $3::bytea[])
               AS u (x, z, state)
             ON CONFLICT (region_x, region_z) DO UPDATE
               SET tick = excluded.tick, state = excluded.state",
        )
        .await?;
    let values: Values<'_> = &[&xs, &zs, &states, &batch.tick];
    transaction.execute(&statement, values).await?;
    Ok(())
}

/// Reads the packs and ground items that the batch changes. The locks of characters and regions
/// protect them.
pub(super) async fn read(
    transaction: &Transaction<'_>,
    batch: &Batch,
    held: &mut Held,
) -> Result<()> {
    let of = batch.rows.iter().filter(|row| row.holdings);
    let ids: Vec<&str> = of.map(|row| row.record.id.as_str()).collect();
    for (id, pack) in packs(transaction, &ids).await? {
        held.holdings.entry(id).or_default().pack = pack;
    }
    stored::read(transaction, batch, held).await?;
    let put = batch.ground.iter().map(|item| item.id.as_str());
    let gone = batch.gone.iter().map(|gone| gone.id.as_str());
    let ids: Vec<&str> = put.chain(gone).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached(&format!(
            "SELECT {GROUND} FROM ground_items WHERE id = ANY($1)"
        ))
        .await?;
    for row in transaction.query(&statement, &[&ids]).await? {
        let item = GroundItem::from_row(&row)?;
        held.ground.insert(item.id.clone(), item);
    }
    Ok(())
}

/// Writes all items of value that the batch changes. The judge has passed it.
pub(super) async fn write(transaction: &Transaction<'_>, batch: &Batch, held: &Held) -> Result<()> {
    write_slots(transaction, &slots(batch, held)).await?;
    stored::write(transaction, batch, held).await?;
    write_ground(transaction, batch).await?;
    write_deaths(transaction, batch, held).await?;
    write_chunks(transaction, batch).await?;
    write_states(transaction, batch).await?;
    write_ledger(transaction, batch.run, batch.sequence, &batch.ledger).await
}

async fn write_slots(transaction: &Transaction<'_>, changes: &SlotChanges<'_>) -> Result<()> {
    if !changes.cleared.is_empty() {
        let (ids, slots): (Vec<&str>, Vec<i32>) = changes.cleared.iter().copied().unzip();
        let statement = transaction
            .prepare_cached(
                r#"DELETE FROM inventory i USING UNNEST($1::text[], $2::integer[]) AS u (id, slot)
                   WHERE i."playerId" = u.id AND i."slotIndex" = u.slot"#,
            )
            .await?;
        transaction.execute(&statement, &[&ids, &slots]).await?;
    }
    // An INSERT without ON CONFLICT does not look for another row first.
    let fill = r#"INSERT INTO inventory ("playerId", "slotIndex", "itemId", quantity)
                  SELECT * FROM UNNEST($1::text[], $2::integer[], $3::text[], $4::integer[])"#;
    write_stacks(transaction, fill, &changes.filled).await?;
    let change = r#"UPDATE inventory i SET "itemId" = u.item, quantity = u.quantity
                    FROM UNNEST($1::text[], $2::integer[], $3::text[], $4::integer[])
                      AS u (id, slot, item, quantity)
                    WHERE i."playerId" = u.id AND i."slotIndex" = u.slot"#;
    write_stacks(transaction, change, &changes.changed).await
}

/// Executes a statement over the characters, slots, items and quantities of stacks.
async fn write_stacks(
    transaction: &Transaction<'_>,
    statement: &str,
    stacks: &[(&str, i32, &Stack)],
) -> Result<()> {
    if stacks.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = stacks.iter().map(|(id, ..)| *id).collect();
    let slots: Vec<i32> = stacks.iter().map(|(_, slot, _)| *slot).collect();
    let items = stacks.iter().map(|(.., stack)| stack.item.as_str());
    let items: Vec<&str> = items.collect();
    let quantities: Vec<i32> = stacks.iter().map(|(.., stack)| stack.quantity).collect();
    let statement = transaction.prepare_cached(statement).await?;
    let values: Values<'_> = &[&ids, &slots, &items, &quantities];
    transaction.execute(&statement, values).await?;
    Ok(())
}

async fn write_ground(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    if !batch.gone.is_empty() {
        let ids: Vec<&str> = batch.gone.iter().map(|gone| gone.id.as_str()).collect();
        let statement = transaction
            .prepare_cached("DELETE FROM ground_items WHERE id = ANY($1)")
            .await?;
        transaction.execute(&statement, &[&ids]).await?;
    }
    if batch.ground.is_empty() {
        return Ok(());
    }
    let items = || batch.ground.iter();
    let ids: Vec<&str> = items().map(|item| item.id.as_str()).collect();
    let region_xs: Vec<i32> = items().map(|item| item.region.x).collect();
    let region_zs: Vec<i32> = items().map(|item| item.region.z).collect();
    let xs: Vec<i32> = items().map(|item| item.x).collect();
    let zs: Vec<i32> = items().map(|item| item.z).collect();
    let kinds: Vec<&str> = items().map(|item| item.stack.item.as_str()).collect();
    let quantities: Vec<i32> = items().map(|item| item.stack.quantity).collect();
    let owners: Vec<&str> = items().map(|item| item.owner.as_str()).collect();
    let public: Vec<i64> = items().map(|item| item.public_tick).collect();
    let expires: Vec<i64> = items().map(|item| item.expires_tick).collect();
    let graves: Vec<&str> = items().map(|item| item.grave.as_str()).collect();
    let statement = transaction
        .prepare_cached(&format!(
            "INSERT INTO ground_items ({GROUND})
             SELECT * FROM UNNEST($1::text[], $2::integer[], $3::integer[], $4::integer[],
               $5::integer[], $6::text[], $7::integer[], $8::text[], $9::bigint[], $10::bigint[],
               $11::text[])
             ON CONFLICT (id) DO UPDATE
               SET x = excluded.x, z = excluded.z, item_id = excluded.item_id,
                 quantity = excluded.quantity, owner_id = excluded.owner_id,
                 public_tick = excluded.public_tick, expires_tick = excluded.expires_tick,
                 grave_id = excluded.grave_id"
        ))
        .await?;
    let values: Values<'_> = &[
        &ids,
        &region_xs,
        &region_zs,
        &xs,
        &zs,
        &kinds,
        &quantities,
        &owners,
        &public,
        &expires,
        &graves,
    ];
    transaction.execute(&statement, values).await?;
    Ok(())
}

/// Writes the locks of the dead, which name the items in their graves. It removes a lock with the
/// last item in the grave.
async fn write_deaths(transaction: &Transaction<'_>, batch: &Batch, held: &Held) -> Result<()> {
    let owners: Vec<&str> = grave_owners(batch, held).into_iter().collect();
    if owners.is_empty() {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached(
            r#"DELETE FROM "playerDeaths" WHERE "playerId" = ANY($1) AND NOT EXISTS
                 (SELECT 1 FROM ground_items WHERE owner_id = "playerId" AND grave_id <> '')"#,
        )
        .await?;
    transaction.execute(&statement, &[&owners]).await?;
    // No row of this batch locks other characters; their items go all at once.
    let rows: BTreeSet<&str> = batch
        .rows
        .iter()
        .map(|row| row.record.id.as_str())
        .collect();
    let present: Vec<&str> = owners
        .into_iter()
        .filter(|who| rows.contains(who))
        .collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO "playerDeaths"
                 ("playerId", "gravestoneId", position, "zoneType", "itemCount", items, timestamp)
               SELECT owner_id, max(grave_id),
                 (array_agg(x || ',' || z ORDER BY grave_id DESC))[1], 'grave', count(*)::integer,
                 jsonb_agg(jsonb_build_object('itemId', item_id, 'quantity', quantity)
                   ORDER BY id),
                 tilestead_now_ms()
               FROM ground_items WHERE owner_id = ANY($1) AND grave_id <> '' GROUP BY owner_id
               ON CONFLICT ("playerId") DO UPDATE
                 SET "gravestoneId" = excluded."gravestoneId", position = excluded.position,
                   "itemCount" = excluded."itemCount", items = excluded.items"#,
        )
        .await?;
    transaction.execute(&statement, &[&present]).await?;
    Ok(())
}

/// Writes rows under the operation (run, sequence), numbered from 1.
pub(super) async fn write_ledger(
    transaction: &Transaction<'_>,
    run: i64,
    sequence: i64,
    ledger: &[LedgerRow],
) -> Result<()> {
    if ledger.is_empty() {
        return Ok(());
    }
    let rows = || ledger.iter();
    let characters: Vec<Option<&str>> = rows().map(|row| row.character.as_deref()).collect();
    let items: Vec<&str> = rows().map(|row| row.item.as_str()).collect();
    let causes: Vec<&str> = rows().map(|row| row.cause.as_str()).collect();
    let deltas: Vec<i64> = rows().map(|row| row.delta).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO ledger
                 (run_id, sequence, "row", character_id, item_id, cause, delta, at)
               SELECT $1, $2, u.n::integer, u.who, u.item, u.cause, u.delta, tilestead_now_ms()
               FROM UNNEST($3::text[], $4::text[], $5::text[], $6::bigint[])
                 WITH ORDINALITY AS u (who, item, cause, delta, n)"#,
        )
        .await?;
    let values: Values<'_> = &[&run, &sequence, &characters, &items, &causes, &deltas];
    transaction.execute(&statement, values).await?;
    Ok(())
}
