//! Identity in PostgreSQL.

use proto::rpc::OPERATOR_ROLE;
use tonic::async_trait;

use super::accounts::signed_in;
use super::directory::{bump, notify};
use super::session::{GenericClient, Transaction};
use super::{Postgres, Values, all, passwords};
use crate::store::error::{Result, StoreError};
use crate::store::identity::{
    Act, Claim, DONE, Done, Found, OTHER_OPERATOR, SANCTION, SANCTIONS_MAX, Sanction, Subject,
    claim,
};
use crate::store::model::SignedIn;
use crate::store::{CHARACTERS_MAX, Identity, new_id, roles, subject_name};

const BANNED: &str = "SELECT 1 FROM sanctions WHERE id = 'ban:' || $1
                        AND (until IS NULL OR until > tilestead_now_ms())";

#[async_trait]
impl Identity for Postgres {
    async fn sign_in_subject(&self, ask: Subject) -> Result<SignedIn> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        // Logins of one subject run one after the other, even before there is a row to lock.
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 7453))";
        transaction.execute(lock, &[&ask.subject]).await?;
        let own = r#"SELECT id FROM users WHERE "privyUserId" = $1 FOR UPDATE"#;
        let own = transaction.query_opt(own, &[&ask.subject]).await?;
        let own: Option<String> = own.map(|row| row.try_get(0)).transpose()?;
        let keyed = keyed(&transaction, &ask).await?;
        let found = Found {
            own: own.as_deref(),
            keyed: keyed
                .as_ref()
                .map(|(id, anonymous)| (id.as_str(), *anonymous)),
        };
        let mut created = false;
        match (claim(found)?, &own, &keyed) {
            (Claim::Becomes, _, Some((id, _))) => make_own(&transaction, id, &ask.subject).await?,
            (Claim::Moves, Some(own), Some((id, _))) => move_to(&transaction, id, own).await?,
            (_, None, _) => {
                created = true;
                let make = r#"INSERT INTO users (id, name, anonymous, "privyUserId", "createdAt")
                              VALUES ($1, $2, false, $3, tilestead_now_ms())"#;
                let values: Values<'_> = &[&new_id(), &subject_name(), &ask.subject];
                transaction.execute(make, values).await?;
            }
            _ => {}
        }
        transaction.commit().await?;
        let by = r#""privyUserId" = $1"#;
        let found = signed_in(&client, by, &[&ask.subject], created).await?;
        found.ok_or(StoreError::NotFound("account"))
    }

    async fn revoke(&self, account: &str, ids: Vec<String>, until_ms: i64) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        for id in &ids {
            let version = next_version(&transaction).await?;
            write(
                &transaction,
                &Sanction::revoked(account, id, until_ms, version),
            )
            .await?;
        }
        passwords::forget(&transaction, account, &ids).await?;
        notify(&transaction).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn moderate(&self, act: Act) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        // Locks a row, so that of two actions at once the later one sees what the other did.
        let version = next_version(&transaction).await?;
        if !act.action.of_all() {
            set_roles(&transaction, &act).await?;
        }
        if let Some(frozen) = act.action.frozen() {
            let set = "UPDATE switches SET frozen = $1 WHERE frozen <> $1";
            if transaction.execute(set, &[&frozen]).await? == 1 {
                bump(&transaction).await?;
            }
        }
        let now = "SELECT tilestead_now_ms()";
        let now: i64 = transaction.query_one(now, &[]).await?.try_get(0)?;
        if let Some(sanction) = act.sanction(now, version, &new_id()) {
            write(&transaction, &sanction).await?;
        }
        let record = r#"INSERT INTO audit_log (at, "by", action, "accountId", "characterId", detail)
                        VALUES ($1, $2, $3, $4, $5, $6)"#;
        let (action, detail) = (act.action.name(), act.detail());
        let values: Values<'_> = &[
            &now,
            &act.by,
            &action,
            &act.account_id,
            &act.character_id,
            &detail,
        ];
        transaction.execute(record, values).await?;
        notify(&transaction).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn sanctions_version(&self) -> Result<i64> {
        let client = self.client().await?;
        let query = "SELECT version FROM identity";
        let statement = client.prepare_cached(query).await?;
        Ok(client.query_one(&statement, &[]).await?.try_get(0)?)
    }

    async fn sanctions_since(&self, since: i64) -> Result<Vec<Sanction>> {
        // A first read leaves out sanctions that are over. A later read returns them, because the
        // caller may still hold them as open.
        let query = format!(
            "SELECT {SANCTION} FROM sanctions
             WHERE version > $1 AND ($1 > 0 OR until IS NULL OR until > tilestead_now_ms())
             ORDER BY version LIMIT $2"
        );
        let client = self.client().await?;
        let statement = client.prepare_cached(&query).await?;
        let rows = client.query(&statement, &[&since, &SANCTIONS_MAX]).await?;
        rows.iter().map(Sanction::from_row).collect()
    }

    async fn sanctions_of(&self, account: &str) -> Result<Vec<Sanction>> {
        let query = format!(
            r#"SELECT {SANCTION} FROM sanctions WHERE "accountId" = $1
                 AND (until IS NULL OR until > tilestead_now_ms())
               ORDER BY version DESC LIMIT $2"#
        );
        let client = self.client().await?;
        let statement = client.prepare_cached(&query).await?;
        let rows = client
            .query(&statement, &[&account, &SANCTIONS_MAX])
            .await?;
        rows.iter().map(Sanction::from_row).collect()
    }

    async fn roles_of(&self, account: &str) -> Result<Vec<String>> {
        let query = "SELECT roles FROM users WHERE id = $1";
        let client = self.client().await?;
        let statement = client.prepare_cached(query).await?;
        let row = client.query_opt(&statement, &[&account]).await?;
        row.map_or(Ok(Vec::new()), |row| Ok(roles(row.try_get(0)?)))
    }

    async fn sanctions(&self, before: Option<i64>, most: i64) -> Result<Vec<Sanction>> {
        let query = format!(
            "SELECT {SANCTION} FROM sanctions WHERE kind IN ('ban', 'mute')
               AND version < $1 AND (until IS NULL OR until > tilestead_now_ms())
             ORDER BY version DESC LIMIT $2"
        );
        let before = before.unwrap_or(i64::MAX);
        let client = self.client().await?;
        let rows = client.query(&query, &[&before, &most]).await?;
        rows.iter().map(Sanction::from_row).collect()
    }

    async fn audit_log(&self, before: Option<i64>, most: i64) -> Result<Vec<Done>> {
        let before = before.unwrap_or(i64::MAX);
        let client = self.client().await?;
        all(&client.query(DONE, &[&before, &most]).await?)
    }

    async fn prune_sanctions(&self, older_ms: i64, most: i64) -> Result<u64> {
        let remove = "DELETE FROM sanctions WHERE id IN
                        (SELECT id FROM sanctions WHERE until < tilestead_now_ms() - $1 LIMIT $2)";
        let client = self.client().await?;
        Ok(client.execute(remove, &[&older_ms, &most]).await?)
    }
}

