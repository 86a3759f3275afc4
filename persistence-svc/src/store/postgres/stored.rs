//! Worn items, stakes and banks in PostgreSQL: each read and each write is one statement over
//! arrays.

use std::collections::BTreeMap;

use super::session::{GenericClient, Transaction};

use super::{Values, value};
use crate::store::error::Result;
use crate::store::judge::Held;
use crate::store::model::{Batch, Record};
use crate::store::stored::{Bank, Banked, Worn, banked, places, staking};
use crate::store::value::{Holdings, Pack};

/// Fills in all holdings of these characters beside their coins.
pub(super) async fn fill<C: GenericClient>(client: &C, records: &mut [Record]) -> Result<()> {
    let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let mut packs = value::packs(client, &ids).await?;
    let mut clothes = worn(client, &ids).await?;
    let mut stakes = stakes(client, &ids).await?;
    let mut banks = banks(client, &ids).await?;
    for record in records {
        let id = &record.id;
        record.holdings = Holdings {
            coins: record.holdings.coins,
            pack: packs.remove(id).unwrap_or_default(),
            worn: clothes.remove(id).unwrap_or_default(),
            stakes: stakes.remove(id).unwrap_or_default(),
            bank: banks.remove(id).unwrap_or_default(),
        };
    }
    Ok(())
}

/// Returns the worn items of characters; a character that wears nothing has no entry.
pub(super) async fn worn<C: GenericClient>(
    client: &C,
    ids: &[&str],
) -> Result<BTreeMap<String, Worn>> {
    let select = r#"SELECT "playerId", "slotType", "itemId", quantity FROM equipment
                    WHERE "playerId" = ANY($1)"#;
    value::stacks(client, select, ids).await
}

/// Returns the stakes of characters; a character without stakes has no entry.
pub(super) async fn stakes<C: GenericClient>(
    client: &C,
    ids: &[&str],
) -> Result<BTreeMap<String, Pack>> {
    let select = r#"SELECT "playerId", place, "itemId", quantity FROM stakes
                    WHERE "playerId" = ANY($1)"#;
    value::stacks(client, select, ids).await
}

/// Returns the banks of characters; a character with an empty bank has no entry.
pub(super) async fn banks<C: GenericClient>(
    client: &C,
    ids: &[&str],
) -> Result<BTreeMap<String, Bank>> {
    let mut banks: BTreeMap<String, Bank> = BTreeMap::new();
    if ids.is_empty() {
        return Ok(banks);
    }
    let statement = client
        .prepare_cached(
            r#"SELECT "playerId", "itemId", quantity, tab, place FROM bank
               WHERE "playerId" = ANY($1)"#,
        )
        .await?;
    for row in client.query(&statement, &[&ids]).await? {
        let lies = Banked {
            quantity: row.try_get(2)?,
            tab: row.try_get(3)?,
            place: row.try_get(4)?,
        };
        let bank = banks.entry(row.try_get(0)?).or_default();
        bank.insert(row.try_get(1)?, Some(lies));
    }
    Ok(banks)
}

