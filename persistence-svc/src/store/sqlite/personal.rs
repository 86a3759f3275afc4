//! Personal data in SQLite.

use proto::rpc::OPERATOR_ROLE;
use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::accounts::remove;
use super::identity::{next_version, sanctions, write};
use super::{Sqlite, Transaction, all, read};
use crate::store::error::{Result, StoreError};
use crate::store::identity::{OTHER_OPERATOR, SANCTION, Sanction};
use crate::store::personal::{
    DEATHS, Data, Deletion, Expired, Fate, GONE, Guest, LEDGER, LOOK, LedgerOf, NO_ACTOR, NO_NAME,
    NO_RECORD, NO_SANCTIONS, NO_TOKENS, OWNS, PERSON, Person, RECORDS, RECORDS_MAX, STANDING,
    TOKENS_MS, actor, due,
};
use crate::store::queries::Entry;
use crate::store::value::WrittenOff;
use crate::store::{Personal, roles};

#[async_trait]
impl Personal for Sqlite {
    async fn delete_account(&self, ask: Deletion) -> Result<WrittenOff> {
        let had = self
            .write(move |transaction| delete(transaction, &ask))
            .await?;
        self.changed.notify_one();
        Ok(had)
    }

    async fn personal_data(&self, account: &str) -> Result<Data> {
        let account = account.to_owned();
        self.read(move |transaction| data(transaction, &account))
            .await
    }

    async fn own_ledger(&self, of: LedgerOf) -> Result<Vec<Entry>> {
        self.read(move |transaction| {
            let owns: bool = transaction
                .prepare_cached(OWNS)?
                .query_row([&of.character, &of.account], |row| row.get(0))?;
            if !owns {
                return Err(StoreError::NotFound("character"));
            }
            let before = of.before;
            let values = params![
                of.character,
                before.at_ms,
                before.run,
                before.sequence,
                before.row,
                of.most
            ];
            all(transaction, LEDGER, values)
        })
        .await
    }

    async fn expire_guests(&self, guest_ms: Option<i64>, most: i64) -> Result<Expired> {
        let expired = self
            .write(move |transaction| expire(transaction, guest_ms, most))
            .await?;
        if expired.unplayed + expired.away > 0 {
            self.changed.notify_one();
        }
        Ok(expired)
    }
}

fn data(transaction: &Transaction<'_>, account: &str) -> Result<Data> {
    let person = transaction
        .prepare_cached(PERSON)?
        .query_row([account], read::<Person>)
        .optional()?
        .ok_or(StoreError::NotFound("account"))?;
    let characters = own(transaction, account)?;
    let listed = format!(
        r#"SELECT {SANCTION} FROM sanctions WHERE "accountId" = ?1 ORDER BY version DESC LIMIT ?2"#
    );
    Ok(Data {
        person,
        characters: characters.into_iter().map(|(id, ..)| id).collect(),
        deaths: all(transaction, DEATHS, [account])?,
        sanctions: sanctions(transaction, &listed, params![account, RECORDS_MAX])?,
        records: all(transaction, RECORDS, params![account, RECORDS_MAX])?,
    })
}

/// Returns the characters of an account: id, coins, whether each is in the world, and whether it is
/// quarantined.
fn own(transaction: &Transaction<'_>, account: &str) -> Result<Vec<(String, i32, bool, bool)>> {
    let mut statement = transaction.prepare_cached(
        r#"SELECT id, coins, online, quarantined FROM characters WHERE "accountId" = ?1
           ORDER BY "createdAt", id"#,
    )?;
    let rows = statement.query_map([account], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Looks at guests and removes those that expired.
fn expire(transaction: &Transaction<'_>, guest_ms: Option<i64>, most: i64) -> Result<Expired> {
    let now = transaction.now_ms();
    let guests: Vec<Guest> = all(transaction, &due(), [now, most])?;
    let mut expired = Expired::default();
    for guest in guests {
        let fate = guest.fate(now, guest_ms);
        match fate {
            Fate::Stays(until_ms) => {
                transaction
                    .prepare_cached(LOOK)?
                    .execute(params![until_ms, guest.id])?;
            }
            Fate::Unplayed | Fate::Away => {
                let ask = Deletion {
                    account: guest.id,
                    logins: Vec::new(),
                    until_ms: now + TOKENS_MS,
                };
                let had = forget(transaction, &ask)?;
                expired.written_off.add(had);
            }
        }
        expired.count(fate);
    }
    Ok(expired)
}

/// Deletes an account, unless that is refused. Returns what its characters had.
fn delete(transaction: &Transaction<'_>, ask: &Deletion) -> Result<WrittenOff> {
    let found: Option<(String, bool)> = transaction
        .prepare_cached(STANDING)?
        .query_row(params![transaction.now_ms(), ask.account], read)
        .optional()?;
    let (given, banned) = found.ok_or(StoreError::NotFound("account"))?;
    if banned {
        return Err(StoreError::Banned);
    }
    if roles(&given).iter().any(|role| role == OPERATOR_ROLE) {
        let asked = params![ask.account, OPERATOR_ROLE];
        let others: bool = transaction.query_row(OTHER_OPERATOR, asked, |row| row.get(0))?;
        if !others {
            return Err(StoreError::LastOperator);
        }
    }
    forget(transaction, ask)
}

/// Removes an account with everything that leads to a person. Returns what its characters had.
fn forget(transaction: &Transaction<'_>, ask: &Deletion) -> Result<WrittenOff> {
    let account = &ask.account;
    let mut characters = Vec::new();
    for (id, coins, online, quarantined) in own(transaction, account)? {
        if online {
            return Err(StoreError::InWorld);
        }
        if quarantined {
            return Err(StoreError::Quarantined);
        }
        characters.push((id, coins));
    }
    transaction.execute(NO_RECORD, [account])?;
    let actor = actor(account);
    transaction.execute(NO_ACTOR, [&actor])?;
    transaction.execute(NO_NAME, [&actor])?;
    transaction.execute(NO_SANCTIONS, [account])?;
    transaction.execute(NO_TOKENS, [account])?;
    let had = remove(transaction, &characters)?;
    transaction.execute(GONE, [account])?;
    for ended in std::iter::once(account).chain(&ask.logins) {
        let version = next_version(transaction)?;
        let ended = Sanction::revoked(account, ended, ask.until_ms, version);
        write(transaction, &ended)?;
    }
    Ok(had)
}
