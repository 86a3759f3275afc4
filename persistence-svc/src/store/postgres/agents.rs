//! Agents in PostgreSQL.

use super::session::{GenericClient, Transaction};
use tokio_postgres::error::SqlState;
use tonic::async_trait;

use super::runs::alive;
use super::sessions::enter;
use super::{Postgres, Values, all};
use crate::store::agents::{
    AGENT, Agent, BANNED, Bounds, COUNTS, CREDENTIAL, CREDENTIALS_MAX, Counts, Credential, FROM,
    IDLE, Order, Orders, Registration, Removed, Report,
};
use crate::store::error::{Result, StoreError};
use crate::store::model::OpenSession;
use crate::store::row::FromRow;
use crate::store::{Agents, new_id};

#[async_trait]
impl Agents for Postgres {
    async fn register_agent(&self, ask: Registration, bounds: Bounds) -> Result<Agent> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let known = r#"SELECT id FROM characters WHERE id = $1 AND "accountId" = $2 FOR UPDATE"#;
        let values: Values<'_> = &[&ask.character_id, &ask.account_id];
        if transaction.query_opt(known, values).await?.is_none() {
            return Err(StoreError::NotFound("character"));
        }
        let id = match ask.agent_id.as_str() {
            "" => new_id(),
            id => id.to_owned(),
        };
        let put = transaction
            .prepare_cached(
                "INSERT INTO agent_mappings
                   (agent_id, account_id, character_id, agent_name, created_at, updated_at, version,
                    heeded_at)
                 VALUES ($1, $2, $3, $4, tilestead_now_ms(), tilestead_now_ms(), 0,
                   tilestead_now_ms())
                 ON CONFLICT (agent_id) DO UPDATE
                   SET agent_name = excluded.agent_name, updated_at = excluded.updated_at
                   WHERE agent_mappings.account_id = $2 AND agent_mappings.character_id = $3",
            )
            .await?;
        let values: Values<'_> = &[&id, &ask.account_id, &ask.character_id, &ask.name];
        match transaction.execute(&put, values).await {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(StoreError::AgentTaken);
            }
            Ok(0) => return Err(StoreError::AgentTaken),
            made => made?,
        };
        // Every change of agents locks the agent's row before the number.
        if find(&transaction, &id, "").await?.orders.version == 0 {
            let version = next_version(&transaction).await?;
            let first = "UPDATE agent_mappings SET version = $2 WHERE agent_id = $1";
            transaction.execute(first, &[&id, &version]).await?;
            // The transaction that holds the number counts alone.
            bounds.hold(counts(&transaction, &ask.account_id).await?)?;
        }
        let mark = r#"UPDATE characters SET "isAgent" = 1 WHERE id = $1"#;
        transaction.execute(mark, &[&ask.character_id]).await?;
        let made = find(&transaction, &id, "").await?;
        transaction.commit().await?;
        Ok(made)
    }

    async fn agent(&self, id: &str) -> Result<Agent> {
        find(&self.client().await?, id, "").await
    }

    async fn agents_of(&self, account: &str) -> Result<Vec<Agent>> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(&format!(
                "SELECT {AGENT} FROM {FROM} WHERE a.account_id = $1
                 ORDER BY a.created_at, a.agent_id"
            ))
            .await?;
        let rows = client.query(&statement, &[&account]).await?;
        all(&rows)
    }

    async fn remove_agent(&self, account: &str, id: &str) -> Result<Removed> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let found = owned(&transaction, account, id).await?;
        let ended = credentials(&transaction, account, Some(id)).await?;
        let version = next_version(&transaction).await?;
        let gone = "DELETE FROM agent_mappings WHERE agent_id = $1";
        transaction.execute(gone, &[&id]).await?;
        let character = found.orders.character_id;
        let mark = r#"UPDATE characters SET "isAgent" = 0 WHERE id = $1"#;
        transaction.execute(mark, &[&character]).await?;
        transaction.commit().await?;
        Ok(Removed {
            orders: Orders::none(character, version),
            region: found.region,
            ended,
        })
    }

    async fn order_agent(
        &self,
        account: &str,
        id: &str,
        order: Order,
        bounds: Bounds,
    ) -> Result<Agent> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let found = owned(&transaction, account, id).await?;
        let Some((active, paused, goal)) = found.after(&order) else {
            if !order.rests() {
                let heed = "UPDATE agent_mappings SET heeded_at = tilestead_now_ms()
                            WHERE agent_id = $1";
                transaction.execute(heed, &[&id]).await?;
                transaction.commit().await?;
            }
            return Ok(found);
        };
        let version = next_version(&transaction).await?;
        let statement = transaction
            .prepare_cached(
                "UPDATE agent_mappings SET version = $2, active = $3, paused = $4, goal_id = $5,
                   progress = CASE WHEN $6 THEN 0 ELSE progress END,
                   goal_since = CASE WHEN NOT $6 THEN goal_since
                     WHEN $5::text IS NULL THEN 0 ELSE tilestead_now_ms() END,
                   heeded_at = CASE WHEN $7 THEN heeded_at ELSE tilestead_now_ms() END,
                   resting = $7, updated_at = tilestead_now_ms() WHERE agent_id = $1",
            )
            .await?;
        let (begins, rests) = (order.begins(), order.rests());
        let values: Values<'_> = &[&id, &version, &active, &paused, &goal, &begins, &rests];
        transaction.execute(&statement, values).await?;
        if active && !found.orders.active {
            bounds.hold_world(counts(&transaction, account).await?)?;
        }
        let ordered = find(&transaction, id, "").await?;
        transaction.commit().await?;
        Ok(ordered)
    }

    async fn heed_agents(&self, accounts: Vec<String>) -> Result<()> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(
                // Locks the rows in the order of `note`, so that neither waits for the other.
                "UPDATE agent_mappings SET heeded_at = tilestead_now_ms() WHERE agent_id IN
                   (SELECT agent_id FROM agent_mappings WHERE account_id = ANY($1)
                    ORDER BY character_id FOR UPDATE)",
            )
            .await?;
        client.execute(&statement, &[&accounts]).await?;
        Ok(())
    }

    async fn idle_agents(&self, idle_ms: i64, most: i64) -> Result<(Vec<(String, String)>, i64)> {
        let client = self.client().await?;
        let now = "SELECT tilestead_now_ms()";
        let now: i64 = client.query_one(now, &[]).await?.try_get(0)?;
        let before = now - idle_ms;
        let statement = client.prepare_cached(IDLE).await?;
        let rows = client.query(&statement, &[&before, &most]).await?;
        Ok((all(&rows)?, before))
    }

    async fn add_credential(&self, ask: Credential) -> Result<Credential> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        // The lock on the account's row: one transaction at a time counts its tokens.
        let lock = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
        transaction.query_opt(lock, &[&ask.account_id]).await?;
        let found = owned(&transaction, &ask.account_id, &ask.agent_id).await?;
        let old = "DELETE FROM agent_credentials WHERE expires_at <= tilestead_now_ms()";
        transaction.execute(old, &[]).await?;
        let good = credentials(&transaction, &ask.account_id, None).await?;
        let good = good.len() as i64;
        if good >= CREDENTIALS_MAX {
            return Err(StoreError::TooManyCredentials(good));
        }
        let statement = transaction
            .prepare_cached(&format!(
                "INSERT INTO agent_credentials ({CREDENTIAL})
                 VALUES ($1, $2, $3, $4, tilestead_now_ms(), $5, false) RETURNING {CREDENTIAL}"
            ))
            .await?;
        let values: Values<'_> = &[
            &ask.token_id,
            &ask.agent_id,
            &ask.account_id,
            &found.orders.character_id,
            &ask.expires_ms,
        ];
        let made = Credential::from_row(&transaction.query_one(&statement, values).await?)?;
        transaction.commit().await?;
        Ok(made)
    }

    async fn credentials(&self, account: &str, agent: Option<&str>) -> Result<Vec<Credential>> {
        credentials(&self.client().await?, account, agent).await
    }

    async fn revoke_credential(&self, account: &str, token: &str) -> Result<Credential> {
        let client = self.client().await?;
        let statement = client
            .prepare_cached(&format!(
                "UPDATE agent_credentials SET revoked = true
                 WHERE token_id = $1 AND account_id = $2 RETURNING {CREDENTIAL}"
            ))
            .await?;
        let row = client.query_opt(&statement, &[&token, &account]).await?;
        let row = row.ok_or(StoreError::NotFound("credential"))?;
        Ok(Credential::from_row(&row)?)
    }

    async fn agents_of_run(&self, run: i64, reports: Vec<Report>) -> Result<(Vec<Orders>, i64)> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        alive(&transaction, run).await?;
        note(&transaction, &reports).await?;
        // Read before the rows: every order with a lower number is among them.
        let last: i64 = transaction
            .query_one("SELECT last FROM agent_orders", &[])
            .await?
            .try_get(0)?;
        if last == 0 {
            // Nobody has ever registered an agent. So the service looks for none among all players.
            transaction.commit().await?;
            return Ok((Vec::new(), last));
        }
        let statement = transaction
            .prepare_cached(&format!(
                r#"SELECT {AGENT} FROM {FROM}
                   JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ"
                   WHERE c.online AND r.run_id = $1
                     AND NOT EXISTS ({BANNED} tilestead_now_ms()))
                   ORDER BY a.character_id"#
            ))
            .await?;
        let rows = transaction.query(&statement, &[&run]).await?;
        let agents: Vec<Agent> = all(&rows)?;
        transaction.commit().await?;
        Ok((agents.into_iter().map(|agent| agent.orders).collect(), last))
    }

    async fn wake_agents(&self, only: Option<&str>, most: i64) -> Result<u64> {
        let mut client = self.client().await?;
        let statement = client
            .prepare_cached(&format!(
                "SELECT a.account_id, a.character_id FROM {FROM}
                 WHERE a.active AND NOT c.online AND NOT c.quarantined
                   AND ($1::text IS NULL OR a.character_id = $1)
                   AND NOT EXISTS ({BANNED} tilestead_now_ms())) LIMIT $2"
            ))
            .await?;
        let asleep = client.query(&statement, &[&only, &most]).await?;
        let mut woken = 0;
        for row in asleep {
            let transaction = client.transaction().await?;
            let ask = OpenSession::of_agent(row.try_get(0)?, row.try_get(1)?);
            let entered = enter(&transaction, &[ask], true).await?;
            transaction.commit().await?;
            for entered in entered {
                woken += u64::from(entered?.is_some());
            }
        }
        Ok(woken)
    }
}

