//! Accounts and their characters in PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{Client, GenericClient, Transaction};
use proto::client::names::skeleton;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use tonic::async_trait;

use super::runs::columns;
use super::{Postgres, Values, all, personal, stored, value};
use crate::store::columns::SUMMARY;
use crate::store::error::{Result, StoreError};
use crate::store::model::{Account, Character, NOBODY, NewCharacter, SignIn, SignedIn};
use crate::store::personal::NOBODYS;
use crate::store::row::FromRow;
use crate::store::value::{Holdings, WrittenOff};
use crate::store::{Accounts, DAY_MS, anonymous_name, fresh_secret, may_create, name_key, new_id};
use crate::together::Answers;

#[async_trait]
impl Accounts for Postgres {
    async fn sign_in(&self, asks: Vec<SignIn>) -> Answers<Option<SignedIn>> {
        let client = self.client().await?;
        let (new, known): (Vec<&SignIn>, Vec<&SignIn>) = asks.iter().partition(|ask| ask.create);
        let made = make_accounts(&client, &keys(&new)).await?;
        let found_before = new.into_iter().filter(|ask| !made.contains(&ask.key[..]));
        let known: Vec<&SignIn> = known.into_iter().chain(found_before).collect();
        personal::seen(&client, &keys(&known)).await?;
        // The key of an account that a subject has claimed signs nobody in. PostgreSQL takes IS NULL for
        // rare in a table that it has not counted yet, and would look at all guests by that index.
        let condition = r#""deviceKeyHash" = ANY($1) AND coalesce("privyUserId", '') = ''"#;
        let all: Vec<&[u8]> = asks.iter().map(|ask| &ask.key[..]).collect();
        let mut found: BTreeMap<Vec<u8>, SignedIn> =
            signed_in_by(&client, r#""deviceKeyHash""#, condition, &[&all]).await?;
        let answer = |ask: &SignIn| {
            let mut found = found.remove(&ask.key[..])?;
            found.created = made.contains(&ask.key[..]);
            Some(found)
        };
        Ok(asks.iter().map(answer).map(Ok).collect())
    }

    async fn accounts(&self, ids: Vec<String>) -> Answers<Option<SignedIn>> {
        let client = self.client().await?;
        let mut found: BTreeMap<String, SignedIn> =
            signed_in_by(&client, "id", "id = ANY($1)", &[&ids]).await?;
        Ok(ids.iter().map(|id| Ok(found.remove(id))).collect())
    }

    async fn characters(&self, account: &str) -> Result<Vec<Character>> {
        characters(&self.client().await?, &[account]).await
    }

    async fn create_characters(&self, asks: Vec<NewCharacter>) -> Answers<Character> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let made = create(&transaction, &asks).await?;
        transaction.commit().await?;
        Ok(made)
    }

    async fn delete_character(&self, account: &str, id: &str) -> Result<WrittenOff> {
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
        let had = remove(&transaction, &[(id, found.try_get(2)?)]).await?;
        transaction.commit().await?;
        Ok(had)
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
/// all that they have, which this returns; the things on the ground that wait for them are nobody's.
pub(super) async fn remove(
    transaction: &Transaction<'_>,
    characters: &[(&str, i32)],
) -> Result<WrittenOff> {
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
    Ok(WrittenOff::of(&ledger))
}

fn keys<'a>(asks: &[&'a SignIn]) -> Vec<&'a [u8]> {
    asks.iter().map(|ask| &ask.key[..]).collect()
}

/// Makes an account for each of these keys that has none. Returns the keys of the new ones.
async fn make_accounts(client: &Client, keys: &[&[u8]]) -> Result<BTreeSet<Vec<u8>>> {
    if keys.is_empty() {
        return Ok(BTreeSet::new());
    }
    let ids: Vec<String> = keys.iter().map(|_| new_id()).collect();
    let names: Vec<String> = keys.iter().map(|_| anonymous_name()).collect();
    let statement = client
        .prepare_cached(
            r#"INSERT INTO users (id, name, "deviceKeyHash", "createdAt", "seenAt", "lookAt")
               SELECT id, name, key, tilestead_now_ms(), tilestead_now_ms(),
                 tilestead_now_ms() + $4
               FROM UNNEST($1::text[], $2::text[], $3::bytea[]) AS u (id, name, key) ORDER BY key
               ON CONFLICT ("deviceKeyHash") DO NOTHING RETURNING "deviceKeyHash""#,
        )
        .await?;
    let keys = keys.to_vec();
    let rows = client
        .query(&statement, &[&ids, &names, &keys, &DAY_MS])
        .await?;
    let made: std::result::Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
    Ok(made?)
}

/// Makes characters, at most one of each account.
async fn create(transaction: &Transaction<'_>, asks: &[NewCharacter]) -> Answers<Character> {
    let accounts: Vec<&str> = asks.iter().map(|ask| ask.account_id.as_str()).collect();
    // The lock on an account's row: one transaction at a time counts its characters.
    let lock = transaction
        .prepare_cached(
            r#"SELECT id, CASE WHEN "madeDay" = tilestead_now_ms() / $2 THEN made ELSE 0 END
               FROM users WHERE id = ANY($1) ORDER BY id FOR UPDATE"#,
        )
        .await?;
    let rows = transaction.query(&lock, &[&accounts, &DAY_MS]).await?;
    let made_today = pairs::<i32>(&rows)?;
    let count = transaction
        .prepare_cached(
            r#"SELECT "accountId", count(*) FROM characters WHERE "accountId" = ANY($1)
               GROUP BY "accountId""#,
        )
        .await?;
    let rows = transaction.query(&count, &[&accounts]).await?;
    let has = pairs::<i64>(&rows)?;
    let may = |ask: &NewCharacter| {
        let account = &ask.account_id;
        let today = made_today.get(account);
        let today = *today.ok_or(StoreError::NotFound("account"))?;
        may_create(has.get(account).copied().unwrap_or_default(), today)
    };
    let judged: Vec<Result<()>> = asks.iter().map(may).collect();
    let passed = asks
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| judged.is_ok());
    let passed: Vec<&NewCharacter> = passed.map(|(ask, _)| ask).collect();
    let mut made = insert(transaction, &passed).await?;
    let answer = |(ask, judged): (&NewCharacter, Result<()>)| {
        judged?;
        made.remove(&ask.account_id).ok_or(StoreError::NameTaken)
    };
    Ok(asks.iter().zip(judged).map(answer).collect())
}

