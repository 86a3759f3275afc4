//! Sessions in SQLite.

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::runs::{alive, owner};
use super::{Sqlite, Transaction, all, each, read, stored};
use crate::store::Sessions;
use crate::store::columns::{RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::incarnation::next_session_epoch;
use crate::store::model::{Load, OpenSession, Opened, Ownership, Record};
use crate::store::sessions::{Forgotten, OWNERSHIP, SESSIONS_KEPT};
use crate::together::Answers;

/// Continues the open row of a character: $1 epoch, $2 session, $3 gateway, $4 character.
const CONTINUE: &str = r#"UPDATE "playerSessions"
 SET "sessionEpoch" = $1, "sessionId" = $2, "gatewayId" = $3
 WHERE "playerId" = $4 AND logout IS NULL"#;

/// Begins a row: $1 character, $2 epoch, $3 session, $4 gateway, $5 now.
const BEGIN: &str = r#"INSERT INTO "playerSessions"
   ("playerId", "sessionEpoch", "sessionId", "gatewayId", login)
 VALUES ($1, $2, $3, $4, $5)"#;

/// Removes the oldest rows of a character and returns the begin and end of each: $1 character, $2
/// how many rows stay.
const FORGET: &str = r#"DELETE FROM "playerSessions" WHERE id IN
   (SELECT id FROM "playerSessions" WHERE "playerId" = $1 AND logout IS NOT NULL
    ORDER BY login DESC, id DESC LIMIT 1000 OFFSET $2)
 RETURNING login, logout"#;

#[async_trait]
impl Sessions for Sqlite {
    async fn open_sessions(&self, asks: Vec<OpenSession>) -> Answers<Opened> {
        let open = |transaction: &Transaction<'_>, ask: OpenSession| {
            enter(transaction, &ask, false)?.ok_or(StoreError::InWorld)
        };
        self.write(move |transaction| each(transaction, asks, open))
            .await
    }

    async fn load_characters(&self, asks: Vec<Load>) -> Answers<Record> {
        self.read(move |transaction| {
            let load = |ask| load(transaction, ask);
            Ok(asks.iter().map(load).collect())
        })
        .await
    }

    async fn online_characters(&self, run: i64) -> Result<Vec<Ownership>> {
        self.read(move |transaction| {
            alive(transaction, run)?;
            let query = format!(
                "{OWNERSHIP} WHERE c.online = 1 AND c.quarantined = 0 AND r.run_id = ?1
                 ORDER BY c.id"
            );
            all(transaction, &query, [run])
        })
        .await
    }

    async fn character_owner(&self, id: &str) -> Result<Ownership> {
        let id = id.to_owned();
        self.read(move |transaction| {
            transaction
                .prepare_cached(&format!("{OWNERSHIP} WHERE c.id = ?1"))?
                .query_row([id], read)
                .optional()?
                .ok_or(StoreError::NotFound("character"))
        })
        .await
    }
}

fn load(transaction: &Transaction<'_>, ask: &Load) -> Result<Record> {
    alive(transaction, ask.run)?;
    let mut found = transaction
        .prepare_cached(&format!(
            "SELECT {} FROM characters c
             WHERE c.id = ?1 AND c.online = 1 AND c.quarantined = 0",
            *RECORD
        ))?
        .query_row([&ask.character_id], read::<Record>)
        .optional()?
        .ok_or(StoreError::NotFound("character in the world"))?;
    match owner(transaction, found.region)? {
        Some((of, _)) if of == ask.run => {}
        _ => return Err(StoreError::NotOwner),
    }
    stored::fill(transaction, &mut found)?;
    Ok(found)
}

/// Brings a character into the world. With `asleep`, only if it is not there; returns `None` if it
/// is.
pub(super) fn enter(
    transaction: &Transaction<'_>,
    ask: &OpenSession,
    asleep: bool,
) -> Result<Option<Opened>> {
    let found: Option<(bool, i64, i64, bool, i64)> = transaction
        .prepare_cached(
            r#"SELECT online, "sessionEpoch", "ownershipSequence", quarantined,
                 (SELECT value FROM incarnation) FROM characters
               WHERE id = ?1 AND "accountId" = ?2"#,
        )?
        .query_row(params![ask.character_id, ask.account_id], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
            ))
        })
        .optional()?;
    let (was_online, epoch, ownership_sequence, quarantined, incarnation) =
        found.ok_or(StoreError::NotFound("character"))?;
    if quarantined {
        return Err(StoreError::Quarantined);
    }
    if was_online && asleep {
        return Ok(None);
    }
    let (now, session_epoch) = (transaction.now_ms(), next_session_epoch(epoch, incarnation));
    let forgotten = note(transaction, ask, session_epoch, now)?;
    let mut online = transaction.prepare_cached(
        r#"UPDATE characters SET online = 1, "sessionEpoch" = ?2, "sessionId" = ?3,
             "lastLogin" = ?4, "earlierLogins" = "earlierLogins" + ?5,
             "earlierPlayedMs" = "earlierPlayedMs" + ?6 WHERE id = ?1"#,
    )?;
    online.execute(params![
        ask.character_id,
        session_epoch,
        ask.session_id,
        now,
        forgotten.logins,
        forgotten.played_ms
    ])?;
    let character = transaction
        .prepare_cached(&format!(
            "SELECT {SUMMARY} FROM characters c WHERE c.id = ?1"
        ))?
        .query_row([&ask.character_id], read)?;
    Ok(Some(Opened {
        character,
        session_epoch,
        ownership_sequence,
        was_online,
    }))
}

/// Continues the row of a stay in the world or begins one. Returns the rows that it removed.
fn note(
    transaction: &Transaction<'_>,
    ask: &OpenSession,
    session_epoch: i64,
    now: i64,
) -> Result<Forgotten> {
    let (character, session, gateway) = (&ask.character_id, &ask.session_id, &ask.gateway_id);
    let values = params![session_epoch, session, gateway, character];
    if transaction.prepare_cached(CONTINUE)?.execute(values)? > 0 {
        return Ok(Forgotten::default());
    }
    let values = params![character, session_epoch, session, gateway, now];
    transaction.prepare_cached(BEGIN)?.execute(values)?;
    let mut statement = transaction.prepare_cached(FORGET)?;
    let removed = statement.query_map(params![character, SESSIONS_KEPT - 1], read)?;
    Ok(removed.collect::<rusqlite::Result<Forgotten>>()?)
}
