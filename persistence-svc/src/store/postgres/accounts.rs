//! Accounts and their characters in PostgreSQL.

use super::session::{Client, GenericClient, Transaction};
use proto::client::names::skeleton;
use tokio_postgres::error::SqlState;
use tonic::async_trait;

use super::{Postgres, Values, all, personal, stored, value};
use crate::store::columns::SUMMARY;
use crate::store::error::{Result, StoreError};
use crate::store::model::{Account, Character, NOBODY, Region, SignedIn};
use crate::store::personal::NOBODYS;
use crate::store::row::FromRow;
use crate::store::value::Holdings;
use crate::store::{
    Accounts, CHARACTERS_A_DAY_MAX, CHARACTERS_MAX, DAY_MS, anonymous_name, fresh_secret, name_key,
    new_id,
};

#[async_trait]
impl Accounts for Postgres {
    async fn sign_in(&self, key: [u8; 32], create: bool) -> Result<Option<SignedIn>> {
        let client = self.client().await?;
        let key = &key[..];
        let mut created = false;
        if create {
            let statement = client
                .prepare_cached(
                    r#"INSERT INTO users (id, name, "deviceKeyHash", "createdAt", "seenAt", "lookAt")
                       VALUES ($1, $2, $3, tilestead_now_ms(), tilestead_now_ms(),
                         tilestead_now_ms() + $4)
                       ON CONFLICT ("deviceKeyHash") DO NOTHING"#,
                )
                .await?;
            let values: Values<'_> = &[&new_id(), &anonymous_name(), &key, &DAY_MS];
            created = client.execute(&statement, values).await? == 1;
        }
        if !created {
            personal::seen(&client, key).await?;
        }
        // The key of a claimed account signs nobody in: that account is no longer anonymous.
        let by = r#""deviceKeyHash" = $1 AND anonymous"#;
        signed_in(&client, by, &[&key], created).await
    }

    async fn account(&self, id: &str) -> Result<Option<SignedIn>> {
        let client = self.client().await?;
        signed_in(&client, "id = $1", &[&id], false).await
    }

    async fn characters(&self, account: &str) -> Result<Vec<Character>> {
        characters(&self.client().await?, account).await
    }

    async fn create_character(&self, account: &str, name: &str, at: Region) -> Result<Character> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        // The lock on the account's row: one transaction at a time counts its characters.
        let lock = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
        if transaction.query_opt(lock, &[&account]).await?.is_none() {
            return Err(StoreError::NotFound("account"));
        }
        let count = r#"SELECT count(*) FROM characters WHERE "accountId" = $1"#;
        let has: i64 = transaction
            .query_one(count, &[&account])
            .await?
            .try_get(0)?;
        if has >= CHARACTERS_MAX {
            return Err(StoreError::Full(has));
        }
        let count = r#"UPDATE users SET "madeDay" = tilestead_now_ms() / $2,
              made = CASE WHEN "madeDay" = tilestead_now_ms() / $2 THEN made ELSE 0 END + 1
            WHERE id = $1 RETURNING made"#;
        let row = transaction.query_one(count, &[&account, &DAY_MS]).await?;
        if row.try_get::<_, i32>(0)? > CHARACTERS_A_DAY_MAX {
            return Err(StoreError::MadeToday(CHARACTERS_A_DAY_MAX));
        }
        let statement = transaction
            .prepare_cached(&format!(
                r#"INSERT INTO characters AS c
                     (id, "accountId", name, "nameKey", "nameSkeleton", "createdAt",
                      "regionX", "regionZ")
                   VALUES ($1, $2, $3, $4, $5, tilestead_now_ms(), $6, $7) RETURNING {SUMMARY}"#
            ))
            .await?;
        let (key, drawn) = (name_key(name), skeleton(name));
        let values: Values<'_> = &[&new_id(), &account, &name, &key, &drawn, &at.x, &at.z];
        let row = match transaction.query_one(&statement, values).await {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(StoreError::NameTaken);
            }
            row => row?,
        };
        let made = Character::from_row(&row)?;
        transaction.commit().await?;
        Ok(made)
    }

    async fn delete_character(&self, account: &str, id: &str) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        hold_ground(&transaction, &[id]).await?;
        let find = r#"SELECT online, quarantined, coins FROM characters
                      WHERE id = $1 AND "accountId" = $2 FOR UPDATE"#;
        let found = transaction.query_opt(find, &[&id, &account]).await?;
        let found = found.ok_or(StoreError::NotFound("character"))?;
        if found.try_get(0)? {
            return Err(StoreError::InWorld);
        }
        if found.try_get(1)? {
            return Err(StoreError::Quarantined);
        }
        remove(&transaction, &[(id, found.try_get(2)?)]).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn find_character(&self, name: &str) -> Result<Character> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(&format!(
                r#"SELECT {SUMMARY} FROM characters c
                   WHERE c."nameKey" = $1 OR c."nameSkeleton" = $2
                   ORDER BY c."nameKey" = $1 DESC LIMIT 1"#
            ))
            .await?;
        let values: Values<'_> = &[&name_key(name), &skeleton(name)];
        let row = client.query_opt(&statement, values).await?;
        let row = row.ok_or(StoreError::NotFound("character"))?;
        Ok(Character::from_row(&row)?)
    }

    async fn secret(&self, name: &str) -> Result<Vec<u8>> {
        let client = self.client().await?;
        client
            .execute(
                r#"INSERT INTO secrets (name, value, "createdAt")
                   VALUES ($1, $2, tilestead_now_ms()) ON CONFLICT (name) DO NOTHING"#,
                &[&name, &fresh_secret()],
            )
            .await?;
        let query = "SELECT value FROM secrets WHERE name = $1";
        Ok(client.query_one(query, &[&name]).await?.try_get(0)?)
    }
}