/// Returns the answer to [`COUNTS`].
async fn counts(transaction: &Transaction<'_>, account: &str) -> Result<Counts> {
    let statement = transaction.prepare_cached(COUNTS).await?;
    let row = transaction.query_one(&statement, &[&account]).await?;
    Ok(Counts::from_row(&row)?)
}

/// Notes a run's reports about goals.
async fn note(transaction: &Transaction<'_>, reports: &[Report]) -> Result<()> {
    if reports.is_empty() {
        return Ok(());
    }
    // Locks the rows by id, so that two runs that know of the same agents never wait for each
    // other.
    let ids: Vec<&str> = reports.iter().map(|r| r.character_id.as_str()).collect();
    let lock = transaction
        .prepare_cached(
            "SELECT 1 FROM agent_mappings WHERE character_id = ANY($1)
             ORDER BY character_id FOR UPDATE",
        )
        .await?;
    transaction.query(&lock, &[&ids]).await?;
    let versions: Vec<i64> = reports.iter().map(|r| r.version).collect();
    let progress: Vec<i32> = reports.iter().map(|r| r.progress).collect();
    let over: Vec<bool> = reports.iter().map(|r| r.over).collect();
    let statement = transaction
        .prepare_cached(
            "UPDATE agent_mappings a SET progress = u.progress,
               goal_id = CASE WHEN u.over THEN NULL ELSE a.goal_id END
             FROM UNNEST($1::text[], $2::bigint[], $3::integer[], $4::boolean[])
               AS u (id, version, progress, over)
             WHERE a.character_id = u.id AND a.version = u.version",
        )
        .await?;
    let values: Values<'_> = &[&ids, &versions, &progress, &over];
    transaction.execute(&statement, values).await?;
    Ok(())
}

