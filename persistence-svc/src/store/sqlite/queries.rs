//! Reads for lists and dashboards, and changes of characters at rest, in SQLite.

use proto::client::names::skeleton;
use rusqlite::{OptionalExtension, Params, params};
use tonic::async_trait;

use super::{Sqlite, Transaction, all, is_duplicate, read, stored};
use crate::store::columns::{RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::model::{Character, Record};
use crate::store::queries::{
    BESIDE, Change, Entry, KILLS, LedgerOf, Login, LoginsOf, PLAYED, Part, Profile, TOTALS, Totals,
    USERS, USERS_TOTAL, User, UsersLike, ledger, logins,
};
use crate::store::{Changes, Queries, name_key, no_skeleton};

#[async_trait]
impl Queries for Sqlite {
    async fn profile(&self, id: &str) -> Result<Profile> {
        let id = id.to_owned();
        self.read(move |transaction| profile(transaction, &id))
            .await
    }

    async fn logins(&self, of: LoginsOf) -> Result<Part<Login>> {
        self.read(move |transaction| {
            let (who, open, page) = (&of.character, of.open, of.page);
            let values = params![who, open, page.limit, page.offset];
            let listing = logins(&of);
            let rows = all(transaction, &listing.list, values)?;
            let total = count(transaction, &listing.total, params![who, open])?;
            Ok(Part { rows, total })
        })
        .await
    }

    async fn users(&self, like: UsersLike) -> Result<Part<User>> {
        self.read(move |transaction| {
            let ((name, roles_like), id, page) = (like.patterns(), &like.search, like.page);
            let values = params![name, id, roles_like, page.limit, page.offset];
            let rows = all(transaction, USERS, values)?;
            let total = count(transaction, USERS_TOTAL, params![name, id, roles_like])?;
            Ok(Part { rows, total })
        })
        .await
    }

    async fn totals(&self) -> Result<Totals> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(TOTALS)?;
            Ok(statement.query_row([transaction.now_ms()], read)?)
        })
        .await
    }

    async fn ledger(&self, of: LedgerOf) -> Result<Part<Entry>> {
        self.read(move |transaction| {
            let page = of.page;
            let values = params![of.character, of.item, page.limit, page.offset];
            let listing = ledger(&of);
            let rows = all(transaction, &listing.list, values)?;
            let total = count(transaction, &listing.total, params![of.character, of.item])?;
            Ok(Part { rows, total })
        })
        .await
    }
}

fn count(transaction: &Transaction<'_>, query: &str, values: impl Params) -> Result<i64> {
    let mut statement = transaction.prepare_cached(query)?;
    Ok(statement.query_row(values, |row| row.get(0))?)
}

fn profile(transaction: &Transaction<'_>, id: &str) -> Result<Profile> {
    let query = format!("SELECT {} FROM characters c WHERE c.id = ?1", *RECORD);
    let found = transaction
        .prepare_cached(&query)?
        .query_row([id], read::<Record>);
    let mut record = found.optional()?.ok_or(StoreError::NotFound("character"))?;
    stored::fill(transaction, &mut record)?;
    let kills = all(transaction, KILLS, [id])?;
    let (logins, played_ms) = transaction
        .prepare_cached(PLAYED)?
        .query_row(params![transaction.now_ms(), id], read)?;
    Ok(transaction.prepare_cached(BESIDE)?.query_row([id], |row| {
        Ok(Profile {
            record,
            created_at_ms: row.get(0)?,
            last_login_ms: row.get(1)?,
            online: row.get(2)?,
            quarantined: row.get(3)?,
            agent: row.get(4)?,
            kills,
            logins,
            played_ms,
        })
    })?)
}

