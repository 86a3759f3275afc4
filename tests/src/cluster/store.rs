//! The cluster's database, read by tests that count.

use anyhow::{Context, Result};
use tokio_postgres::{Client, NoTls};

/// A connection to the database.
pub struct Store {
    client: Client,
}

/// One character as the store has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// East, in tiles.
    pub x: f64,
    /// North, in tiles.
    pub z: f64,
    /// Grows by one at every handover between processes.
    pub ownership_sequence: i64,
}

impl Store {
    pub(super) async fn connect(url: &str) -> Result<Self> {
        let (client, connection) = tokio_postgres::connect(url, NoTls)
            .await
            .context(url.to_owned())?;
        tokio::spawn(async move {
            // Ends with the client; a query that fails says why.
            let _ = connection.await;
        });
        Ok(Self { client })
    }

    /// All characters.
    pub async fn characters(&self) -> Result<Vec<Row>> {
        let query = r#"SELECT id, name, "positionX"::float8, "positionZ"::float8,
            "ownershipSequence"::int8 FROM characters ORDER BY id"#;
        let rows = self.client.query(query, &[]).await.context("characters")?;
        let read = rows.iter().map(|row| {
            Ok(Row {
                id: row.try_get(0)?,
                name: row.try_get(1)?,
                x: row.try_get(2)?,
                z: row.try_get(3)?,
                ownership_sequence: row.try_get(4)?,
            })
        });
        read.collect()
    }

    /// Handovers between processes so far: how far all ownership sequences are above their first.
    pub async fn crossings(&self) -> Result<i64> {
        let query = r#"SELECT coalesce(sum("ownershipSequence" - 1), 0)::int8 FROM characters"#;
        let row = self
            .client
            .query_one(query, &[])
            .await
            .context("crossings")?;
        Ok(row.try_get(0)?)
    }
}
