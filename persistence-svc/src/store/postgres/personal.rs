//! Personal data in PostgreSQL.
//!
//! Always: a deletion locks the version of the sanctions first, as every decision about accounts
//! does. So of two operators who go at once, the second one is the last.

use proto::rpc::OPERATOR_ROLE;
use tonic::async_trait;

use super::accounts::{hold_ground, remove};
use super::directory::{moment, notify};
use super::identity::{next_version, write};
use super::session::{Client, GenericClient, Transaction};
use super::{Postgres, Values, all};
use crate::store::error::{Result, StoreError};
use crate::store::identity::{OTHER_OPERATOR, SANCTION, Sanction};
use crate::store::personal::{
    DEATHS, Data, Deletion, Expired, Fate, GONE, Guest, LEDGER, LOOK, LedgerOf, NO_ACTOR, NO_NAME,
    NO_RECORD, NO_SANCTIONS, NO_TOKENS, OWNS, PERSON, Person, RECORDS, RECORDS_MAX, STANDING,
    TOKENS_MS, actor, due, guest,
};
use crate::store::queries::Entry;
use crate::store::row::FromRow;
use crate::store::value::WrittenOff;
use crate::store::{DAY_MS, Personal, roles};

#[async_trait]
impl Personal for Postgres {
    async fn delete_account(&self, ask: Deletion) -> Result<WrittenOff> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let had = delete(&transaction, &ask).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(had)
    }

    async fn personal_data(&self, account: &str) -> Result<Data> {
        let mut client = self.reader().await?;
        let moment = moment(&mut client).await?;
        let person = moment.query_opt(PERSON, &[&account]).await?;
        let person = Person::from_row(&person.ok_or(StoreError::NotFound("account"))?)?;
        let characters = r#"SELECT id FROM characters WHERE "accountId" = $1
                            ORDER BY "createdAt", id"#;
        let mut ids = Vec::new();
        for row in moment.query(characters, &[&account]).await? {
            ids.push(row.try_get(0)?);
        }
        let deaths = all(&moment.query(DEATHS, &[&account]).await?)?;
        let sanctions = format!(
            r#"SELECT {SANCTION} FROM sanctions WHERE "accountId" = $1
               ORDER BY version DESC LIMIT $2"#
        );
        let sanctions = moment.query(&sanctions, &[&account, &RECORDS_MAX]).await?;
        let sanctions = sanctions.iter().map(Sanction::from_row);
        let sanctions = sanctions.collect::<Result<_>>()?;
        let records = all(&moment.query(RECORDS, &[&account, &RECORDS_MAX]).await?)?;
        moment.commit().await?;
        Ok(Data {
            person,
            characters: ids,
            deaths,
            sanctions,
            records,
        })
    }

    async fn own_ledger(&self, of: LedgerOf) -> Result<Vec<Entry>> {
        let client = self.reader().await?;
        let owns = client.prepare_cached(OWNS).await?;
        let asked: Values<'_> = &[&of.character, &of.account];
        let owns = client.query_one(&owns, asked).await?;
        if !owns.try_get::<_, bool>(0)? {
            return Err(StoreError::NotFound("character"));
        }
        let list = client.prepare_cached(LEDGER).await?;
        let before = of.before;
        let values: Values<'_> = &[
            &of.character,
            &before.at_ms,
            &before.run,
            &before.sequence,
            &before.row,
            &of.most,
        ];
        all(&client.query(&list, values).await?)
    }

    async fn expire_guests(&self, guest_ms: Option<i64>, most: i64) -> Result<Expired> {
        let mut client = self.client().await?;
        let now = now(&client).await?;
        let guests: Vec<Guest> = all(&client.query(&due(), &[&now, &most]).await?)?;
        let mut expired = Expired::default();
        for guest in guests {
            let fate = match guest.fate(now, guest_ms) {
                Fate::Stays(until_ms) => {
                    client.execute(LOOK, &[&until_ms, &guest.id]).await?;
                    Fate::Stays(until_ms)
                }
                Fate::Unplayed | Fate::Away => {
                    let (fate, had) = expire(&mut client, &guest.id, guest_ms).await?;
                    expired.written_off.add(had);
                    fate
                }
            };
            expired.count(fate);
        }
        if expired.unplayed + expired.away > 0 {
            self.changed.notify_one();
        }
        Ok(expired)
    }
}

/// Notes that device keys signed in, of those for which that was a day ago or longer.
pub(super) async fn seen(client: &Client, keys: &[&[u8]]) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let seen = client
        .prepare_cached(
            // Locks the rows in one order, so that no two calls wait for each other.
            r#"UPDATE users SET "seenAt" = tilestead_now_ms() WHERE id IN
                 (SELECT id FROM users WHERE "deviceKeyHash" = ANY($1) AND anonymous
                    AND "seenAt" < tilestead_now_ms() - $2 ORDER BY id FOR UPDATE)"#,
        )
        .await?;
    client.execute(&seen, &[&keys, &DAY_MS]).await?;
    Ok(())
}

