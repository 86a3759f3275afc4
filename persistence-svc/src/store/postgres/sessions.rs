//! Sessions in PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{GenericClient, Transaction};
use tonic::async_trait;

use super::directory::moment;
use super::runs::alive;
use super::{Postgres, Values, all, stored};
use crate::store::Sessions;
use crate::store::columns::{PLAIN, RECORD, SUMMARY};
use crate::store::error::{Result, StoreError};
use crate::store::incarnation::next_session_epoch;
use crate::store::model::{Character, Load, OpenSession, Opened, Ownership, Record, SKILLS};
use crate::store::row::FromRow;
use crate::store::sessions::{Forgotten, OWNERSHIP, SESSIONS_KEPT};
use crate::together::Answers;

#[async_trait]
impl Sessions for Postgres {
    async fn open_sessions(&self, asks: Vec<OpenSession>) -> Answers<Opened> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let opened = enter(&transaction, &asks, false).await?;
        transaction.commit().await?;
        let opened = opened.into_iter();
        let opened = opened.map(|opened| opened?.ok_or(StoreError::InWorld));
        Ok(opened.collect())
    }

    async fn load_characters(&self, asks: Vec<Load>) -> Answers<Record> {
        let mut client = self.client().await?;
        let moment = moment(&mut client).await?;
        let living = living(&moment, &asks).await?;
        let statement = moment
            .prepare_cached(&format!(
                r#"SELECT {}, coalesce(r.run_id, 0) FROM characters c
                   LEFT JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ"
                   WHERE c.id = ANY($1) AND c.online AND NOT c.quarantined"#,
                *RECORD
            ))
            .await?;
        let ids: Vec<&str> = asks.iter().map(|ask| ask.character_id.as_str()).collect();
        let rows = moment.query(&statement, &[&ids]).await?;
        let owner_at = PLAIN + 2 * SKILLS.len();
        let mut owners = BTreeMap::new();
        for row in &rows {
            let id: String = row.try_get(0)?;
            owners.insert(id, row.try_get::<_, i64>(owner_at)?);
        }
        let judge = |ask: &Load| {
            if !living.contains(&ask.run) {
                return Err(StoreError::Fenced);
            }
            match owners.get(&ask.character_id) {
                None => Err(StoreError::NotFound("character in the world")),
                Some(owner) if *owner != ask.run => Err(StoreError::NotOwner),
                Some(_) => Ok(()),
            }
        };
        let judged: Vec<Result<()>> = asks.iter().map(judge).collect();
        let mut found: Vec<Record> = all(&rows)?;
        stored::fill(&moment, &mut found).await?;
        moment.commit().await?;
        let found = found.into_iter().map(|record| (record.id.clone(), record));
        let mut found: BTreeMap<String, Record> = found.collect();
        let answer = |(ask, judged): (&Load, Result<()>)| {
            judged?;
            let none = StoreError::NotFound("character in the world");
            found.remove(&ask.character_id).ok_or(none)
        };
        Ok(asks.iter().zip(judged).map(answer).collect())
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

/// Returns those of the runs that are not fenced.
async fn living(moment: &Transaction<'_>, asks: &[Load]) -> Result<BTreeSet<i64>> {
    let runs: BTreeSet<i64> = asks.iter().map(|ask| ask.run).collect();
    let runs: Vec<i64> = runs.into_iter().collect();
    let statement = moment
        .prepare_cached("SELECT id FROM runs WHERE id = ANY($1) AND state <> 'fenced'")
        .await?;
    let rows = moment.query(&statement, &[&runs]).await?;
    let living: std::result::Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
    Ok(living?)
}

/// A character that may come into the world.
struct Coming<'a> {
    ask: &'a OpenSession,
    session_epoch: i64,
    ownership_sequence: i64,
    was_online: bool,
}

