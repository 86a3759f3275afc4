//! Agents in SQLite.

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::runs::alive;
use super::sessions::enter;
use super::{Sqlite, Transaction, all, is_duplicate, read};
use crate::store::Agents;
use crate::store::agents::{
    AGENT, Agent, BANNED, Bounds, COUNTS, CREDENTIAL, CREDENTIALS_MAX, Counts, Credential, FROM,
    IDLE, Order, Orders, Registration, Removed, Report,
};
use crate::store::error::{Result, StoreError};
use crate::store::model::OpenSession;

#[async_trait]
impl Agents for Sqlite {
    async fn register_agent(&self, ask: Registration, bounds: Bounds) -> Result<Agent> {
        self.write(move |transaction| register(transaction, &ask, bounds))
            .await
    }

    async fn agent(&self, id: &str) -> Result<Agent> {
        let id = id.to_owned();
        self.read(move |transaction| find(transaction, &id)).await
    }

    async fn agents_of(&self, account: &str) -> Result<Vec<Agent>> {
        let account = account.to_owned();
        self.read(move |transaction| {
            let query = format!(
                "SELECT {AGENT} FROM {FROM} WHERE a.account_id = ?1
                 ORDER BY a.created_at, a.agent_id"
            );
            all(transaction, &query, [account])
        })
        .await
    }

    async fn remove_agent(&self, account: &str, id: &str) -> Result<Removed> {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.write(move |transaction| {
            let found = owned(transaction, &account, &id)?;
            let ended = credentials(transaction, &account, Some(&id), transaction.now_ms())?;
            let version = next_version(transaction)?;
            transaction.execute("DELETE FROM agent_mappings WHERE agent_id = ?1", [&id])?;
            let character = found.orders.character_id;
            transaction.execute(
                r#"UPDATE characters SET "isAgent" = 0 WHERE id = ?1"#,
                [&character],
            )?;
            Ok(Removed {
                orders: Orders::none(character, version),
                region: found.region,
                ended,
            })
        })
        .await
    }

    async fn order_agent(
        &self,
        account: &str,
        id: &str,
        order: Order,
        bounds: Bounds,
    ) -> Result<Agent> {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.write(move |transaction| {
            let found = owned(transaction, &account, &id)?;
            let Some((active, paused, goal)) = found.after(&order) else {
                if !order.rests() {
                    let heed = "UPDATE agent_mappings SET heeded_at = ?2 WHERE agent_id = ?1";
                    transaction.execute(heed, params![id, transaction.now_ms()])?;
                }
                return Ok(found);
            };
            let (version, now) = (next_version(transaction)?, transaction.now_ms());
            let since = if goal.is_some() { now } else { 0 };
            let (progress, since) = if order.begins() {
                (0, since)
            } else {
                (found.orders.progress, found.goal_since_ms)
            };
            transaction.execute(
                "UPDATE agent_mappings SET version = ?2, active = ?3, paused = ?4, goal_id = ?5,
                   progress = ?6, goal_since = ?7, updated_at = ?8, resting = ?9,
                   heeded_at = CASE WHEN ?9 THEN heeded_at ELSE ?8 END WHERE agent_id = ?1",
                params![
                    id,
                    version,
                    active,
                    paused,
                    goal,
                    progress,
                    since,
                    now,
                    order.rests()
                ],
            )?;
            if active && !found.orders.active {
                bounds.hold_world(counts(transaction, &account)?)?;
            }
            find(transaction, &id)
        })
        .await
    }

    async fn heed_agents(&self, accounts: Vec<String>) -> Result<()> {
        self.write(move |transaction| {
            let heed = "UPDATE agent_mappings SET heeded_at = ?2 WHERE account_id = ?1";
            let mut heed = transaction.prepare_cached(heed)?;
            for account in accounts {
                heed.execute(params![account, transaction.now_ms()])?;
            }
            Ok(())
        })
        .await
    }

    async fn idle_agents(&self, idle_ms: i64, most: i64) -> Result<(Vec<(String, String)>, i64)> {
        self.read(move |transaction| {
            let before = transaction.now_ms() - idle_ms;
            Ok((all(transaction, IDLE, [before, most])?, before))
        })
        .await
    }

