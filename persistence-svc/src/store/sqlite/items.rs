//! The catalogue of items in SQLite.

use std::collections::BTreeSet;

use rusqlite::params;
use tonic::async_trait;

use super::{Sqlite, runs};
use crate::store::Items;
use crate::store::error::Result;
use crate::store::items::ItemPage;

/// Writes an item, if it became different.
const PUT: &str = "INSERT INTO items
   (id, name, type, description, value, weight, stackable, tradeable, stats)
 VALUES (?1, ?2, ?3, ?4, ?5, ?6 / 1000.0, ?7, ?8, ?9)
 ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type,
   description = excluded.description, value = excluded.value, weight = excluded.weight,
   stackable = excluded.stackable, tradeable = excluded.tradeable, stats = excluded.stats
 WHERE (items.name, items.type, items.description, items.value, items.weight,
     items.stackable, items.tradeable, coalesce(items.stats, ''))
   <> (excluded.name, excluded.type, excluded.description, excluded.value,
     excluded.weight, excluded.stackable, excluded.tradeable, excluded.stats)";

#[async_trait]
impl Items for Sqlite {
    async fn mirror_items(&self, page: ItemPage) -> Result<u64> {
        self.write(move |transaction| {
            runs::alive(transaction, page.run)?;
            let mut changed = 0;
            let mut put = transaction.prepare_cached(PUT)?;
            for item in &page.items {
                changed += put.execute(params![
                    item.id,
                    item.name,
                    item.sort,
                    item.description,
                    item.value,
                    item.weight_grams,
                    item.stackable,
                    item.tradeable,
                    item.stats
                ])?;
            }
            let kept: BTreeSet<&str> = page.items.iter().map(|item| item.id.as_str()).collect();
            let mut there = transaction
                .prepare_cached("SELECT id FROM items WHERE id > ?1 AND (?2 OR id <= ?3)")?;
            let ids = there.query_map(params![page.after, page.last, page.end()], |row| {
                row.get::<_, String>(0)
            })?;
            let ids = ids.collect::<rusqlite::Result<Vec<String>>>()?;
            let mut gone = transaction.prepare_cached("DELETE FROM items WHERE id = ?1")?;
            for id in ids.iter().filter(|id| !kept.contains(id.as_str())) {
                changed += gone.execute([id])?;
            }
            Ok(changed as u64)
        })
        .await
    }
}