/// Locks the account of the claimed key. Returns it, and whether it is still anonymous.
async fn keyed(transaction: &Transaction<'_>, ask: &Subject) -> Result<Option<(String, bool)>> {
    let Some(key) = &ask.device_key else {
        return Ok(None);
    };
    let query = r#"SELECT id, anonymous FROM users WHERE "deviceKeyHash" = $1 FOR UPDATE"#;
    let Some(row) = transaction.query_opt(query, &[&&key[..]]).await? else {
        return Ok(None);
    };
    let found: (String, bool) = (row.try_get(0)?, row.try_get(1)?);
    if transaction.query_opt(BANNED, &[&found.0]).await?.is_some() {
        return Err(StoreError::Banned);
    }
    Ok(Some(found))
}

/// Gives the anonymous account to the subject.
async fn make_own(transaction: &Transaction<'_>, id: &str, subject: &str) -> Result<()> {
    let claim = r#"UPDATE users SET "privyUserId" = $2, anonymous = false WHERE id = $1"#;
    transaction.execute(claim, &[&id, &subject]).await?;
    Ok(())
}

/// Moves all characters of one account to another, and its mute.
async fn move_to(transaction: &Transaction<'_>, from: &str, to: &str) -> Result<()> {
    let count = r#"SELECT count(*) FILTER (WHERE "accountId" = $1), count(*),
                     coalesce(bool_or(online) FILTER (WHERE "accountId" = $1), false)
                   FROM characters WHERE "accountId" IN ($1, $2)"#;
    let row = transaction.query_one(count, &[&from, &to]).await?;
    let (moving, all, online): (i64, i64, bool) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if moving == 0 {
        return Ok(());
    }
    if online {
        return Err(StoreError::InWorld);
    }
    if all > CHARACTERS_MAX {
        return Err(StoreError::Full(all - moving));
    }
    // A character that came into the world since then does not move, and then nothing moves.
    let moves = r#"UPDATE characters SET "accountId" = $2 WHERE "accountId" = $1 AND NOT online"#;
    if transaction.execute(moves, &[&from, &to]).await? != moving.unsigned_abs() {
        return Err(StoreError::InWorld);
    }
    let agents = "UPDATE agent_mappings SET account_id = $2 WHERE account_id = $1";
    transaction.execute(agents, &[&from, &to]).await?;
    let credentials = "UPDATE agent_credentials SET revoked = true WHERE account_id = $1";
    transaction.execute(credentials, &[&from]).await?;
    let version = next_version(transaction).await?;
    let mute = r#"INSERT INTO sanctions
                    (id, kind, "accountId", subject, reason, until, "by", at, version)
                  SELECT 'mute:' || $2, kind, $2, '', reason, until, "by", at, $3 FROM sanctions
                  WHERE id = 'mute:' || $1 AND (until IS NULL OR until > tilestead_now_ms())
                  ON CONFLICT (id) DO NOTHING"#;
    let values: Values<'_> = &[&from, &to, &version];
    transaction.execute(mute, values).await?;
    notify(transaction).await
}

