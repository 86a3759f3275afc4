//! Friends and ignored players in PostgreSQL.
//!
//! Always: a transaction that changes lists locks the rows of both accounts, in the order of their
//! ids.

use std::collections::BTreeMap;

use super::session::{GenericClient, Transaction, Value};
use futures::{future::join_all, try_join};
use proto::client::names::skeleton;
use tonic::async_trait;

use super::directory::moment;
use super::{Postgres, Values, all};
use crate::store::error::{Result, StoreError};
use crate::store::row::FromRow;
use crate::store::social::{
    BY_ID, BY_NAME, BY_REQUEST, Change, Changed, FRIENDS, IGNORED, Lists, OWN, Outcome, Put,
    RELATION, REQUEST_MS, REQUESTS, Relation, TIDY, Who, concerns_both, decide,
};
use crate::store::{Social, name_key, new_id};
use crate::together::Answers;

/// Characters by id: id, account, and whether a friend, a request or an ignored player may be in its
/// lists.
const HAVE_ANY: &str = r#"SELECT c.id, c."accountId",
   EXISTS (SELECT 1 FROM friendships f WHERE f."playerId" = c.id)
   OR EXISTS (SELECT 1 FROM friend_requests r WHERE r."fromPlayerId" = c.id)
   OR EXISTS (SELECT 1 FROM friend_requests r WHERE r."toPlayerId" = c.id)
   OR EXISTS (SELECT 1 FROM ignore_lists i WHERE i."accountId" = c."accountId")
 FROM characters c WHERE c.id = ANY($1)"#;

#[async_trait]
impl Social for Postgres {
    async fn lists(&self, asks: Vec<Who>) -> Answers<Lists> {
        let mut client = self.client().await?;
        let moment = moment(&mut client).await?;
        let now = now(&moment).await?;
        let known = known(&moment, &asks).await?;
        // All statements are on their way before the first answer comes.
        let read = join_all(asks.iter().map(|who| async {
            let own = known.get(&who.character_id);
            let own = own.filter(|known| known.account_id == who.account_id);
            let own = own.ok_or(StoreError::NotFound("character"))?;
            if !own.has_any {
                return Ok(Lists::default());
            }
            lists(&moment, who, now).await
        }));
        let read = read.await;
        moment.commit().await?;
        Ok(read)
    }

    async fn change_lists(&self, who: Who, change: Change) -> Result<Changed> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        own(&transaction, &who).await?;
        let now = now(&transaction).await?;
        let (outcome, other) = match carry_out(&transaction, &who, &change, now).await? {
            Ok(other) => (Outcome::Done, Some(other)),
            Err(outcome) => (outcome, None),
        };
        let changed = Changed {
            outcome,
            lists: lists(&transaction, &who, now).await?,
            other: other.filter(|_| concerns_both(&change)),
        };
        transaction.commit().await?;
        Ok(changed)
    }
}

/// A character whose lists are asked for.
struct Known {
    account_id: String,
    /// Whether any list may have somebody. Those of most newcomers have nobody.
    has_any: bool,
}

/// Returns those of the characters that exist, by id.
async fn known(transaction: &Transaction<'_>, asks: &[Who]) -> Result<BTreeMap<String, Known>> {
    let ids: Vec<&str> = asks.iter().map(|who| who.character_id.as_str()).collect();
    let statement = transaction.prepare_cached(HAVE_ANY).await?;
    let mut known = BTreeMap::new();
    for row in transaction.query(&statement, &[&ids]).await? {
        let of = Known {
            account_id: row.try_get(1)?,
            has_any: row.try_get(2)?,
        };
        known.insert(row.try_get(0)?, of);
    }
    Ok(known)
}

async fn own(transaction: &Transaction<'_>, who: &Who) -> Result<()> {
    let statement = transaction.prepare_cached(OWN).await?;
    let values: Values<'_> = &[&who.character_id, &who.account_id];
    let found = transaction.query_opt(&statement, values).await?;
    found.map(|_| ()).ok_or(StoreError::NotFound("character"))
}

async fn now(transaction: &Transaction<'_>) -> Result<i64> {
    let statement = transaction
        .prepare_cached("SELECT tilestead_now_ms()")
        .await?;
    Ok(transaction.query_one(&statement, &[]).await?.try_get(0)?)
}

