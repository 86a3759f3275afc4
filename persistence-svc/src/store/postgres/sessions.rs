//! Sessions in PostgreSQL.

use super::session::{GenericClient, Transaction};
use tonic::async_trait;

use super::directory::moment;
use super::runs::{alive, owner};
use super::{Postgres, Values, all, stored};
use crate::store::Sessions;
use crate::store::columns::{RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::incarnation::next_session_epoch;
use crate::store::model::{Character, OpenSession, Opened, Ownership, Record};
use crate::store::row::FromRow;
use crate::store::sessions::{BEGIN, CONTINUE, FORGET, Forgotten, OWNERSHIP, SESSIONS_KEPT};

#[async_trait]
impl Sessions for Postgres {
    async fn open_session(&self, ask: OpenSession) -> Result<Opened> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let opened = enter(&transaction, &ask, false).await?;
        transaction.commit().await?;
        opened.ok_or(StoreError::InWorld)
    }

    async fn load_character(&self, run: i64, id: &str) -> Result<Record> {
        let mut client = self.client().await?;
        let moment = moment(&mut client).await?;
        alive(&moment, run).await?;
        let statement = moment
            .prepare_cached(&format!(
                "SELECT {} FROM characters c WHERE c.id = $1 AND c.online AND NOT c.quarantined",
                *RECORD
            ))
            .await?;
        let row = moment.query_opt(&statement, &[&id]).await?;
        let row = row.ok_or(StoreError::NotFound("character in the world"))?;
        let mut found = Record::from_row(&row)?;
        match owner(&moment, found.region).await? {
            Some((of, _)) if of == run => {}
            _ => return Err(StoreError::NotOwner),
        }
        stored::fill(&moment, std::slice::from_mut(&mut found)).await?;
        moment.commit().await?;
        Ok(found)
    }

    async fn online_characters(&self, run: i64) -> Result<Vec<Ownership>> {
        let client = self.client().await?;
        alive(&client, run).await?;
        let statement = client
            .prepare_cached(&format!(
                "{OWNERSHIP} WHERE c.online AND NOT c.quarantined AND r.run_id = $1 ORDER BY c.id"
            ))
            .await?;
        let rows = client.query(&statement, &[&run]).await?;
        all(&rows)
    }

    async fn character_owner(&self, id: &str) -> Result<Ownership> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(&format!("{OWNERSHIP} WHERE c.id = $1"))
            .await?;
        let row = client.query_opt(&statement, &[&id]).await?;
        let row = row.ok_or(StoreError::NotFound("character"))?;
        Ok(Ownership::from_row(&row)?)
    }
}

/// Brings a character into the world. With `asleep`, only if it is not there; returns `None` if it
/// is.
pub(super) async fn enter(
    transaction: &Transaction<'_>,
    ask: &OpenSession,
    asleep: bool,
) -> Result<Option<Opened>> {
    still(transaction, &ask.character_id).await?;
    let statement = transaction
        .prepare_cached(
            r#"SELECT online, "sessionEpoch", "ownershipSequence", quarantined,
                 (SELECT value FROM incarnation) FROM characters
               WHERE id = $1 AND "accountId" = $2 FOR UPDATE"#,
        )
        .await?;
    let found = transaction
        .query_opt(&statement, &[&ask.character_id, &ask.account_id])
        .await?
        .ok_or(StoreError::NotFound("character"))?;
    if found.try_get(3)? {
        return Err(StoreError::Quarantined);
    }
    let was_online = found.try_get(0)?;
    if was_online && asleep {
        return Ok(None);
    }
    let session_epoch = next_session_epoch(found.try_get(1)?, found.try_get(4)?);
    let forgotten = note(transaction, ask, session_epoch).await?;
    let enter = transaction
        .prepare_cached(&format!(
            r#"UPDATE characters c SET online = true, "sessionEpoch" = $2, "sessionId" = $3,
                 "lastLogin" = tilestead_now_ms(), "earlierLogins" = "earlierLogins" + $4,
                 "earlierPlayedMs" = "earlierPlayedMs" + $5 WHERE c.id = $1 RETURNING {SUMMARY}"#
        ))
        .await?;
    let values: Values<'_> = &[
        &ask.character_id,
        &session_epoch,
        &ask.session_id,
        &forgotten.logins,
        &forgotten.played_ms,
    ];
    let row = transaction.query_one(&enter, values).await?;
    Ok(Some(Opened {
        character: Character::from_row(&row)?,
        session_epoch,
        ownership_sequence: found.try_get(2)?,
        was_online,
    }))
}

/// Continues the row of a stay in the world or begins one. Returns the rows that it removed.
async fn note(
    transaction: &Transaction<'_>,
    ask: &OpenSession,
    session_epoch: i64,
) -> Result<Forgotten> {
    let (character, session, gateway) = (&ask.character_id, &ask.session_id, &ask.gateway_id);
    let statement = transaction.prepare_cached(CONTINUE).await?;
    let values: Values<'_> = &[&session_epoch, session, gateway, character];
    if transaction.execute(&statement, values).await? > 0 {
        return Ok(Forgotten::default());
    }
    let now = transaction.query_one("SELECT tilestead_now_ms()", &[]);
    let now: i64 = now.await?.try_get(0)?;
    let statement = transaction.prepare_cached(BEGIN).await?;
    let values: Values<'_> = &[character, &session_epoch, session, gateway, &now];
    transaction.execute(&statement, values).await?;
    let statement = transaction.prepare_cached(FORGET).await?;
    let values: Values<'_> = &[character, &(SESSIONS_KEPT - 1)];
    let removed = transaction.query(&statement, values).await?;
    Ok(all(&removed)?.into_iter().collect())
}

/// Keeps the region of a character with its owner until the transaction ends. So a character that
/// comes into the world gets its next ownership sequence at the change of owner, or comes after
/// that change.
async fn still(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    let statement = transaction
        .prepare_cached(
            r#"SELECT 1 FROM regions WHERE (region_x, region_z) IN
                 (SELECT "regionX", "regionZ" FROM characters WHERE id = $1) FOR SHARE"#,
        )
        .await?;
    transaction.query_opt(&statement, &[&id]).await?;
    Ok(())
}