/// Reads the rows that the batch changes. The locks of characters protect them.
pub(super) async fn read(
    transaction: &Transaction<'_>,
    batch: &Batch,
    held: &mut Held,
) -> Result<()> {
    let of = batch.rows.iter().filter(|row| row.worn);
    let ids: Vec<&str> = of.map(|row| row.record.id.as_str()).collect();
    for (id, worn) in worn(transaction, &ids).await? {
        held.holdings.entry(id).or_default().worn = worn;
    }
    let staking: Vec<&str> = staking(batch).map(|(id, _)| id).collect();
    for (id, stakes) in stakes(transaction, &staking).await? {
        held.holdings.entry(id).or_default().stakes = stakes;
    }
    let named = banked(batch).map(|(id, item, _)| (id, item));
    let (ids, items): (Vec<&str>, Vec<&str>) = named.unzip();
    if ids.is_empty() {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached(
            r#"SELECT b."playerId", b."itemId", b.quantity, b.tab, b.place
               FROM UNNEST($1::text[], $2::text[]) AS u (id, item)
               JOIN bank b ON b."playerId" = u.id AND b."itemId" = u.item"#,
        )
        .await?;
    for row in transaction.query(&statement, &[&ids, &items]).await? {
        let lies = Banked {
            quantity: row.try_get(2)?,
            tab: row.try_get(3)?,
            place: row.try_get(4)?,
        };
        let holdings = held.holdings.entry(row.try_get(0)?).or_default();
        holdings.bank.insert(row.try_get(1)?, Some(lies));
    }
    Ok(())
}

/// Writes the changes of the batch. The judge has passed it.
pub(super) async fn write(transaction: &Transaction<'_>, batch: &Batch, held: &Held) -> Result<()> {
    write_places(transaction, batch, held).await?;
    write_stakes(transaction, batch).await?;
    write_banks(transaction, batch).await
}

async fn write_places(transaction: &Transaction<'_>, batch: &Batch, held: &Held) -> Result<()> {
    let changes = places(batch, held);
    if !changes.cleared.is_empty() {
        let (ids, slots): (Vec<&str>, Vec<&str>) = changes.cleared.iter().copied().unzip();
        let statement = transaction
            .prepare_cached(
                r#"DELETE FROM equipment e USING UNNEST($1::text[], $2::text[]) AS u (id, slot)
                   WHERE e."playerId" = u.id AND e."slotType" = u.slot"#,
            )
            .await?;
        transaction.execute(&statement, &[&ids, &slots]).await?;
    }
    if changes.put.is_empty() {
        return Ok(());
    }
    let put = || changes.put.iter();
    let ids: Vec<&str> = put().map(|(id, ..)| *id).collect();
    let slots: Vec<&str> = put().map(|(_, slot, _)| *slot).collect();
    let items: Vec<&str> = put().map(|(.., stack)| stack.item.as_str()).collect();
    let quantities: Vec<i32> = put().map(|(.., stack)| stack.quantity).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO equipment ("playerId", "slotType", "itemId", quantity)
               SELECT * FROM UNNEST($1::text[], $2::text[], $3::text[], $4::integer[])
               ON CONFLICT ("playerId", "slotType") DO UPDATE
                 SET "itemId" = excluded."itemId", quantity = excluded.quantity"#,
        )
        .await?;
    let values: Values<'_> = &[&ids, &slots, &items, &quantities];
    transaction.execute(&statement, values).await?;
    Ok(())
}

async fn write_stakes(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let of: Vec<&str> = staking(batch).map(|(id, _)| id).collect();
    if of.is_empty() {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached(r#"DELETE FROM stakes WHERE "playerId" = ANY($1)"#)
        .await?;
    transaction.execute(&statement, &[&of]).await?;
    let all = || staking(batch).flat_map(|(id, stakes)| stakes.iter().map(move |at| (id, at)));
    let ids: Vec<&str> = all().map(|(id, _)| id).collect();
    let at: Vec<i32> = all().map(|(_, (place, _))| *place).collect();
    let items: Vec<&str> = all().map(|(_, (_, stack))| stack.item.as_str()).collect();
    let quantities: Vec<i32> = all().map(|(_, (_, stack))| stack.quantity).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO stakes ("playerId", place, "itemId", quantity)
               SELECT * FROM UNNEST($1::text[], $2::integer[], $3::text[], $4::integer[])"#,
        )
        .await?;
    let values: Values<'_> = &[&ids, &at, &items, &quantities];
    transaction.execute(&statement, values).await?;
    Ok(())
}

async fn write_banks(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let gone = banked(batch).filter(|(.., lies)| lies.is_none());
    let (ids, items): (Vec<&str>, Vec<&str>) = gone.map(|(id, item, _)| (id, item)).unzip();
    if !ids.is_empty() {
        let statement = transaction
            .prepare_cached(
                r#"DELETE FROM bank b USING UNNEST($1::text[], $2::text[]) AS u (id, item)
                   WHERE b."playerId" = u.id AND b."itemId" = u.item"#,
            )
            .await?;
        transaction.execute(&statement, &[&ids, &items]).await?;
    }
    let put = banked(batch).filter_map(|(id, item, lies)| Some((id, item, lies?)));
    let put: Vec<(&str, &str, Banked)> = put.collect();
    if put.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = put.iter().map(|(id, ..)| *id).collect();
    let items: Vec<&str> = put.iter().map(|(_, item, _)| *item).collect();
    let quantities: Vec<i32> = put.iter().map(|(.., lies)| lies.quantity).collect();
    let tabs: Vec<i32> = put.iter().map(|(.., lies)| lies.tab).collect();
    let at: Vec<i32> = put.iter().map(|(.., lies)| lies.place).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO bank ("playerId", "itemId", quantity, tab, place)
               SELECT * FROM
                 UNNEST($1::text[], $2::text[], $3::integer[], $4::integer[], $5::integer[])
               ON CONFLICT ("playerId", "itemId") DO UPDATE
                 SET quantity = excluded.quantity, tab = excluded.tab, place = excluded.place"#,
        )
        .await?;
    let values: Values<'_> = &[&ids, &items, &quantities, &tabs, &at];
    transaction.execute(&statement, values).await?;
    Ok(())
}