/// Locks the regions in which things wait for these characters. A caller that goes on to
/// [`remove`] locks the characters after that: the order of all transactions.
pub(super) async fn hold_ground(transaction: &Transaction<'_>, ids: &[&str]) -> Result<()> {
    let lock = "SELECT 1 FROM regions WHERE (region_x, region_z) IN
                  (SELECT region_x, region_z FROM ground_items
                   WHERE owner_id <> '' AND owner_id = ANY($1))
                ORDER BY region_x, region_z FOR NO KEY UPDATE";
    let lock = transaction.prepare_cached(lock).await?;
    transaction.query(&lock, &[&ids]).await?;
    Ok(())
}

/// Removes characters that the caller has locked, each given with its coins. The ledger writes off
/// all that they have; the things on the ground that wait for them are nobody's.
pub(super) async fn remove(
    transaction: &Transaction<'_>,
    characters: &[(&str, i32)],
) -> Result<()> {
    let ids: Vec<&str> = characters.iter().map(|(id, _)| *id).collect();
    let mut packs = value::packs(transaction, &ids).await?;
    let mut clothes = stored::worn(transaction, &ids).await?;
    let mut stakes = stored::stakes(transaction, &ids).await?;
    let mut banks = stored::banks(transaction, &ids).await?;
    let mut ledger = Vec::new();
    for (id, coins) in characters {
        let holdings = Holdings {
            coins: *coins,
            pack: packs.remove(*id).unwrap_or_default(),
            worn: clothes.remove(*id).unwrap_or_default(),
            stakes: stakes.remove(*id).unwrap_or_default(),
            bank: banks.remove(*id).unwrap_or_default(),
        };
        ledger.extend(holdings.written_off(id));
    }
    if !ledger.is_empty() {
        let number = "UPDATE operations SET last = last + 1 RETURNING last";
        let number: i64 = transaction.query_one(number, &[]).await?.try_get(0)?;
        value::write_ledger(transaction, NOBODY, number, &ledger).await?;
    }
    let ground = "UPDATE ground_items SET owner_id = $2
                  WHERE owner_id <> '' AND owner_id = ANY($1)";
    let ground = transaction.prepare_cached(ground).await?;
    transaction.execute(&ground, &[&ids, &NOBODYS]).await?;
    let gone = "DELETE FROM characters WHERE id = ANY($1)";
    let gone = transaction.prepare_cached(gone).await?;
    transaction.execute(&gone, &[&ids]).await?;
    Ok(())
}

pub(super) async fn signed_in(
    client: &Client,
    condition: &str,
    values: Values<'_>,
    created: bool,
) -> Result<Option<SignedIn>> {
    let statement = client
        .prepare_cached(&format!(
            r#"SELECT id, name, anonymous, roles, "createdAt" FROM users WHERE {condition}"#
        ))
        .await?;
    let Some(row) = client.query_opt(&statement, values).await? else {
        return Ok(None);
    };
    let account = Account::from_row(&row)?;
    let characters = characters(client, &account.id).await?;
    Ok(Some(SignedIn {
        account,
        characters,
        created,
    }))
}

async fn characters(client: &Client, account: &str) -> Result<Vec<Character>> {
    let statement = client
        .prepare_cached(&format!(
            r#"SELECT {SUMMARY} FROM characters c WHERE c."accountId" = $1
               ORDER BY c."createdAt", c.id"#
        ))
        .await?;
    let rows = client.query(&statement, &[&account]).await?;
    all(&rows)
}
