//! Worn items, stakes and banks in SQLite.

use rusqlite::{OptionalExtension, Row, params};

use super::{Transaction, value};
use crate::store::error::Result;
use crate::store::judge::Held;
use crate::store::model::{Batch, Record};
use crate::store::stored::{Bank, Banked, Worn, banked, places, staking};
use crate::store::value::{Holdings, Pack};

/// Fills in all holdings of a character beside its coins.
pub(super) fn fill(transaction: &Transaction<'_>, record: &mut Record) -> Result<()> {
    record.holdings = holdings(transaction, &record.id, record.holdings.coins)?;
    Ok(())
}

/// Returns all holdings of a character, with these coins.
pub(super) fn holdings(transaction: &Transaction<'_>, id: &str, coins: i32) -> Result<Holdings> {
    Ok(Holdings {
        coins,
        pack: value::pack(transaction, id)?,
        worn: worn(transaction, id)?,
        stakes: stakes(transaction, id)?,
        bank: bank(transaction, id)?,
    })
}

fn worn(transaction: &Transaction<'_>, id: &str) -> Result<Worn> {
    let select = r#"SELECT "slotType", "itemId", quantity FROM equipment WHERE "playerId" = ?1"#;
    value::stacks(transaction, select, id)
}

fn stakes(transaction: &Transaction<'_>, id: &str) -> Result<Pack> {
    let select = r#"SELECT place, "itemId", quantity FROM stakes WHERE "playerId" = ?1"#;
    value::stacks(transaction, select, id)
}

fn write_stakes(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut clear = transaction.prepare_cached(r#"DELETE FROM stakes WHERE "playerId" = ?1"#)?;
    let mut put = transaction.prepare_cached(
        r#"INSERT INTO stakes ("playerId", place, "itemId", quantity) VALUES (?1, ?2, ?3, ?4)"#,
    )?;
    for (id, stakes) in staking(batch) {
        clear.execute([id])?;
        for (place, stack) in stakes {
            put.execute(params![id, place, stack.item, stack.quantity])?;
        }
    }
    Ok(())
}

fn bank(transaction: &Transaction<'_>, id: &str) -> Result<Bank> {
    let mut statement = transaction.prepare_cached(
        r#"SELECT quantity, tab, place, "itemId" FROM bank WHERE "playerId" = ?1"#,
    )?;
    let rows = statement.query_map([id], |row| Ok((row.get(3)?, Some(lies(row)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn lies(row: &Row<'_>) -> rusqlite::Result<Banked> {
    Ok(Banked {
        quantity: row.get(0)?,
        tab: row.get(1)?,
        place: row.get(2)?,
    })
}

/// Reads the rows that the batch changes.
pub(super) fn read(transaction: &Transaction<'_>, batch: &Batch, held: &mut Held) -> Result<()> {
    for row in batch.rows.iter().filter(|row| row.worn) {
        let id = &row.record.id;
        held.holdings.entry(id.clone()).or_default().worn = worn(transaction, id)?;
    }
    for (id, _) in staking(batch) {
        let holdings = held.holdings.entry(id.to_owned()).or_default();
        holdings.stakes = stakes(transaction, id)?;
    }
    let mut statement = transaction.prepare_cached(
        r#"SELECT quantity, tab, place FROM bank WHERE "playerId" = ?1 AND "itemId" = ?2"#,
    )?;
    for (id, item, _) in banked(batch) {
        if let Some(before) = statement.query_row([id, item], lies).optional()? {
            let holdings = held.holdings.entry(id.to_owned()).or_default();
            holdings.bank.insert(item.to_owned(), Some(before));
        }
    }
    Ok(())
}

/// Writes the changes of the batch. The judge has passed it.
pub(super) fn write(transaction: &Transaction<'_>, batch: &Batch, held: &Held) -> Result<()> {
    let changes = places(batch, held);
    let mut clear = transaction
        .prepare_cached(r#"DELETE FROM equipment WHERE "playerId" = ?1 AND "slotType" = ?2"#)?;
    for (id, slot) in changes.cleared {
        clear.execute([id, slot])?;
    }
    let mut put = transaction.prepare_cached(
        r#"INSERT INTO equipment ("playerId", "slotType", "itemId", quantity)
           VALUES (?1, ?2, ?3, ?4)
           ON CONFLICT ("playerId", "slotType") DO UPDATE SET "itemId" = ?3, quantity = ?4"#,
    )?;
    for (id, slot, stack) in changes.put {
        put.execute(params![id, slot, stack.item, stack.quantity])?;
    }
    write_stakes(transaction, batch)?;
    write_banks(transaction, batch)
}

fn write_banks(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut remove = transaction
        .prepare_cached(r#"DELETE FROM bank WHERE "playerId" = ?1 AND "itemId" = ?2"#)?;
    let mut put = transaction.prepare_cached(
        r#"INSERT INTO bank ("playerId", "itemId", quantity, tab, place)
           VALUES (?1, ?2, ?3, ?4, ?5)
           ON CONFLICT ("playerId", "itemId") DO UPDATE
             SET quantity = ?3, tab = ?4, place = ?5"#,
    )?;
    for (id, item, lies) in banked(batch) {
        match lies {
            Some(lies) => {
                put.execute(params![id, item, lies.quantity, lies.tab, lies.place])?;
            }
            None => {
                remove.execute([id, item])?;
            }
        }
    }
    Ok(())
}
