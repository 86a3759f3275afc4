//! Brings the tables up to date: all missing versions in one transaction, one replica at a time.

use super::session::{Client, GenericClient};

use crate::store::error::{Result, StoreError};
use crate::store::migrations::MIGRATIONS;

/// Only one migration runs at a time in a database; the number is ours alone.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7453010371)";

pub(super) async fn migrate(client: &mut Client) -> Result<()> {
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("SET LOCAL statement_timeout = '100s'; SET LOCAL lock_timeout = '60s'")
        .await?;
    transaction.batch_execute(LOCK).await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS tilestead_migrations
               (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
        )
        .await?;
    let query = "SELECT coalesce(max(version), 0) FROM tilestead_migrations";
    let applied: i32 = transaction.query_one(query, &[]).await?.try_get(0)?;
    let mut version = 0;
    for migration in MIGRATIONS {
        version += 1;
        if version > applied {
            transaction.batch_execute(migration.postgres).await?;
            let note = "INSERT INTO tilestead_migrations (version) VALUES ($1)";
            transaction.execute(note, &[&version]).await?;
            tracing::info!(version, "the tables were brought up to date");
        }
    }
    if applied > version {
        let text = format!("a newer version made the tables ({applied})");
        return Err(StoreError::Broken(text));
    }
    transaction.commit().await?;
    Ok(())
}