/// Carries out the change, if it is allowed. Returns the other character, or the outcome that
/// refuses the change.
async fn carry_out(
    transaction: &Transaction<'_>,
    who: &Who,
    change: &Change,
    now: i64,
) -> Result<std::result::Result<String, Outcome>> {
    let me = &who.character_id;
    let Some((_, account, _)) = other(transaction, me, change, now).await? else {
        return Ok(Err(missing(change)));
    };
    let lock = "SELECT id FROM users WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE";
    let accounts = [who.account_id.as_str(), account.as_str()];
    transaction.query(lock, &[&accounts.as_slice()]).await?;
    // It looks again: while it waited for the rows, others may have changed them.
    let Some((other, account, asked)) = other(transaction, me, change, now).await? else {
        return Ok(Err(missing(change)));
    };
    let since = now - REQUEST_MS;
    transaction.execute(TIDY, &[me, &since]).await?;
    let statement = transaction.prepare_cached(RELATION).await?;
    let values: Values<'_> = &[me, &other, &since, &who.account_id];
    let relation = Relation::from_row(&transaction.query_one(&statement, values).await?)?;
    let audit_log = match decide(change, account == who.account_id, asked, &relation) {
        Ok(audit_log) => audit_log,
        Err(outcome) => return Ok(Err(outcome)),
    };
    let fresh = new_id();
    for action in audit_log {
        let (statement, put) = action.statement();
        let values: Vec<&(dyn Value + Sync)> = put
            .iter()
            .map(|put| match put {
                Put::Account => &who.account_id as &(dyn Value + Sync),
                Put::Me => me,
                Put::Other => &other,
                Put::Now => &now,
                Put::FreshId => &fresh,
            })
            .collect();
        let statement = transaction.prepare_cached(statement).await?;
        transaction.execute(&statement, &values).await?;
    }
    Ok(Ok(other))
}

/// Returns the other character of a change, its account, and whether it made the request.
async fn other(
    transaction: &Transaction<'_>,
    me: &str,
    change: &Change,
    now: i64,
) -> Result<Option<(String, String, bool)>> {
    let since = now - REQUEST_MS;
    let row = match change {
        Change::Request(name) | Change::Ignore(name) => {
            let statement = transaction.prepare_cached(BY_NAME).await?;
            let values: Values<'_> = &[&name_key(name), &skeleton(name)];
            transaction.query_opt(&statement, values).await?
        }
        Change::Remove(id) | Change::Unignore(id) => {
            let statement = transaction.prepare_cached(BY_ID).await?;
            transaction.query_opt(&statement, &[id]).await?
        }
        Change::Accept(id) | Change::Decline(id) => {
            let statement = transaction.prepare_cached(BY_REQUEST).await?;
            transaction
                .query_opt(&statement, &[&me, id, &since])
                .await?
        }
    };
    let Some(row) = row else { return Ok(None) };
    let asked = row.len() > 2 && row.try_get(2)?;
    Ok(Some((row.try_get(0)?, row.try_get(1)?, asked)))
}

fn missing(change: &Change) -> Outcome {
    match change {
        Change::Request(_) | Change::Ignore(_) => Outcome::NoSuchPlayer,
        _ => Outcome::NotThere,
    }
}

async fn lists(transaction: &Transaction<'_>, who: &Who, now: i64) -> Result<Lists> {
    let since = now - REQUEST_MS;
    let friends = transaction.prepare_cached(FRIENDS).await?;
    let requests = transaction.prepare_cached(REQUESTS).await?;
    let ignored = transaction.prepare_cached(IGNORED).await?;
    let (of_character, of_account): (Values<'_>, Values<'_>) =
        (&[&who.character_id], &[&who.account_id]);
    let of_both: Values<'_> = &[&who.character_id, &since, &who.account_id];
    let (friends, requests, ignored) = try_join!(
        transaction.query(&friends, of_character),
        transaction.query(&requests, of_both),
        transaction.query(&ignored, of_account),
    )?;
    Ok(Lists {
        friends: all(&friends)?,
        requests: all(&requests)?,
        ignored: all(&ignored)?,
    })
}
