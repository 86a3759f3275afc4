//! The cluster's database, read by tests that count.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use tokio_postgres::{Client, NoTls, types::ToSql};

use crate::{bot::Held, chaos::oracle::AllHeld};

/// A connection to the database.
pub struct Store {
    client: Client,
}

/// The greatest numbers that the store has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Incarnation.
    pub incarnation: i64,
    /// Numbers of runs.
    pub run: i64,
    /// Epochs of regions.
    pub region_epoch: i64,
    /// Epochs of sessions.
    pub session_epoch: i64,
    /// Ownership sequences of characters.
    pub ownership_sequence: i64,
    /// Versions of the directory.
    pub directory: i64,
    /// Versions of sanctions.
    pub sanctions: i64,
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

    /// Returns all characters.
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

    /// Keeps a character out of the world, as the store does where its data are broken.
    pub async fn hold(&self, character_id: &str) -> Result<()> {
        let query = "UPDATE characters SET quarantined = true WHERE id = $1";
        let held = self
            .client
            .execute(query, &[&character_id])
            .await
            .context("hold")?;
        anyhow::ensure!(held == 1, "there is no character {character_id}");
        Ok(())
    }

    /// Puts any one thing into the pack of a character that is not in the world.
    pub async fn pack(&self, character_id: &str, slot: i32, item: &str) -> Result<()> {
        let query = r#"INSERT INTO inventory ("playerId", "slotIndex", "itemId", quantity)
            VALUES ($1, $2, $3, 1)"#;
        let row: [&(dyn ToSql + Sync); 3] = [&character_id, &slot, &item];
        self.client.execute(query, &row).await.context("pack")?;
        Ok(())
    }

    /// Returns the greatest numbers that it has given.
    pub async fn numbers(&self) -> Result<Numbers> {
        let query = r#"SELECT (SELECT value FROM incarnation), (SELECT max(id) FROM runs),
              (SELECT max(epoch) FROM regions), (SELECT max("sessionEpoch") FROM characters),
              (SELECT max("ownershipSequence") FROM characters),
              (SELECT version FROM directory), (SELECT version FROM identity)"#;
        let row = self.client.query_one(query, &[]).await.context("numbers")?;
        Ok(Numbers {
            incarnation: row.try_get(0)?,
            run: row.try_get(1)?,
            region_epoch: row.try_get(2)?,
            session_epoch: row.try_get(3)?,
            ownership_sequence: row.try_get(4)?,
            directory: row.try_get(5)?,
            sanctions: row.try_get(6)?,
        })
    }

    /// Returns the time by PostgreSQL's clock, as it reads times.
    pub async fn time(&self) -> Result<String> {
        let query = "SELECT clock_timestamp()::text";
        let row = self.client.query_one(query, &[]).await.context("time")?;
        Ok(row.try_get(0)?)
    }

    /// Returns the part of the log into which PostgreSQL writes now, and the last one that is in the
    /// archive; empty: none is.
    pub async fn log_parts(&self) -> Result<(String, String)> {
        let query = "SELECT pg_walfile_name(pg_current_wal_lsn()), coalesce(last_archived_wal, '')
            FROM pg_stat_archiver";
        let row = self.client.query_one(query, &[]).await.context("log")?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    /// Returns the number of regions of the world.
    pub async fn regions(&self) -> Result<usize> {
        let row = self
            .client
            .query_one("SELECT count(*)::int8 FROM regions", &[])
            .await
            .context("regions")?;
        Ok(usize::try_from(row.try_get::<_, i64>(0)?)?)
    }

    /// Returns online characters of the regions of a run.
    pub async fn played_by(&self, run: u64) -> Result<Vec<String>> {
        let query = r#"SELECT c.id FROM characters c
            JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ"
            WHERE c.online AND r.run_id = $1 ORDER BY c.id"#;
        let run = i64::try_from(run)?;
        let rows = self.client.query(query, &[&run]).await.context("played")?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Returns the cost of each run's regions, in microseconds a tick.
    pub async fn loads(&self) -> Result<BTreeMap<i64, f64>> {
        let query = "SELECT run_id, sum(cost_us)::float8 FROM regions WHERE run_id <> 0 GROUP BY 1";
        let rows = self.client.query(query, &[]).await.context("loads")?;
        let read = |row: &tokio_postgres::Row| Ok((row.try_get(0)?, row.try_get(1)?));
        rows.iter().map(read).collect()
    }

    /// Returns online characters of regions whose owner is not a run that lives.
    pub async fn nowhere(&self) -> Result<Vec<String>> {
        let query = r#"SELECT c.id FROM characters c
            LEFT JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ"
            LEFT JOIN runs o ON o.id = r.run_id AND o.state <> 'fenced'
            WHERE c.online AND o.id IS NULL ORDER BY c.id"#;
        let rows = self.client.query(query, &[]).await.context("nowhere")?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Returns the store's account of a character, for the reader of a failure.
    pub async fn whereabouts(&self, id: &str) -> Result<String> {
        let query = r#"SELECT format('online %s region %s,%s of run %s at %s,%s sequence %s epoch %s',
              c.online, c."regionX", c."regionZ", r.run_id, c."positionX", c."positionZ",
              c."ownershipSequence", c."sessionEpoch")
            FROM characters c
            LEFT JOIN regions r ON r.region_x = c."regionX" AND r.region_z = c."regionZ"
            WHERE c.id = $1"#;
        let row = self.client.query_opt(query, &[&id]).await;
        let row = row.context("whereabouts")?;
        row.map_or(Ok("nowhere".to_owned()), |row| Ok(row.try_get(0)?))
    }

    /// Returns the possessions of every character.
    pub async fn held(&self) -> Result<AllHeld> {
        let mut all = AllHeld::new();
        let query = "SELECT id, coins::int8 FROM characters";
        for row in self.client.query(query, &[]).await.context("coins")? {
            let coins = u64::try_from(row.try_get::<_, i64>(1)?)?;
            let held: &mut Held = all.entry(row.try_get(0)?).or_default();
            held.coins = coins;
        }
        let query = r#"SELECT "playerId", "itemId", sum(quantity)::int8 FROM inventory
            GROUP BY 1, 2"#;
        for row in self.client.query(query, &[]).await.context("packs")? {
            let quantity = u64::try_from(row.try_get::<_, i64>(2)?)?;
            let held = all.entry(row.try_get(0)?).or_default();
            held.items.insert(row.try_get(1)?, quantity);
        }
        Ok(all)
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