    async fn add_credential(&self, ask: Credential) -> Result<Credential> {
        self.write(move |transaction| {
            let found = owned(transaction, &ask.account_id, &ask.agent_id)?;
            let now = transaction.now_ms();
            transaction.execute(
                "DELETE FROM agent_credentials WHERE expires_at <= ?1",
                [now],
            )?;
            let good = credentials(transaction, &ask.account_id, None, now)?.len() as i64;
            if good >= CREDENTIALS_MAX {
                return Err(StoreError::TooManyCredentials(good));
            }
            transaction.execute(
                &format!(
                    "INSERT INTO agent_credentials ({CREDENTIAL})
                          VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)"
                ),
                params![
                    ask.token_id,
                    ask.agent_id,
                    ask.account_id,
                    found.orders.character_id,
                    now,
                    ask.expires_ms
                ],
            )?;
            Ok(Credential {
                character_id: found.orders.character_id,
                created_ms: now,
                ..ask
            })
        })
        .await
    }

    async fn credentials(&self, account: &str, agent: Option<&str>) -> Result<Vec<Credential>> {
        let (account, agent) = (account.to_owned(), agent.map(str::to_owned));
        self.read(move |transaction| {
            credentials(
                transaction,
                &account,
                agent.as_deref(),
                transaction.now_ms(),
            )
        })
        .await
    }

    async fn revoke_credential(&self, account: &str, token: &str) -> Result<Credential> {
        let (account, token) = (account.to_owned(), token.to_owned());
        self.write(move |transaction| {
            transaction
                .prepare_cached(&format!(
                    "UPDATE agent_credentials SET revoked = 1
                     WHERE token_id = ?1 AND account_id = ?2 RETURNING {CREDENTIAL}"
                ))?
                .query_row([token, account], read)
                .optional()?
                .ok_or(StoreError::NotFound("credential"))
        })
        .await
    }

    async fn agents_of_run(&self, run: i64, reports: Vec<Report>) -> Result<(Vec<Orders>, i64)> {
        self.write(move |transaction| {
            alive(transaction, run)?;
            for report in &reports {
                transaction
                    .prepare_cached(
                        "UPDATE agent_mappings SET progress = ?3,
                           goal_id = CASE WHEN ?4 THEN NULL ELSE goal_id END
                         WHERE character_id = ?1 AND version = ?2",
                    )?
                    .execute(params![
                        report.character_id,
                        report.version,
                        report.progress,
                        report.over
                    ])?;
            }
            let last = transaction.query_row("SELECT last FROM agent_orders", [], |r| r.get(0))?;
            let query = format!(
                r#"SELECT {AGENT} FROM {FROM}
                   JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ"
                   WHERE c.online AND r.run_id = ?1 AND NOT EXISTS ({BANNED} ?2))
                   ORDER BY a.character_id"#
            );
            let agents: Vec<Agent> = all(transaction, &query, params![run, transaction.now_ms()])?;
            Ok((agents.into_iter().map(|agent| agent.orders).collect(), last))
        })
        .await
    }

    async fn wake_agents(&self, only: Option<&str>, most: i64) -> Result<u64> {
        let only = only.map(str::to_owned);
        self.write(move |transaction| {
            let query = format!(
                "SELECT a.account_id, a.character_id FROM {FROM}
                 WHERE a.active AND NOT c.online AND NOT c.quarantined
                   AND (?1 IS NULL OR a.character_id = ?1)
                   AND NOT EXISTS ({BANNED} ?3)) LIMIT ?2"
            );
            let values = params![only, most, transaction.now_ms()];
            let asleep: Vec<(String, String)> = all(transaction, &query, values)?;
            let mut woken = 0;
            for (account, character) in asleep {
                let ask = OpenSession::of_agent(account, character);
                woken += u64::from(enter(transaction, &ask, true)?.is_some());
            }
            Ok(woken)
        })
        .await
    }
}

/// Returns the answer to [`COUNTS`].
fn counts(transaction: &Transaction<'_>, account: &str) -> Result<Counts> {
    Ok(transaction
        .prepare_cached(COUNTS)?
        .query_row([account], read)?)
}

fn register(transaction: &Transaction<'_>, ask: &Registration, bounds: Bounds) -> Result<Agent> {
    let known: Option<String> = transaction
        .query_row(
            r#"SELECT id FROM characters WHERE id = ?1 AND "accountId" = ?2"#,
            [&ask.character_id, &ask.account_id],
            |row| row.get(0),
        )
        .optional()?;
    if known.is_none() {
        return Err(StoreError::NotFound("character"));
    }
    let id = match ask.agent_id.as_str() {
        "" => transaction.new_id(),
        id => id.to_owned(),
    };
    let (version, now) = (next_version(transaction)?, transaction.now_ms());
    let made = transaction.execute(
        "INSERT INTO agent_mappings
           (agent_id, account_id, character_id, agent_name, created_at, updated_at, version,
            heeded_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?5)
         ON CONFLICT (agent_id) DO UPDATE SET agent_name = ?4, updated_at = ?5
           WHERE agent_mappings.account_id = ?2 AND agent_mappings.character_id = ?3",
        params![id, ask.account_id, ask.character_id, ask.name, now, version],
    );
    match made {
        Err(error) if is_duplicate(&error) => return Err(StoreError::AgentTaken),
        Ok(0) => return Err(StoreError::AgentTaken),
        made => made?,
    };
    transaction.execute(
        r#"UPDATE characters SET "isAgent" = 1 WHERE id = ?1"#,
        [&ask.character_id],
    )?;
    let made = find(transaction, &id)?;
    if made.orders.version == version {
        bounds.hold(counts(transaction, &ask.account_id)?)?;
    }
    Ok(made)
}

/// Takes the number of the next order.
fn next_version(transaction: &Transaction<'_>) -> Result<i64> {
    let next = "UPDATE agent_orders SET last = last + 1 RETURNING last";
    Ok(transaction.query_row(next, [], |row| row.get(0))?)
}

fn find(transaction: &Transaction<'_>, id: &str) -> Result<Agent> {
    transaction
        .prepare_cached(&format!("SELECT {AGENT} FROM {FROM} WHERE a.agent_id = ?1"))?
        .query_row([id], read)
        .optional()?
        .ok_or(StoreError::NotFound("agent"))
}

/// Returns an agent of this account.
fn owned(transaction: &Transaction<'_>, account: &str, id: &str) -> Result<Agent> {
    let found = find(transaction, id)?;
    if found.account_id == account {
        Ok(found)
    } else {
        Err(StoreError::NotFound("agent"))
    }
}

/// Returns the tokens that have not ended, newest first.
fn credentials(
    transaction: &Transaction<'_>,
    account: &str,
    agent: Option<&str>,
    now: i64,
) -> Result<Vec<Credential>> {
    let query = format!(
        "SELECT {CREDENTIAL} FROM agent_credentials
         WHERE account_id = ?1 AND (?2 IS NULL OR agent_id = ?2) AND expires_at > ?3
           AND NOT revoked ORDER BY created_at DESC, token_id"
    );
    all(transaction, &query, params![account, agent, now])
}