/// Brings characters into the world, each once. With `asleep`, only those that are not there; the
/// others are `None`.
pub(super) async fn enter(
    transaction: &Transaction<'_>,
    asks: &[OpenSession],
    asleep: bool,
) -> Answers<Option<Opened>> {
    let judged = coming(transaction, asks, asleep).await?;
    let come: Vec<&Coming<'_>> = judged.iter().flatten().flatten().collect();
    let mut entered = BTreeMap::new();
    if !come.is_empty() {
        let forgotten = note(transaction, &come).await?;
        for character in raise(transaction, &come, &forgotten).await? {
            entered.insert(character.id.clone(), character);
        }
    }
    let answer = |judged: Result<Option<Coming<'_>>>| {
        let Some(coming) = judged? else {
            return Ok(None);
        };
        let character = entered.remove(&coming.ask.character_id);
        Ok(Some(Opened {
            character: character.ok_or(StoreError::NotFound("character"))?,
            session_epoch: coming.session_epoch,
            ownership_sequence: coming.ownership_sequence,
            was_online: coming.was_online,
        }))
    };
    Ok(judged.into_iter().map(answer).collect())
}

/// Locks the characters and finds out which of them may come.
async fn coming<'a>(
    transaction: &Transaction<'_>,
    asks: &'a [OpenSession],
    asleep: bool,
) -> Answers<Option<Coming<'a>>> {
    let ids: Vec<&str> = asks.iter().map(|ask| ask.character_id.as_str()).collect();
    still(transaction, &ids).await?;
    let statement = transaction
        .prepare_cached(
            r#"SELECT id, "accountId", online, "sessionEpoch", "ownershipSequence", quarantined,
                 (SELECT value FROM incarnation) FROM characters
               WHERE id = ANY($1) ORDER BY id FOR UPDATE"#,
        )
        .await?;
    let mut rows = BTreeMap::new();
    for row in transaction.query(&statement, &[&ids]).await? {
        rows.insert(row.try_get::<_, String>(0)?, row);
    }
    let judge = |ask: &'a OpenSession| {
        let row = rows.get(&ask.character_id);
        let row = row.ok_or(StoreError::NotFound("character"))?;
        if row.try_get::<_, String>(1)? != ask.account_id {
            return Err(StoreError::NotFound("character"));
        }
        if row.try_get(5)? {
            return Err(StoreError::Quarantined);
        }
        let was_online = row.try_get(2)?;
        if was_online && asleep {
            return Ok(None);
        }
        Ok(Some(Coming {
            ask,
            session_epoch: next_session_epoch(row.try_get(3)?, row.try_get(6)?),
            ownership_sequence: row.try_get(4)?,
            was_online,
        }))
    };
    Ok(asks.iter().map(judge).collect())
}