/// Takes the number of the next order. The transaction that has it holds up all others until it
/// ends, so that a number is visible only when all lower ones are.
async fn next_version(transaction: &Transaction<'_>) -> Result<i64> {
    let next = "UPDATE agent_orders SET last = last + 1 RETURNING last";
    Ok(transaction.query_one(next, &[]).await?.try_get(0)?)
}

async fn find<C: GenericClient>(client: &C, id: &str, lock: &str) -> Result<Agent> {
    let statement = client
        .prepare_cached(&format!(
            "SELECT {AGENT} FROM {FROM} WHERE a.agent_id = $1 {lock}"
        ))
        .await?;
    let row = client.query_opt(&statement, &[&id]).await?;
    Ok(Agent::from_row(&row.ok_or(StoreError::NotFound("agent"))?)?)
}

/// Returns an agent of this account, and locks it with its character.
async fn owned(transaction: &Transaction<'_>, account: &str, id: &str) -> Result<Agent> {
    let found = find(transaction, id, "FOR UPDATE OF c, a").await?;
    if found.account_id == account {
        Ok(found)
    } else {
        Err(StoreError::NotFound("agent"))
    }
}

/// Returns the tokens that have not ended, newest first.
async fn credentials<C: GenericClient>(
    client: &C,
    account: &str,
    agent: Option<&str>,
) -> Result<Vec<Credential>> {
    let statement = client
        .prepare_cached(&format!(
            "SELECT {CREDENTIAL} FROM agent_credentials
             WHERE account_id = $1 AND ($2::text IS NULL OR agent_id = $2)
               AND expires_at > tilestead_now_ms() AND NOT revoked
             ORDER BY created_at DESC, token_id"
        ))
        .await?;
    let rows = client.query(&statement, &[&account, &agent]).await?;
    all(&rows)
}
