//! Accounts and their characters in SQLite.

use proto::client::names::skeleton;
use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::{Sqlite, Transaction, all, each, is_duplicate, read, stored, value};
use crate::store::columns::SUMMARY;
use crate::store::error::{Result, StoreError};
use crate::store::model::{Account, Character, NOBODY, NewCharacter, SignIn, SignedIn};
use crate::store::personal::NOBODYS;
use crate::store::value::WrittenOff;
use crate::store::{Accounts, DAY_MS, anonymous_name, fresh_secret, may_create, name_key};
use crate::together::Answers;

/// Notes that a device key signed in: $1 now, $2 key's hash, $3 a day before.
const SEEN: &str = r#"UPDATE users SET "seenAt" = $1
 WHERE "deviceKeyHash" = $2 AND anonymous AND "seenAt" < $3"#;

#[async_trait]
impl Accounts for Sqlite {
    async fn sign_in(&self, asks: Vec<SignIn>) -> Answers<Option<SignedIn>> {
        self.write(move |transaction| each(transaction, asks, sign_in))
            .await
    }

    async fn accounts(&self, ids: Vec<String>) -> Answers<Option<SignedIn>> {
        self.read(move |transaction| {
            let account = |id: &String| signed_in(transaction, "id = ?1", params![id], false);
            Ok(ids.iter().map(account).collect())
        })
        .await
    }

    async fn characters(&self, account: &str) -> Result<Vec<Character>> {
        let account = account.to_owned();
        self.read(move |transaction| characters(transaction, &account))
            .await
    }

    async fn create_characters(&self, asks: Vec<NewCharacter>) -> Answers<Character> {
        self.write(move |transaction| each(transaction, asks, create))
            .await
    }

    async fn delete_character(&self, account: &str, id: &str) -> Result<WrittenOff> {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.write(move |transaction| delete(transaction, &account, &id))
            .await
    }

    async fn find_character(&self, name: &str) -> Result<Character> {
        let (key, drawn) = (name_key(name), skeleton(name));
        self.read(move |transaction| {
            transaction
                .prepare_cached(&format!(
                    r#"SELECT {SUMMARY} FROM characters c
                       WHERE c."nameKey" = ?1 OR c."nameSkeleton" = ?2
                       ORDER BY c."nameKey" = ?1 DESC LIMIT 1"#
                ))?
                .query_row([key, drawn], read)
                .optional()?
                .ok_or(StoreError::NotFound("character"))
        })
        .await
    }

    async fn secret(&self, name: &str) -> Result<Vec<u8>> {
        let name = name.to_owned();
        self.write(move |transaction| {
            transaction.execute(
                r#"INSERT INTO secrets (name, value, "createdAt") VALUES (?1, ?2, ?3)
                   ON CONFLICT (name) DO NOTHING"#,
                params![name, fresh_secret(), transaction.now_ms()],
            )?;
            let value = transaction.query_row(
                "SELECT value FROM secrets WHERE name = ?1",
                [name],
                |row| row.get(0),
            )?;
            Ok(value)
        })
        .await
    }
}

fn sign_in(transaction: &Transaction<'_>, ask: SignIn) -> Result<Option<SignedIn>> {
    let mut created = false;
    if ask.create {
        let mut insert = transaction.prepare_cached(
            r#"INSERT INTO users (id, name, "deviceKeyHash", "createdAt", "seenAt", "lookAt")
               VALUES (?1, ?2, ?3, ?4, ?4, ?4 + ?5)
               ON CONFLICT ("deviceKeyHash") DO NOTHING"#,
        )?;
        let (id, now) = (transaction.new_id(), transaction.now_ms());
        let made = insert.execute(params![id, anonymous_name(), ask.key, now, DAY_MS])?;
        created = made == 1;
    }
    if !created {
        let now = transaction.now_ms();
        transaction
            .prepare_cached(SEEN)?
            .execute(params![now, ask.key, now - DAY_MS])?;
    }
    // The key of an account that a subject has claimed signs nobody in.
    let condition = r#""deviceKeyHash" = ?1 AND "privyUserId" IS NULL"#;
    signed_in(transaction, condition, params![ask.key], created)
}