#[async_trait]
impl Changes for Sqlite {
    async fn change_character(&self, change: Change) -> Result<Character> {
        self.write(move |transaction| {
            let find = r#"SELECT online, quarantined FROM characters
                          WHERE id = ?1 AND "accountId" = ?2"#;
            let found: Option<(bool, bool)> = transaction
                .query_row(find, params![change.character, change.account], read)
                .optional()?;
            match found.ok_or(StoreError::NotFound("character"))? {
                (true, _) => return Err(StoreError::InWorld),
                (_, true) => return Err(StoreError::Quarantined),
                _ => {}
            }
            let key = change.name.as_deref().map(name_key);
            let agent = change.agent.map(i32::from);
            let update = r#"UPDATE characters SET name = coalesce(?2, name),
                 "nameKey" = coalesce(?3, "nameKey"),
                 "nameSkeleton" = coalesce(?4, "nameSkeleton"),
                 "isAgent" = coalesce(?5, "isAgent"),
                 look = coalesce(?6, look) WHERE id = ?1"#;
            let drawn = change.name.as_deref().map(skeleton);
            let values = params![
                change.character,
                change.name,
                key,
                drawn,
                agent,
                change.look
            ];
            transaction.execute(update, values).map_err(|error| {
                if is_duplicate(&error) {
                    StoreError::NameTaken
                } else {
                    error.into()
                }
            })?;
            let query = format!("SELECT {SUMMARY} FROM characters c WHERE c.id = ?1");
            Ok(transaction.query_row(&query, [&change.character], read)?)
        })
        .await
    }

    async fn keep_skeletons(&self, most: i64) -> Result<u64> {
        self.write(move |transaction| {
            let find = r#"SELECT id, name FROM characters
                          WHERE "nameSkeleton" IS NULL ORDER BY id LIMIT ?1"#;
            let found: Vec<(String, String)> = all(transaction, find, [most])?;
            let mut put = transaction.prepare_cached(
                r#"UPDATE characters SET "nameSkeleton" =
                     CASE WHEN EXISTS (SELECT 1 FROM characters o WHERE o."nameSkeleton" = ?2)
                       THEN ?3 ELSE ?2 END
                   WHERE id = ?1"#,
            )?;
            for (id, name) in &found {
                put.execute(params![id, skeleton(name), no_skeleton(id)])?;
            }
            Ok(found.len() as u64)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::store::Store;
    use crate::store::environment::Machine;
    use crate::store::queries::Page;

    /// Returns the query plan of a list.
    async fn plan(store: &Sqlite, list: &'static str) -> String {
        let read = store.read(move |transaction| {
            let mut statement = transaction.prepare(&format!("EXPLAIN QUERY PLAN {list}"))?;
            let rows = statement.query_map(params!["a", "b", 20, 0], |row| row.get::<_, String>(3));
            Ok(rows?.collect::<rusqlite::Result<Vec<_>>>()?.join("; "))
        });
        read.await.unwrap()
    }

    #[tokio::test]
    async fn lists_are_read_by_an_index_and_never_sorted() {
        let folder = std::env::temp_dir().join(format!("lists-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Sqlite::open(
            &folder,
            Duration::from_secs(5),
            Arc::new(Machine::default()),
        )
        .unwrap();
        store.migrate().await.unwrap();
        let page = Page {
            offset: 0,
            limit: 20,
        };
        let of = |character: &str, item: &str| LedgerOf {
            character: character.to_owned(),
            item: item.to_owned(),
            page,
        };
        let session = |character: &str, open| LoginsOf {
            character: character.to_owned(),
            open,
            page,
        };
        for (listing, index) in [
            (ledger(&of("", "")), "ledger_newest"),
            (ledger(&of("a", "")), "ledger_holder"),
            (ledger(&of("", "b")), "ledger_item"),
            (logins(&session("", false)), "playerSessions_newest"),
            (logins(&session("a", false)), "playerSessions_player"),
            (logins(&session("", true)), "playerSessions_current"),
        ] {
            let how = plan(&store, &listing.list).await;
            assert!(
                how.contains(index) && !how.contains("TEMP B-TREE"),
                "{index}: {how}"
            );
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
