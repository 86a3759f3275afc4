//! Identity in SQLite.

use proto::rpc::OPERATOR_ROLE;
use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::accounts::signed_in;
use super::{Sqlite, Transaction, all, bump, passwords};
use crate::store::error::{Result, StoreError};
use crate::store::identity::{
    Act, Claim, DONE, Done, Found, OTHER_OPERATOR, SANCTION, SANCTIONS_MAX, Sanction, Subject,
    claim,
};
use crate::store::model::SignedIn;
use crate::store::{CHARACTERS_MAX, Identity, roles, subject_name};

#[async_trait]
impl Identity for Sqlite {
    async fn sign_in_subject(&self, ask: Subject) -> Result<SignedIn> {
        self.write(move |transaction| sign_in(transaction, &ask))
            .await
    }

    async fn revoke(&self, account: &str, ids: Vec<String>, until_ms: i64) -> Result<()> {
        let account = account.to_owned();
        self.write(move |transaction| {
            for id in &ids {
                let version = next_version(transaction)?;
                write(
                    transaction,
                    &Sanction::revoked(&account, id, until_ms, version),
                )?;
            }
            passwords::forget(transaction, &account, &ids)
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn moderate(&self, act: Act) -> Result<()> {
        self.write(move |transaction| moderate(transaction, &act))
            .await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn sanctions_version(&self) -> Result<i64> {
        self.read(|transaction| {
            let version = transaction
                .prepare_cached("SELECT version FROM identity")?
                .query_row([], |row| row.get(0))?;
            Ok(version)
        })
        .await
    }

    async fn sanctions_since(&self, since: i64) -> Result<Vec<Sanction>> {
        self.read(move |transaction| {
            // A first read leaves out sanctions that are over. A later read returns them, because the
            // caller may still hold them as open.
            let query = format!(
                "SELECT {SANCTION} FROM sanctions
                 WHERE version > ?1 AND (?1 > 0 OR until IS NULL OR until > ?2)
                 ORDER BY version LIMIT ?3"
            );
            sanctions(
                transaction,
                &query,
                params![since, transaction.now_ms(), SANCTIONS_MAX],
            )
        })
        .await
    }

    async fn sanctions_of(&self, account: &str) -> Result<Vec<Sanction>> {
        let account = account.to_owned();
        self.read(move |transaction| {
            let query = format!(
                r#"SELECT {SANCTION} FROM sanctions
                   WHERE "accountId" = ?1 AND (until IS NULL OR until > ?2)
                   ORDER BY version DESC LIMIT ?3"#
            );
            sanctions(
                transaction,
                &query,
                params![account, transaction.now_ms(), SANCTIONS_MAX],
            )
        })
        .await
    }

    async fn roles_of(&self, account: &str) -> Result<Vec<String>> {
        let account = account.to_owned();
        self.read(move |transaction| {
            let text: Option<String> = transaction
                .prepare_cached("SELECT roles FROM users WHERE id = ?1")?
                .query_row([account], |row| row.get(0))
                .optional()?;
            Ok(roles(&text.unwrap_or_default()))
        })
        .await
    }

    async fn sanctions(&self, before: Option<i64>, most: i64) -> Result<Vec<Sanction>> {
        let before = before.unwrap_or(i64::MAX);
        self.read(move |transaction| {
            let query = format!(
                "SELECT {SANCTION} FROM sanctions WHERE kind IN ('ban', 'mute')
                   AND version < ?1 AND (until IS NULL OR until > ?2)
                 ORDER BY version DESC LIMIT ?3"
            );
            sanctions(
                transaction,
                &query,
                params![before, transaction.now_ms(), most],
            )
        })
        .await
    }

    async fn audit_log(&self, before: Option<i64>, most: i64) -> Result<Vec<Done>> {
        let before = before.unwrap_or(i64::MAX);
        self.read(move |transaction| all(transaction, DONE, params![before, most]))
            .await
    }

    async fn prune_sanctions(&self, older_ms: i64, most: i64) -> Result<u64> {
        self.write(move |transaction| {
            let remove = "DELETE FROM sanctions WHERE id IN
                            (SELECT id FROM sanctions WHERE until < ?1 LIMIT ?2)";
            let removed =
                transaction.execute(remove, params![transaction.now_ms() - older_ms, most])?;
            Ok(removed as u64)
        })
        .await
    }
}

fn sign_in(transaction: &Transaction<'_>, ask: &Subject) -> Result<SignedIn> {
    let own: Option<String> = transaction
        .prepare_cached(r#"SELECT id FROM users WHERE "privyUserId" = ?1"#)?
        .query_row([&ask.subject], |row| row.get(0))
        .optional()?;
    let keyed = keyed(transaction, ask)?;
    let found = Found {
        own: own.as_deref(),
        keyed: keyed
            .as_ref()
            .map(|(id, anonymous)| (id.as_str(), *anonymous)),
    };
    let mut created = false;
    match (claim(found)?, &own, &keyed) {
        (Claim::Becomes, _, Some((id, _))) => {
            let claim = r#"UPDATE users SET "privyUserId" = ?2, anonymous = 0 WHERE id = ?1"#;
            transaction.execute(claim, params![id, ask.subject])?;
        }
        (Claim::Moves, Some(own), Some((id, _))) => move_to(transaction, id, own)?,
        (_, None, _) => {
            created = true;
            transaction.execute(
                r#"INSERT INTO users (id, name, anonymous, "privyUserId", "createdAt")
                   VALUES (?1, ?2, 0, ?3, ?4)"#,
                params![
                    transaction.new_id(),
                    subject_name(),
                    ask.subject,
                    transaction.now_ms()
                ],
            )?;
        }
        _ => {}
    }
    let by = r#""privyUserId" = ?1"#;
    let found = signed_in(transaction, by, params![ask.subject], created)?;
    found.ok_or(StoreError::NotFound("account"))
}

/// Returns the account of the claimed key, and whether it is still anonymous.
fn keyed(transaction: &Transaction<'_>, ask: &Subject) -> Result<Option<(String, bool)>> {
    let Some(key) = &ask.device_key else {
        return Ok(None);
    };
    let found: Option<(String, bool)> = transaction
        .prepare_cached(r#"SELECT id, anonymous FROM users WHERE "deviceKeyHash" = ?1"#)?
        .query_row(params![key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some(found) = found else {
        return Ok(None);
    };
    let banned: i64 = transaction.query_row(
        "SELECT count(*) FROM sanctions WHERE id = ?1 AND (until IS NULL OR until > ?2)",
        params![format!("ban:{}", found.0), transaction.now_ms()],
        |row| row.get(0),
    )?;
    if banned > 0 {
        return Err(StoreError::Banned);
    }
    Ok(Some(found))
}

/// Moves all characters of one account to another, and its mute.
fn move_to(transaction: &Transaction<'_>, from: &str, to: &str) -> Result<()> {
    let (moving, online, there): (i64, i64, i64) = transaction.query_row(
        r#"SELECT coalesce(sum("accountId" = ?1), 0),
                  coalesce(sum("accountId" = ?1 AND online), 0),
                  coalesce(sum("accountId" = ?2), 0)
           FROM characters WHERE "accountId" IN (?1, ?2)"#,
        params![from, to],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    if moving == 0 {
        return Ok(());
    }
    if online > 0 {
        return Err(StoreError::InWorld);
    }
    if moving + there > CHARACTERS_MAX {
        return Err(StoreError::Full(there));
    }
    let values = params![from, to];
    let moves = r#"UPDATE characters SET "accountId" = ?2 WHERE "accountId" = ?1"#;
    transaction.execute(moves, values)?;
    let agents = "UPDATE agent_mappings SET account_id = ?2 WHERE account_id = ?1";
    transaction.execute(agents, values)?;
    let credentials = "UPDATE agent_credentials SET revoked = 1 WHERE account_id = ?1";
    transaction.execute(credentials, params![from])?;
    let version = next_version(transaction)?;
    transaction.execute(
        r#"INSERT INTO sanctions (id, kind, "accountId", subject, reason, until, "by", at, version)
           SELECT 'mute:' || ?2, kind, ?2, '', reason, until, "by", at, ?3 FROM sanctions
           WHERE id = 'mute:' || ?1 AND (until IS NULL OR until > ?4)
           ON CONFLICT (id) DO NOTHING"#,
        params![from, to, version, transaction.now_ms()],
    )?;
    Ok(())
}

/// Gives the account of an action the roles that it has from then on.
fn set_roles(transaction: &Transaction<'_>, act: &Act) -> Result<()> {
    let account = &act.account_id;
    let known = "SELECT roles FROM users WHERE id = ?1";
    let own: Option<String> = transaction
        .query_row(known, [account], |row| row.get(0))
        .optional()?;
    let own = roles(&own.ok_or(StoreError::NotFound("account"))?);
    let asked = params![account, OPERATOR_ROLE];
    let others = transaction.query_row(OTHER_OPERATOR, asked, |row| row.get(0))?;
    if let Some(roles) = act.new_roles(&own, others)? {
        let set = "UPDATE users SET roles = ?2 WHERE id = ?1";
        transaction.execute(set, params![account, roles.join(",")])?;
    }
    Ok(())
}

fn moderate(transaction: &Transaction<'_>, act: &Act) -> Result<()> {
    if !act.action.of_all() {
        set_roles(transaction, act)?;
    }
    if let Some(frozen) = act.action.frozen() {
        let set = "UPDATE switches SET frozen = ?1 WHERE frozen <> ?1";
        if transaction.execute(set, [frozen])? == 1 {
            bump(transaction)?;
        }
    }
    let (now, version) = (transaction.now_ms(), next_version(transaction)?);
    if let Some(sanction) = act.sanction(now, version, &transaction.new_id()) {
        write(transaction, &sanction)?;
    }
    transaction.execute(
        r#"INSERT INTO audit_log (at, "by", action, "accountId", "characterId", detail)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6)"#,
        params![
            now,
            act.by,
            act.action.name(),
            act.account_id,
            act.character_id,
            act.detail()
        ],
    )?;
    Ok(())
}

pub(super) fn next_version(transaction: &Transaction<'_>) -> Result<i64> {
    let next = "UPDATE identity SET version = version + 1 RETURNING version";
    Ok(transaction.query_row(next, [], |row| row.get(0))?)
}

pub(super) fn write(transaction: &Transaction<'_>, sanction: &Sanction) -> Result<()> {
    transaction.execute(
        r#"INSERT INTO sanctions
             (id, kind, "accountId", subject, reason, until, "by", at, x, z, version)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
           ON CONFLICT (id) DO UPDATE SET reason = excluded.reason, until = excluded.until,
             "by" = excluded."by", at = excluded.at, version = excluded.version"#,
        params![
            sanction.id,
            sanction.kind.name(),
            sanction.account_id,
            sanction.subject,
            sanction.reason,
            sanction.until_ms,
            sanction.by,
            transaction.now_ms(),
            sanction.x,
            sanction.z,
            sanction.version
        ],
    )?;
    Ok(())
}

pub(super) fn sanctions(
    transaction: &Transaction<'_>,
    query: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<Vec<Sanction>> {
    let mut statement = transaction.prepare_cached(query)?;
    let mut rows = statement.query(values)?;
    let mut sanctions = Vec::new();
    while let Some(row) = rows.next()? {
        sanctions.push(Sanction::from_row(row)?);
    }
    Ok(sanctions)
}