pub(super) fn signed_in(
    transaction: &Transaction<'_>,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
    created: bool,
) -> Result<Option<SignedIn>> {
    let account = transaction
        .prepare_cached(&format!(
            r#"SELECT id, name, anonymous, roles, "createdAt" FROM users WHERE {condition}"#
        ))?
        .query_row(values, read::<Account>)
        .optional()?;
    let Some(account) = account else {
        return Ok(None);
    };
    let characters = characters(transaction, &account.id)?;
    Ok(Some(SignedIn {
        account,
        characters,
        created,
    }))
}

fn characters(transaction: &Transaction<'_>, account: &str) -> Result<Vec<Character>> {
    let query = format!(
        r#"SELECT {SUMMARY} FROM characters c WHERE c."accountId" = ?1
           ORDER BY c."createdAt", c.id"#
    );
    all(transaction, &query, [account])
}

fn create(transaction: &Transaction<'_>, ask: NewCharacter) -> Result<Character> {
    let today = transaction.now_ms() / DAY_MS;
    let made_today: Option<i32> = transaction
        .prepare_cached(
            r#"SELECT CASE WHEN "madeDay" = ?2 THEN made ELSE 0 END FROM users WHERE id = ?1"#,
        )?
        .query_row(params![ask.account_id, today], |row| row.get(0))
        .optional()?;
    let made_today = made_today.ok_or(StoreError::NotFound("account"))?;
    let has: i64 = transaction
        .prepare_cached(r#"SELECT count(*) FROM characters WHERE "accountId" = ?1"#)?
        .query_row([&ask.account_id], |row| row.get(0))?;
    may_create(has, made_today)?;
    transaction
        .prepare_cached(r#"UPDATE users SET "madeDay" = ?2, made = ?3 WHERE id = ?1"#)?
        .execute(params![ask.account_id, today, made_today + 1])?;
    let id = transaction.new_id();
    let mut insert = transaction.prepare_cached(
        r#"INSERT INTO characters
             (id, "accountId", name, "nameKey", "nameSkeleton", "createdAt", "regionX", "regionZ",
              look)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"#,
    )?;
    let made = insert.execute(params![
        id,
        ask.account_id,
        ask.name,
        name_key(&ask.name),
        skeleton(&ask.name),
        transaction.now_ms(),
        ask.at.x,
        ask.at.z,
        ask.look
    ]);
    match made {
        Err(error) if is_duplicate(&error) => return Err(StoreError::NameTaken),
        made => made?,
    };
    let made = transaction
        .prepare_cached(&format!(
            "SELECT {SUMMARY} FROM characters c WHERE c.id = ?1"
        ))?
        .query_row([id], read)?;
    Ok(made)
}

fn delete(transaction: &Transaction<'_>, account: &str, id: &str) -> Result<WrittenOff> {
    let found: Option<(bool, bool, i32)> = transaction
        .prepare_cached(
            r#"SELECT online, quarantined, coins FROM characters
               WHERE id = ?1 AND "accountId" = ?2"#,
        )?
        .query_row(params![id, account], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let coins = match found {
        None => return Err(StoreError::NotFound("character")),
        Some((true, ..)) => return Err(StoreError::InWorld),
        Some((_, true, _)) => return Err(StoreError::Quarantined),
        Some((.., coins)) => coins,
    };
    remove(transaction, &[(id.to_owned(), coins)])
}

/// Removes characters, each given with its coins. The ledger writes off all that they have, which this
/// returns; the things on the ground that wait for them are nobody's.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    characters: &[(String, i32)],
) -> Result<WrittenOff> {
    let mut ledger = Vec::new();
    for (id, coins) in characters {
        ledger.extend(stored::holdings(transaction, id, *coins)?.written_off(id));
    }
    if !ledger.is_empty() {
        let number = transaction.query_row(
            "UPDATE operations SET last = last + 1 RETURNING last",
            [],
            |row| row.get(0),
        )?;
        value::write_ledger(transaction, NOBODY, number, &ledger, transaction.now_ms())?;
    }
    let mut ground = transaction.prepare_cached(
        "UPDATE ground_items SET owner_id = ?2 WHERE owner_id <> '' AND owner_id = ?1",
    )?;
    let mut gone = transaction.prepare_cached("DELETE FROM characters WHERE id = ?1")?;
    for (id, _) in characters {
        ground.execute(params![id, NOBODYS])?;
        gone.execute([id])?;
    }
    Ok(WrittenOff::of(&ledger))
}