/// Gives the account of an action the roles that it has from then on.
async fn set_roles(transaction: &Transaction<'_>, act: &Act) -> Result<()> {
    let account = &act.account_id;
    let known = "SELECT roles FROM users WHERE id = $1";
    let own = transaction.query_opt(known, &[account]).await?;
    let own = roles(own.ok_or(StoreError::NotFound("account"))?.try_get(0)?);
    let asked: Values<'_> = &[account, &OPERATOR_ROLE];
    let others = transaction.query_one(OTHER_OPERATOR, asked).await?;
    if let Some(roles) = act.new_roles(&own, others.try_get(0)?)? {
        let set = "UPDATE users SET roles = $2 WHERE id = $1";
        transaction
            .execute(set, &[account, &roles.join(",")])
            .await?;
    }
    Ok(())
}

/// Takes the next version. The next transaction waits for the commit of the one that has it.
pub(super) async fn next_version(transaction: &Transaction<'_>) -> Result<i64> {
    let next = "UPDATE identity SET version = version + 1 RETURNING version";
    Ok(transaction.query_one(next, &[]).await?.try_get(0)?)
}

pub(super) async fn write(transaction: &Transaction<'_>, sanction: &Sanction) -> Result<()> {
    let kind = sanction.kind.name();
    let values: Values<'_> = &[
        &sanction.id,
        &kind,
        &sanction.account_id,
        &sanction.subject,
        &sanction.reason,
        &sanction.until_ms,
        &sanction.by,
        &sanction.x,
        &sanction.z,
        &sanction.version,
    ];
    let upsert = r#"INSERT INTO sanctions
          (id, kind, "accountId", subject, reason, until, "by", at, x, z, version)
        VALUES ($1, $2, $3, $4, $5, $6, $7, tilestead_now_ms(), $8, $9, $10)
        ON CONFLICT (id) DO UPDATE SET reason = EXCLUDED.reason, until = EXCLUDED.until,
          "by" = EXCLUDED."by", at = EXCLUDED.at, version = EXCLUDED.version"#;
    transaction.execute(upsert, values).await?;
    Ok(())
}
