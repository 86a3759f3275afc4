//! The catalogue of items in PostgreSQL.

use tonic::async_trait;

use super::session::GenericClient;
use super::{Postgres, Values, runs};
use crate::store::Items;
use crate::store::error::Result;
use crate::store::items::{ItemPage, ItemRow};

/// Writes the items of a page that differ.
const PUT: &str = r"INSERT INTO items
   (id, name, type, description, value, weight, stackable, tradeable, stats)
 SELECT u.id, u.name, u.type, u.description, u.value, (u.grams / 1000.0)::real,
   u.stackable, u.tradeable, u.stats::jsonb
 FROM UNNEST($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[],
   $7::boolean[], $8::boolean[], $9::text[])
   AS u (id, name, type, description, value, grams, stackable, tradeable, stats)
 ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type,
   description = excluded.description, value = excluded.value, weight = excluded.weight,
   stackable = excluded.stackable, tradeable = excluded.tradeable, stats = excluded.stats
 WHERE (items.name, items.type, items.description, items.value, items.weight,
     items.stackable, items.tradeable, items.stats)
   IS DISTINCT FROM (excluded.name, excluded.type, excluded.description, excluded.value,
     excluded.weight, excluded.stackable, excluded.tradeable, excluded.stats)";

/// Removes the items that the page leaves out.
const GONE: &str = r#"DELETE FROM items
 WHERE id COLLATE "C" > $1 AND ($2 OR id COLLATE "C" <= $3) AND id <> ALL ($4::text[])"#;

#[async_trait]
impl Items for Postgres {
    async fn mirror_items(&self, page: ItemPage) -> Result<u64> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        runs::alive(&transaction, page.run).await?;
        // Two runs that begin at once write one after the other.
        transaction
            .execute("LOCK TABLE items IN SHARE ROW EXCLUSIVE MODE", &[])
            .await?;
        let of = |text: fn(&ItemRow) -> &str| page.items.iter().map(text).collect::<Vec<&str>>();
        let numbers = |n: fn(&ItemRow) -> i32| page.items.iter().map(n).collect::<Vec<i32>>();
        let flags = |is: fn(&ItemRow) -> bool| page.items.iter().map(is).collect::<Vec<bool>>();
        let ids = of(|item| &item.id);
        let values: Values<'_> = &[
            &ids,
            &of(|item| &item.name),
            &of(|item| &item.sort),
            &of(|item| &item.description),
            &numbers(|item| item.value),
            &numbers(|item| item.weight_grams),
            &flags(|item| item.stackable),
            &flags(|item| item.tradeable),
            &of(|item| &item.stats),
        ];
        let put = transaction.prepare_cached(PUT).await?;
        let mut changed = transaction.execute(&put, values).await?;
        let gone = transaction.prepare_cached(GONE).await?;
        let values: Values<'_> = &[&page.after, &page.last, &page.end(), &ids];
        changed += transaction.execute(&gone, values).await?;
        transaction.commit().await?;
        Ok(changed)
    }
}