/// Marks characters as in the world.
async fn raise(
    transaction: &Transaction<'_>,
    come: &[&Coming<'_>],
    forgotten: &BTreeMap<String, Forgotten>,
) -> Result<Vec<Character>> {
    let ids: Vec<&str> = come
        .iter()
        .map(|coming| coming.ask.character_id.as_str())
        .collect();
    let epochs: Vec<i64> = come.iter().map(|coming| coming.session_epoch).collect();
    let sessions: Vec<&str> = come
        .iter()
        .map(|coming| coming.ask.session_id.as_str())
        .collect();
    let of = |id: &&str| forgotten.get(*id).copied().unwrap_or_default();
    let logins: Vec<i64> = ids.iter().map(|id| of(id).logins).collect();
    let played_ms: Vec<i64> = ids.iter().map(|id| of(id).played_ms).collect();
    let enter = transaction
        .prepare_cached(&format!(
            r#"UPDATE characters c SET online = true, "sessionEpoch" = u.epoch,
                 "sessionId" = u.session, "lastLogin" = tilestead_now_ms(),
                 "earlierLogins" = "earlierLogins" + u.logins,
                 "earlierPlayedMs" = "earlierPlayedMs" + u.played
               FROM UNNEST($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
                 AS u (id, epoch, session, logins, played)
               WHERE c.id = u.id RETURNING {SUMMARY}"#
        ))
        .await?;
    let values: Values<'_> = &[&ids, &epochs, &sessions, &logins, &played_ms];
    all(&transaction.query(&enter, values).await?)
}

/// Continues the rows of stays in the world or begins them. Returns the rows that it removed, by
/// character.
async fn note(
    transaction: &Transaction<'_>,
    come: &[&Coming<'_>],
) -> Result<BTreeMap<String, Forgotten>> {
    // Whoever is in the world has an open row, and nobody else has.
    let (stay, mut begin): (Vec<&Coming<'_>>, Vec<&Coming<'_>>) =
        come.iter().partition(|coming| coming.was_online);
    if !stay.is_empty() {
        let continued = write_stays(transaction, CONTINUE_MANY, &stay).await?;
        let lacks = |coming: &&&Coming<'_>| !continued.contains(&coming.ask.character_id);
        begin.extend(stay.iter().filter(lacks));
    }
    if begin.is_empty() {
        return Ok(BTreeMap::new());
    }
    let began = write_stays(transaction, BEGIN_MANY, &begin).await?;
    let began: Vec<&str> = began.iter().map(String::as_str).collect();
    let statement = transaction.prepare_cached(FORGET_MANY).await?;
    let removed = transaction
        .query(&statement, &[&began, &(SESSIONS_KEPT - 1)])
        .await?;
    let mut stays: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for row in removed {
        let stay = (row.try_get(1)?, row.try_get(2)?);
        stays.entry(row.try_get(0)?).or_default().push(stay);
    }
    let forgotten = |(id, stays): (String, Vec<_>)| (id, stays.into_iter().collect());
    Ok(stays.into_iter().map(forgotten).collect())
}

/// Writes rows of stays by [`CONTINUE_MANY`] or [`BEGIN_MANY`]. Returns the characters of the rows
/// that it wrote.
async fn write_stays(
    transaction: &Transaction<'_>,
    sql: &str,
    come: &[&Coming<'_>],
) -> Result<BTreeSet<String>> {
    let each = |of: fn(&OpenSession) -> &str| -> Vec<&str> {
        come.iter().map(|coming| of(coming.ask)).collect()
    };
    let characters = each(|ask| &ask.character_id);
    let epochs: Vec<i64> = come.iter().map(|coming| coming.session_epoch).collect();
    let (sessions, gateways) = (each(|ask| &ask.session_id), each(|ask| &ask.gateway_id));
    let statement = transaction.prepare_cached(sql).await?;
    let values: Values<'_> = &[&characters, &epochs, &sessions, &gateways];
    let rows = transaction.query(&statement, values).await?;
    let written: std::result::Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
    Ok(written?)
}

/// Keeps the regions of characters with their owners until the transaction ends. So a character
/// that comes into the world gets its next ownership sequence at the change of owner, or comes
/// after that change.
async fn still(transaction: &Transaction<'_>, ids: &[&str]) -> Result<()> {
    let statement = transaction
        .prepare_cached(
            r#"SELECT 1 FROM regions WHERE (region_x, region_z) IN
                 (SELECT "regionX", "regionZ" FROM characters WHERE id = ANY($1))
               ORDER BY region_x, region_z FOR SHARE"#,
        )
        .await?;
    transaction.query(&statement, &[&ids]).await?;
    Ok(())
}

/// Continues the open rows of characters: $1 characters, $2 epochs, $3 sessions, $4 gateways.
const CONTINUE_MANY: &str = r#"UPDATE "playerSessions" p
 SET "sessionEpoch" = u.epoch, "sessionId" = u.session, "gatewayId" = u.gateway
 FROM UNNEST($1::text[], $2::bigint[], $3::text[], $4::text[]) AS u (id, epoch, session, gateway)
 WHERE p."playerId" = u.id AND p.logout IS NULL RETURNING p."playerId""#;

/// Begins rows, with the values of [`CONTINUE_MANY`].
const BEGIN_MANY: &str = r#"INSERT INTO "playerSessions"
   ("playerId", "sessionEpoch", "sessionId", "gatewayId", login)
 SELECT id, epoch, session, gateway, tilestead_now_ms()
 FROM UNNEST($1::text[], $2::bigint[], $3::text[], $4::text[]) AS u (id, epoch, session, gateway)
 RETURNING "playerId""#;

/// Removes the oldest rows of characters: $1 characters, $2 how many rows of each stay.
const FORGET_MANY: &str = r#"DELETE FROM "playerSessions" WHERE id IN
   (SELECT old.id FROM UNNEST($1::text[]) AS u (id) CROSS JOIN LATERAL
     (SELECT p.id FROM "playerSessions" p WHERE p."playerId" = u.id AND p.logout IS NOT NULL
      ORDER BY p.login DESC, p.id DESC LIMIT 1000 OFFSET $2) old)
 RETURNING "playerId", login, logout"#;
