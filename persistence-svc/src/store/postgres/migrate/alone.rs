//! Steps outside a transaction: indexes that are built beside reads and writes, and the like.
//!
//! Always: a server may still be at work on the statement of a process that has gone. Whoever
//! follows waits for it, and builds an index anew only if it was left half built.

use std::pin::pin;
use std::time::Instant;

use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;

use super::{PAUSE, Run, TELL_EVERY};
use crate::store::error::{Result, StoreError};
use crate::store::migrations::steps::Index;
use crate::store::postgres::session::{Client, GenericClient};

/// How often an index is built before the migration gives up.
const BUILDS_MAX: u32 = 3;

/// State of an index in the database.
enum Found {
    Absent,
    /// Another connection builds something on the table.
    Building,
    /// A build failed halfway: the index costs writes and serves no reads.
    Invalid,
    Valid,
}

impl Run<'_> {
    /// Carries out a statement outside a transaction, however long it takes.
    pub(super) async fn alone(&self, name: &str, text: &str) -> Result<()> {
        let client = self.store.direct_client().await?;
        if !client.is_pooled() {
            // A lock of this kind keeps no play waiting; a build waits for every older transaction.
            let limits = "SET statement_timeout = 0; SET lock_timeout = 0";
            client.outside_transaction(limits).await?;
        }
        let begun = Instant::now();
        let mut work = pin!(async {
            match Index::read(text) {
                Some(index) => build(&client, &index, text).await,
                None => Ok(client.outside_transaction(text).await?),
            }
        });
        loop {
            if let Ok(done) = timeout(TELL_EVERY, work.as_mut()).await {
                return done;
            }
            let seconds = begun.elapsed().as_secs();
            (self.told)(&format!("{name}: at work for {seconds} s"));
        }
    }
}

/// Builds an index, unless it is there.
async fn build(client: &Client, index: &Index, text: &str) -> Result<()> {
    let remove = format!("DROP INDEX CONCURRENTLY IF EXISTS {}", index.name);
    let mut builds = 0;
    loop {
        match find(client, index).await? {
            Found::Valid => return Ok(()),
            Found::Building => sleep(PAUSE).await,
            Found::Invalid => {
                tracing::info!(index = index.name, "an index was left half built");
                client.outside_transaction(&remove).await?;
            }
            Found::Absent => {
                builds += 1;
                let Err(error) = client.outside_transaction(text).await else {
                    continue;
                };
                let code = error.code().cloned();
                let passing = [
                    // Somebody else began to build it in this moment.
                    SqlState::DUPLICATE_TABLE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                ];
                if builds < BUILDS_MAX && code.is_some_and(|code| passing.contains(&code)) {
                    continue;
                }
                // What is left would cost every write. An error here changes nothing: the next run
                // of the step finds it.
                if !error.is_closed() {
                    let _ = client.outside_transaction(&remove).await;
                }
                return Err(StoreError::from(error));
            }
        }
    }
}

async fn find(client: &Client, index: &Index) -> Result<Found> {
    // Whoever builds an index has this lock on its table, and so has the one who drops it.
    let query = "SELECT i.indisvalid, EXISTS (
            SELECT FROM pg_locks AS held
            WHERE held.relation = i.indrelid AND held.granted
              AND held.mode = 'ShareUpdateExclusiveLock' AND held.pid <> pg_backend_pid()
              AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
        FROM pg_index AS i WHERE i.indexrelid = to_regclass($1)";
    let Some(row) = client.query_opt(query, &[&index.name]).await? else {
        return Ok(Found::Absent);
    };
    Ok(match (row.try_get(0)?, row.try_get(1)?) {
        (true, _) => Found::Valid,
        (false, true) => Found::Building,
        (false, false) => Found::Invalid,
    })
}
