//! Reads for lists and dashboards, and changes of characters at rest, in PostgreSQL.

use super::session::GenericClient;
use proto::client::names::skeleton;
use tokio_postgres::error::SqlState;
use tonic::async_trait;

use super::directory::moment;
use super::{Postgres, Values, all, stored};
use crate::store::columns::{RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::model::{Character, Record};
use crate::store::queries::{
    BESIDE, Change, Entry, KILLS, LedgerOf, Listing, Login, LoginsOf, PLAYED, Page, Part, Profile,
    TOTALS, Totals, USERS, USERS_TOTAL, User, UsersLike, ledger, logins,
};
use crate::store::row::FromRow;
use crate::store::{Changes, Queries, name_key, no_skeleton};

#[async_trait]
impl Queries for Postgres {
    async fn profile(&self, id: &str) -> Result<Profile> {
        let mut client = self.reader().await?;
        let moment = moment(&mut client).await?;
        let query = format!("SELECT {} FROM characters c WHERE c.id = $1", *RECORD);
        let statement = moment.prepare_cached(&query).await?;
        let row = moment.query_opt(&statement, &[&id]).await?;
        let mut record = Record::from_row(&row.ok_or(StoreError::NotFound("character"))?)?;
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
            kills: all(&killed)?,
            logins: played.try_get(0)?,
            played_ms: played.try_get(1)?,
        })
    }

    async fn logins(&self, of: LoginsOf) -> Result<Part<Login>> {
        let filters: Values<'_> = &[&of.character, &of.open];
        let Listing { list, total } = logins(&of);
        self.part(list, total, filters, of.page).await
    }

    async fn users(&self, like: UsersLike) -> Result<Part<User>> {
        let (name, roles_like) = like.patterns();
        let filters: Values<'_> = &[&name, &like.search, &roles_like];
        self.part(USERS, USERS_TOTAL, filters, like.page).await
    }

    async fn totals(&self) -> Result<Totals> {
        let client = self.reader().await?;
        let now: i64 = client
            .query_one("SELECT tilestead_now_ms()", &[])
            .await?
            .try_get(0)?;
        let row = client.query_one(TOTALS, &[&now]).await?;
        Ok(Totals::from_row(&row)?)
    }

    async fn ledger(&self, of: LedgerOf) -> Result<Part<Entry>> {
        let filters: Values<'_> = &[&of.character, &of.item];
        let Listing { list, total } = ledger(&of);
        self.part(list, total, filters, of.page).await
    }
}

impl Postgres {
    /// Returns a page of a list and the length of the list, at one moment. Both queries take
    /// `filters`; that of the list takes the limit and the offset of the page after them.
    async fn part<T: FromRow>(
        &self,
        list: &str,
        count: &str,
        filters: Values<'_>,
        page: Page,
    ) -> Result<Part<T>> {
        let mut client = self.reader().await?;
        let moment = moment(&mut client).await?;
        let statement = moment.prepare_cached(list).await?;
        let values = [filters, &[&page.limit, &page.offset]].concat();
        let found = moment.query(&statement, &values).await?;
        let statement = moment.prepare_cached(count).await?;
        let total = moment.query_one(&statement, filters).await?.try_get(0)?;
        moment.commit().await?;
        Ok(Part {
            rows: all(&found)?,
            total,
        })
    }
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
                 "isAgent" = coalesce($5, c."isAgent"),
                 look = coalesce($6, c.look) WHERE c.id = $1 RETURNING {SUMMARY}"#
        );
        let key = change.name.as_deref().map(name_key);
        let drawn = change.name.as_deref().map(skeleton);
        let agent = change.agent.map(i32::from);
        let values: Values<'_> = &[
            &change.character,
            &change.name,
            &key,
            &drawn,
            &agent,
            &change.look,
        ];
        let row = match transaction.query_one(&update, values).await {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(StoreError::NameTaken);
            }
            row => row?,
        };
        let changed = Character::from_row(&row)?;
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