/// Inserts characters and counts them for their accounts, but for those whose names are taken.
/// Returns the new ones by account.
async fn insert(
    transaction: &Transaction<'_>,
    asks: &[&NewCharacter],
) -> Result<BTreeMap<String, Character>> {
    if asks.is_empty() {
        return Ok(BTreeMap::new());
    }
    let each = |of: fn(&NewCharacter) -> String| -> Vec<String> {
        asks.iter().map(|ask| of(ask)).collect()
    };
    let ids = each(|_| new_id());
    let accounts = each(|ask| ask.account_id.clone());
    let names = each(|ask| ask.name.clone());
    let name_keys = each(|ask| name_key(&ask.name));
    let drawn = each(|ask| skeleton(&ask.name));
    let (xs, zs) = columns(asks.iter().map(|ask| &ask.at));
    let looks = each(|ask| ask.look.clone());
    let statement = transaction
        .prepare_cached(&format!(
            r#"INSERT INTO characters AS c
                 (id, "accountId", name, "nameKey", "nameSkeleton", "createdAt",
                  "regionX", "regionZ", look)
               SELECT id, account, name, key, drawn, tilestead_now_ms(), x, z, look
               FROM UNNEST($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                      $6::integer[], $7::integer[], $8::text[])
                 AS u (id, account, name, key, drawn, x, z, look) ORDER BY key
               ON CONFLICT DO NOTHING RETURNING {SUMMARY}"#
        ))
        .await?;
    let values: Values<'_> = &[
        &ids, &accounts, &names, &name_keys, &drawn, &xs, &zs, &looks,
    ];
    let made: Vec<Character> = all(&transaction.query(&statement, values).await?)?;
    let made: BTreeMap<String, Character> = made
        .into_iter()
        .map(|character| (character.account_id.clone(), character))
        .collect();
    let count = transaction
        .prepare_cached(
            r#"UPDATE users SET "madeDay" = tilestead_now_ms() / $2,
                 made = CASE WHEN "madeDay" = tilestead_now_ms() / $2 THEN made ELSE 0 END + 1
               WHERE id = ANY($1)"#,
        )
        .await?;
    let counted: Vec<&str> = made.keys().map(String::as_str).collect();
    transaction.execute(&count, &[&counted, &DAY_MS]).await?;
    Ok(made)
}

/// Reads rows of an id and a value.
fn pairs<T: for<'a> FromSql<'a>>(rows: &[Row]) -> Result<BTreeMap<String, T>> {
    let pair = |row: &Row| Ok((row.try_get(0)?, row.try_get(1)?));
    rows.iter().map(pair).collect()
}

/// Returns the account for which a condition holds.
pub(super) async fn signed_in(
    client: &Client,
    condition: &str,
    values: Values<'_>,
    created: bool,
) -> Result<Option<SignedIn>> {
    let found: BTreeMap<String, SignedIn> = signed_in_by(client, "id", condition, values).await?;
    let found = found.into_values().next();
    Ok(found.map(|found| SignedIn { created, ..found }))
}

/// Returns the accounts for which a condition holds, by the column `key`.
async fn signed_in_by<K: Ord + for<'a> FromSql<'a>>(
    client: &Client,
    key: &str,
    condition: &str,
    values: Values<'_>,
) -> Result<BTreeMap<K, SignedIn>> {
    let statement = client
        .prepare_cached(&format!(
            r#"SELECT id, name, anonymous, roles, "createdAt", {key} FROM users WHERE {condition}"#
        ))
        .await?;
    let rows = client.query(&statement, values).await?;
    let accounts: Vec<Account> = all(&rows)?;
    let ids: Vec<&str> = accounts.iter().map(|account| account.id.as_str()).collect();
    let mut of: BTreeMap<String, Vec<Character>> = BTreeMap::new();
    for character in characters(client, &ids).await? {
        of.entry(character.account_id.clone())
            .or_default()
            .push(character);
    }
    let mut found = BTreeMap::new();
    for (row, account) in rows.iter().zip(accounts) {
        let characters = of.remove(&account.id).unwrap_or_default();
        let signed_in = SignedIn {
            account,
            characters,
            created: false,
        };
        found.insert(row.try_get(5)?, signed_in);
    }
    Ok(found)
}

/// Returns the characters of accounts, oldest first.
async fn characters(client: &Client, accounts: &[&str]) -> Result<Vec<Character>> {
    if accounts.is_empty() {
        return Ok(Vec::new());
    }
    let statement = client
        .prepare_cached(&format!(
            r#"SELECT {SUMMARY} FROM characters c WHERE c."accountId" = ANY($1)
               ORDER BY c."createdAt", c.id"#
        ))
        .await?;
    let rows = client.query(&statement, &[&accounts]).await?;
    all(&rows)
}
