//! Brings the tables up to date: all missing versions in one transaction, one replica at a time.

use super::session::{Client, GenericClient};

use crate::store::error::Result;
use crate::store::migrations::{self, Layout};

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
    transaction
        .batch_execute(
            "ALTER TABLE tilestead_migrations
               ADD COLUMN IF NOT EXISTS oldest integer NOT NULL DEFAULT 1",
        )
        .await?;
    let query = "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0)
        FROM tilestead_migrations";
    let row = transaction.query_one(query, &[]).await?;
    let (applied, oldest): (i32, i32) = (row.try_get(0)?, row.try_get(1)?);
    let layout = Layout {
        applied: applied.unsigned_abs(),
        oldest: oldest.unsigned_abs(),
    };
    for (version, migration) in migrations::missing(layout)? {
        transaction.batch_execute(migration.postgres).await?;
        let note = "INSERT INTO tilestead_migrations (version, oldest) VALUES ($1, $2)";
        let row = [version, migration.oldest].map(u32::cast_signed);
        transaction.execute(note, &[&row[0], &row[1]]).await?;
        tracing::info!(version, "the tables were brought up to date");
    }
    transaction.commit().await?;
    Ok(())
}
