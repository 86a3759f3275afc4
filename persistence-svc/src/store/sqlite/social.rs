//! Friends and ignored players in SQLite.

use proto::client::names::skeleton;
use rusqlite::{OptionalExtension, ToSql, params};
use tonic::async_trait;

use super::{Sqlite, Transaction, all, read};
use crate::store::error::{Result, StoreError};
use crate::store::social::{
    BY_ID, BY_NAME, BY_REQUEST, Change, Changed, FRIENDS, IGNORED, Lists, OWN, Outcome, Put,
    RELATION, REQUEST_MS, REQUESTS, TIDY, Who, concerns_both, decide,
};
use crate::store::{Social, name_key};
use crate::together::Answers;

#[async_trait]
impl Social for Sqlite {
    async fn lists(&self, asks: Vec<Who>) -> Answers<Lists> {
        self.read(move |transaction| {
            let read = |who| {
                own(transaction, who)?;
                lists(transaction, who, transaction.now_ms())
            };
            Ok(asks.iter().map(read).collect())
        })
        .await
    }

    async fn change_lists(&self, who: Who, change: Change) -> Result<Changed> {
        self.write(move |transaction| {
            own(transaction, &who)?;
            let now = transaction.now_ms();
            let (outcome, other) = match carry_out(transaction, &who, &change, now)? {
                Ok(other) => (Outcome::Done, Some(other)),
                Err(outcome) => (outcome, None),
            };
            Ok(Changed {
                outcome,
                lists: lists(transaction, &who, now)?,
                other: other.filter(|_| concerns_both(&change)),
            })
        })
        .await
    }
}

fn own(transaction: &Transaction<'_>, who: &Who) -> Result<()> {
    let mut statement = transaction.prepare_cached(OWN)?;
    let found = statement.exists([&who.character_id, &who.account_id])?;
    if found {
        return Ok(());
    }
    Err(StoreError::NotFound("character"))
}

/// Carries out the change, if it is allowed. Returns the other character, or the outcome that
/// refuses the change.
fn carry_out(
    transaction: &Transaction<'_>,
    who: &Who,
    change: &Change,
    now: i64,
) -> Result<std::result::Result<String, Outcome>> {
    let me = &who.character_id;
    let Some((other, account, asked)) = other(transaction, me, change, now)? else {
        return Ok(Err(missing(change)));
    };
    transaction.execute(TIDY, params![me, now - REQUEST_MS])?;
    let relation = transaction
        .prepare_cached(RELATION)?
        .query_row(params![me, other, now - REQUEST_MS, who.account_id], read)?;
    let audit_log = match decide(change, account == who.account_id, asked, &relation) {
        Ok(audit_log) => audit_log,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let fresh = transaction.new_id();
    for action in audit_log {
        let (statement, put) = action.statement();
        let values: Vec<&dyn ToSql> = put
            .iter()
            .map(|put| match put {
                Put::Account => &who.account_id as &dyn ToSql,
                Put::Me => me,
                Put::Other => &other,
                Put::Now => &now,
                Put::FreshId => &fresh,
            })
            .collect();
        transaction
            .prepare_cached(statement)?
            .execute(values.as_slice())?;
    }
    Ok(Ok(other))
}

/// Returns the other character of a change, its account, and whether it made the request.
fn other(
    transaction: &Transaction<'_>,
    me: &str,
    change: &Change,
    now: i64,
) -> Result<Option<(String, String, bool)>> {
    let found = match change {
        Change::Request(name) | Change::Ignore(name) => transaction
            .prepare_cached(BY_NAME)?
            .query_row([name_key(name), skeleton(name)], |row| {
                Ok((row.get(0)?, row.get(1)?, false))
            }),
        Change::Remove(id) | Change::Unignore(id) => transaction
            .prepare_cached(BY_ID)?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, false))),
        Change::Accept(id) | Change::Decline(id) => transaction
            .prepare_cached(BY_REQUEST)?
            .query_row(params![me, id, now - REQUEST_MS], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            }),
    };
    Ok(found.optional()?)
}

fn missing(change: &Change) -> Outcome {
    match change {
        Change::Request(_) | Change::Ignore(_) => Outcome::NoSuchPlayer,
        _ => Outcome::NotThere,
    }
}

fn lists(transaction: &Transaction<'_>, who: &Who, now: i64) -> Result<Lists> {
    let values = params![who.character_id, now - REQUEST_MS, who.account_id];
    Ok(Lists {
        friends: all(transaction, FRIENDS, [&who.character_id])?,
        requests: all(transaction, REQUESTS, values)?,
        ignored: all(transaction, IGNORED, [&who.account_id])?,
    })
}
