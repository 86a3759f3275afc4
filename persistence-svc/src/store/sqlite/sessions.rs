//! Sessions in SQLite.

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::runs::{alive, owner};
use super::{Sqlite, Transaction, all, read, stored};
use crate::store::Sessions;
use crate::store::columns::{RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::incarnation::next_session_epoch;
use crate::store::model::{OpenSession, Opened, Ownership, Record};
use crate::store::sessions::{BEGIN, CONTINUE, FORGET, Forgotten, OWNERSHIP, SESSIONS_KEPT};

#[async_trait]
impl Sessions for Sqlite {
    async fn open_session(&self, ask: OpenSession) -> Result<Opened> {
        self.write(move |transaction| enter(transaction, &ask, false)?.ok_or(StoreError::InWorld))
            .await
    }

    async fn load_character(&self, run: i64, id: &str) -> Result<Record> {
        let id = id.to_owned();
        self.read(move |transaction| {
            alive(transaction, run)?;
            let mut found = transaction
                .prepare_cached(&format!(
                    "SELECT {} FROM characters c
                     WHERE c.id = ?1 AND c.online = 1 AND c.quarantined = 0",
                    *RECORD
                ))?
                .query_row([id], read::<Record>)
                .optional()?
                .ok_or(StoreError::NotFound("character in the world"))?;
            match owner(transaction, found.region)? {
                Some((of, _)) if of == run => {}
                _ => return Err(StoreError::NotOwner),
            }
            stored::fill(transaction, &mut found)?;
            Ok(found)
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
    transaction.execute(
        r#"UPDATE characters SET online = 1, "sessionEpoch" = ?2, "sessionId" = ?3,
             "lastLogin" = ?4, "earlierLogins" = "earlierLogins" + ?5,
             "earlierPlayedMs" = "earlierPlayedMs" + ?6 WHERE id = ?1"#,
        params![
            ask.character_id,
            session_epoch,
            ask.session_id,
            now,
            forgotten.logins,
            forgotten.played_ms
        ],
    )?;
    let character = transaction.query_row(
        &format!("SELECT {SUMMARY} FROM characters c WHERE c.id = ?1"),
        [&ask.character_id],
        read,
    )?;
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
