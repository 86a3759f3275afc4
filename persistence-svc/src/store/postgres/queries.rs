//! Reads for lists and dashboards, and changes of characters at rest, in PostgreSQL.

use deadpool_postgres::GenericClient;
use proto::client::names::skeleton;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tonic::async_trait;

use super::directory::moment;
use super::{Postgres, Values, character, record, stored};
use crate::store::columns::{RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::model::{Account, Character};
use crate::store::queries::{
    BESIDE, Change, Entry, KILLS, LedgerOf, Login, LoginsOf, PLAYED, Part, Profile, TOTALS, Totals,
    USERS, USERS_TOTAL, User, UsersLike, ledger, logins,
};
use crate::store::{Changes, Queries, name_key, no_skeleton, roles};

type Read<T> = std::result::Result<T, tokio_postgres::Error>;

#[async_trait]
impl Queries for Postgres {
    async fn profile(&self, id: &str) -> Result<Profile> {
        let mut client = self.reader().await?;
        let moment = moment(&mut client).await?;
        let query = format!("SELECT {} FROM characters c WHERE c.id = $1", *RECORD);
        let statement = moment.prepare_cached(&query).await?;
        let row = moment.query_opt(&statement, &[&id]).await?;
        let mut record = record(&row.ok_or(StoreError::NotFound("character"))?)?;
        stored::fill(&moment, std::slice::from_mut(&mut record)).await?;
        let beside = moment.query_one(BESIDE, &[&id]).await?;
        let killed = moment.query(KILLS, &[&id]).await?;
        let now = moment.query_one("SELECT tilestead_now_ms()", &[]).await?;
        let now: i64 = now.try_get(0)?;
        let played = moment.query_one(PLAYED, &[&now, &id]).await?;
        moment.commit().await?;
        Ok(Profile {
            record,
            created_at_ms: beside.try_get(0)?,
            last_login_ms: beside.try_get(1)?,
            online: beside.try_get(2)?,
            quarantined: beside.try_get(3)?,
            agent: beside.try_get(4)?,
            kills: rows(&killed, |row| Ok((row.try_get(0)?, row.try_get(1)?)))?,
            logins: played.try_get(0)?,
            played_ms: played.try_get(1)?,
        })
    }

    async fn logins(&self, of: LoginsOf) -> Result<Part<Login>> {
        let (
            LoginsOf {
                character, open, ..
            },
            page,
        ) = (&of, of.page);
        let values: Values<'_> = &[character, open, &page.limit, &page.offset];
        let listing = logins(&of);
        let total = (listing.total.as_str(), &values[..2]);
        self.part((listing.list.as_str(), values), total, |row| {
            Ok(Login {
                character_id: row.try_get(0)?,
                name: row.try_get(1)?,
                account_id: row.try_get(2)?,
                gateway_id: row.try_get(3)?,
                login_ms: row.try_get(4)?,
                logout_ms: row.try_get(5)?,
                reason: row.try_get(6)?,
            })
        })
        .await
    }

    async fn users(&self, like: UsersLike) -> Result<Part<User>> {
        let (name, roles_like) = like.patterns();
        let (id, page) = (&like.search, like.page);
        let values: Values<'_> = &[&name, id, &roles_like, &page.limit, &page.offset];
        let total = (USERS_TOTAL, &values[..3]);
        self.part((USERS, values), total, |row| {
            Ok(User {
                account: Account {
                    id: row.try_get(0)?,
                    name: row.try_get(1)?,
                    anonymous: row.try_get(2)?,
                    roles: roles(row.try_get(3)?),
                    created_at_ms: row.try_get(4)?,
                },
                characters: row.try_get(5)?,
            })
        })
        .await
    }

    async fn totals(&self) -> Result<Totals> {
        let client = self.reader().await?;
        let now: i64 = client
            .query_one("SELECT tilestead_now_ms()", &[])
            .await?
            .try_get(0)?;
        let row = client.query_one(TOTALS, &[&now]).await?;
        Ok(Totals {
            users: row.try_get(0)?,
            characters: row.try_get(1)?,
            online: row.try_get(2)?,
            quarantined: row.try_get(3)?,
            frozen: row.try_get(4)?,
            banned: row.try_get(5)?,
        })
    }

    async fn ledger(&self, of: LedgerOf) -> Result<Part<Entry>> {
        let page = of.page;
        let values: Values<'_> = &[&of.character, &of.item, &page.limit, &page.offset];
        let listing = ledger(&of);
        let total = (listing.total.as_str(), &values[..2]);
        self.part((listing.list.as_str(), values), total, |row| {
            Ok(Entry {
                run: row.try_get(0)?,
                sequence: row.try_get(1)?,
                row: row.try_get(2)?,
                character_id: row.try_get(3)?,
                item: row.try_get(4)?,
                cause: row.try_get(5)?,
                delta: row.try_get(6)?,
                at_ms: row.try_get(7)?,
            })
        })
        .await
    }
}

impl Postgres {
    /// Returns a part of a list and the length of the list, at one moment.
    async fn part<T>(
        &self,
        (list, of): (&str, Values<'_>),
        (count, counted): (&str, Values<'_>),
        read: impl Fn(&Row) -> Read<T>,
    ) -> Result<Part<T>> {
        let mut client = self.reader().await?;
        let moment = moment(&mut client).await?;
        let statement = moment.prepare_cached(list).await?;
        let found = moment.query(&statement, of).await?;
        let statement = moment.prepare_cached(count).await?;
        let total = moment.query_one(&statement, counted).await?.try_get(0)?;
        moment.commit().await?;
        Ok(Part {
            rows: rows(&found, read)?,
            total,
        })
    }
}

fn rows<T>(found: &[Row], read: impl Fn(&Row) -> Read<T>) -> Read<Vec<T>> {
    found.iter().map(read).collect()
}

#[async_trait]
impl Changes for Postgres {
    async fn change_character(&self, change: Change) -> Result<Character> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let find = r#"SELECT online, quarantined FROM characters
                      WHERE id = $1 AND "accountId" = $2 FOR UPDATE"#;
        let found = transaction
            .query_opt(find, &[&change.character, &change.account])
            .await?;
        let found = found.ok_or(StoreError::NotFound("character"))?;
        if found.try_get(0)? {
            return Err(StoreError::InWorld);
        }
        if found.try_get(1)? {
            return Err(StoreError::Quarantined);
        }
        let update = format!(
            r#"UPDATE characters c SET name = coalesce($2, c.name),
                 "nameKey" = coalesce($3, c."nameKey"),
                 "nameSkeleton" = coalesce($4, c."nameSkeleton"),
                 "isAgent" = coalesce($5, c."isAgent") WHERE c.id = $1 RETURNING {SUMMARY}"#
        );
        let key = change.name.as_deref().map(name_key);
        let drawn = change.name.as_deref().map(skeleton);
        let agent = change.agent.map(i32::from);
        let values: Values<'_> = &[&change.character, &change.name, &key, &drawn, &agent];
        let row = match transaction.query_one(&update, values).await {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(StoreError::NameTaken);
            }
            row => row?,
        };
        let changed = character(&row)?;
        transaction.commit().await?;
        Ok(changed)
    }

    async fn keep_skeletons(&self, most: i64) -> Result<u64> {
        let client = self.client().await?;
        let find = r#"SELECT id, name FROM characters
                      WHERE "nameSkeleton" IS NULL ORDER BY id LIMIT $1"#;
        let put = client
            .prepare_cached(
                r#"UPDATE characters c SET "nameSkeleton" =
                     CASE WHEN EXISTS (SELECT 1 FROM characters o WHERE o."nameSkeleton" = $2)
                       THEN $3 ELSE $2 END
                   WHERE c.id = $1 AND c."nameSkeleton" IS NULL"#,
            )
            .await?;
        let mut kept = 0;
        for row in client.query(find, &[&most]).await? {
            let (id, name): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let values: Values<'_> = &[&id, &skeleton(&name), &no_skeleton(&id)];
            match client.execute(&put, values).await {
                // Somebody took a similar name just now: the next round looks at this one again.
                Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => kept += 1,
                changed => kept += changed?,
            }
        }
        Ok(kept)
    }
}