async fn now<C: GenericClient>(client: &C) -> Result<i64> {
    let now = client.prepare_cached("SELECT tilestead_now_ms()").await?;
    Ok(client.query_one(&now, &[]).await?.try_get(0)?)
}

/// Removes a guest, if it still expires now that its rows are locked. Returns its fate, and what its
/// characters had if they are gone.
async fn expire(
    client: &mut Client,
    id: &str,
    guest_ms: Option<i64>,
) -> Result<(Fate, WrittenOff)> {
    let transaction = client.transaction().await?;
    let version = next_version(&transaction).await?;
    let now = now(&transaction).await?;
    let lock = "SELECT 1 FROM users WHERE id = $1 FOR UPDATE";
    let gone = (Fate::Stays(now), WrittenOff::default());
    if transaction.query_opt(lock, &[&id]).await?.is_none() {
        // Its owner or another replica was faster.
        return Ok(gone);
    }
    let row = transaction.query_one(&guest(), &[&now, &id]).await?;
    let fate = Guest::from_row(&row)?.fate(now, guest_ms);
    if let Fate::Stays(until_ms) = fate {
        transaction.execute(LOOK, &[&until_ms, &id]).await?;
        transaction.commit().await?;
        return Ok((fate, WrittenOff::default()));
    }
    let ask = Deletion {
        account: id.to_owned(),
        logins: Vec::new(),
        until_ms: now + TOKENS_MS,
    };
    let had = match forget(&transaction, &ask, version).await {
        Ok(had) => had,
        // A character came into the world meanwhile: the next round looks again.
        Err(StoreError::InWorld | StoreError::Quarantined) => return Ok(gone),
        Err(error) => return Err(error),
    };
    transaction.commit().await?;
    Ok((fate, had))
}

/// Deletes an account, unless that is refused. Returns what its characters had.
async fn delete(transaction: &Transaction<'_>, ask: &Deletion) -> Result<WrittenOff> {
    let version = next_version(transaction).await?;
    let now = now(transaction).await?;
    let standing = format!("{STANDING} FOR UPDATE OF u");
    let standing = transaction.prepare_cached(&standing).await?;
    let asked: Values<'_> = &[&now, &ask.account];
    let found = transaction.query_opt(&standing, asked).await?;
    let found = found.ok_or(StoreError::NotFound("account"))?;
    if found.try_get(1)? {
        return Err(StoreError::Banned);
    }
    if roles(found.try_get(0)?)
        .iter()
        .any(|role| role == OPERATOR_ROLE)
    {
        let asked: Values<'_> = &[&ask.account, &OPERATOR_ROLE];
        let others = transaction.query_one(OTHER_OPERATOR, asked).await?;
        if !others.try_get::<_, bool>(0)? {
            return Err(StoreError::LastOperator);
        }
    }
    forget(transaction, ask, version).await
}

/// Removes an account that the caller has locked, with everything that leads to a person.
/// `version`: one of the sanctions, which the caller has taken. Returns what its characters had.
async fn forget(transaction: &Transaction<'_>, ask: &Deletion, version: i64) -> Result<WrittenOff> {
    let account = &ask.account;
    let ids = r#"SELECT id FROM characters WHERE "accountId" = $1"#;
    let mut own: Vec<String> = Vec::new();
    for row in transaction.query(ids, &[account]).await? {
        own.push(row.try_get(0)?);
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    hold_ground(transaction, &own).await?;
    let lock = r#"SELECT id, coins, online, quarantined FROM characters
                  WHERE "accountId" = $1 ORDER BY id FOR UPDATE"#;
    let held = transaction.query(lock, &[account]).await?;
    let mut characters: Vec<(&str, i32)> = Vec::new();
    for row in &held {
        if row.try_get(2)? {
            return Err(StoreError::InWorld);
        }
        if row.try_get(3)? {
            return Err(StoreError::Quarantined);
        }
        characters.push((row.try_get(0)?, row.try_get(1)?));
    }
    transaction.execute(NO_RECORD, &[account]).await?;
    let actor = actor(account);
    transaction.execute(NO_ACTOR, &[&actor]).await?;
    transaction.execute(NO_NAME, &[&actor]).await?;
    transaction.execute(NO_SANCTIONS, &[account]).await?;
    transaction.execute(NO_TOKENS, &[account]).await?;
    let had = remove(transaction, &characters).await?;
    transaction.execute(GONE, &[account]).await?;
    let ended = Sanction::revoked(account, account, ask.until_ms, version);
    write(transaction, &ended).await?;
    for login in &ask.logins {
        let version = next_version(transaction).await?;
        let ended = Sanction::revoked(account, login, ask.until_ms, version);
        write(transaction, &ended).await?;
    }
    notify(transaction).await?;
    Ok(had)
}
