//! The store of production: PostgreSQL, shared by any number of replicas.
//!
//! Always: every wait has an end (pool, connection, statement, lock, idle transaction); a batch is
//! one statement per table over arrays, never one per row; the pool verifies connections before
//! use, because a dead connection must not cost a batch its deadline.

mod accounts;
mod agents;
mod commits;
mod directory;
mod hiscores;
mod identity;
mod items;
mod migrate;
mod operators;
pub(crate) mod ownership;
mod placement;
mod queries;
mod runs;
mod sessions;
mod social;
mod stored;
mod value;

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use service_runtime::config::Secret;
use service_runtime::rpc::Backoff;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, NoTls, Row};
use tonic::async_trait;

use super::Store;
use super::error::{Result, StoreError};
use super::row::FromRow;
use crate::metrics::Metrics;
use crate::mutants::Mutants;

/// Time that a pool, a new connection and a check of an old one may take, each.
const CONNECTION_LIMIT: Duration = Duration::from_secs(1);
/// Times for which the server works on one statement, waits for a lock, and lets a transaction
/// idle. Each connection plans a statement once: for most of them planning takes longer than the
/// work.
const SERVER_LIMITS: &str = "-c statement_timeout=3000 -c lock_timeout=1500 \
 -c idle_in_transaction_session_timeout=5000 -c plan_cache_mode=force_generic_plan";
const KEEPALIVE: Duration = Duration::from_secs(2);
/// One of this many connections, and at least one, is for reads of lists and dashboards. Anybody
/// may ask for those reads; play, which has the other connections, never waits for them.
const READERS_SHARE: usize = 4;
/// Channel on which replicas tell each other that runs or regions changed.
const CHANNEL: &str = "tilestead_directory";

/// Values of one statement.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The store.
pub(crate) struct Postgres {
    pool: Pool,
    readers: Semaphore,
    config: tokio_postgres::Config,
    changed: Arc<Notify>,
    metrics: Metrics,
    mutants: Mutants,
}

impl Postgres {
    /// Prepares connections; opens none.
    pub(crate) fn open(
        url: &Secret,
        connections: usize,
        metrics: Metrics,
        mutants: Mutants,
    ) -> anyhow::Result<Self> {
        // The parser's own message could hold the password.
        let parsed = url.expose().parse::<tokio_postgres::Config>();
        let mut config = parsed.map_err(|_| anyhow::anyhow!("DATABASE_URL cannot be read"))?;
        let given = config.get_options().unwrap_or_default();
        let options = format!("{SERVER_LIMITS} {given}");
        config
            .options(options.trim())
            .application_name("tilestead-persistence")
            .connect_timeout(CONNECTION_LIMIT)
            .tcp_user_timeout(KEEPALIVE * 3)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE)
            .keepalives_retries(2);
        let recycling_method = RecyclingMethod::Verified;
        let manager =
            Manager::from_config(config.clone(), NoTls, ManagerConfig { recycling_method });
        let pool = Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(CONNECTION_LIMIT),
                create: Some(CONNECTION_LIMIT),
                recycle: Some(CONNECTION_LIMIT),
            })
            .build()
            .context("build the connection pool")?;
        Ok(Postgres {
            pool,
            readers: Semaphore::new((connections / READERS_SHARE).max(1)),
            config,
            changed: Arc::new(Notify::new()),
            metrics,
            mutants,
        })
    }

    /// Returns a connection that answered a moment ago.
    async fn client(&self) -> Result<Object> {
        let asked = Instant::now();
        let client = self.pool.get().await;
        self.metrics.pool_waited(asked.elapsed());
        Ok(client?)
    }

    /// Returns a connection for reads of lists and dashboards.
    async fn reader(&self) -> Result<Reader<'_>> {
        let place = timeout(CONNECTION_LIMIT, self.readers.acquire()).await;
        let away = || StoreError::Away("too many read at once".to_owned());
        let place = place.map_err(|_| away())?.map_err(|_| away())?;
        Ok(Reader {
            client: self.client().await?,
            _place: place,
        })
    }

    /// Hears notifications until the connection ends.
    async fn hear(&self) -> std::result::Result<(), tokio_postgres::Error> {
        let (client, mut connection) = self.config.connect(NoTls).await?;
        let listen = async {
            let asked = client.batch_execute(&format!("LISTEN {CHANNEL}")).await;
            match asked {
                Ok(()) => std::future::pending().await,
                Err(error) => Err(error),
            }
        };
        let drive = async {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(_) = message? {
                    self.changed.notify_one();
                }
            }
            Ok(())
        };
        tokio::select! {
            refused = listen => refused,
            ended = drive => ended,
        }
    }
}

/// One of the connections that readers share.
struct Reader<'a> {
    client: Object,
    _place: SemaphorePermit<'a>,
}

impl Deref for Reader<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.client
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut Object {
        &mut self.client
    }
}

#[async_trait]
impl Store for Postgres {
    fn system(&self) -> &'static str {
        "postgresql"
    }

    async fn migrate(&self) -> Result<()> {
        migrate::migrate(&mut self.client().await?).await
    }

    fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    async fn listen(&self) {
        let mut backoff = Backoff::new();
        loop {
            let begun = Instant::now();
            // The task that polls the store says whether the store is away.
            if let Err(error) = self.hear().await {
                tracing::debug!(%error, "not listening for changes");
            }
            if begun.elapsed() > CONNECTION_LIMIT * 10 {
                backoff.reset();
            }
            backoff.wait().await;
        }
    }

    async fn close(&self) {
        self.pool.close();
    }
}

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> StoreError {
        StoreError::Away(error.to_string())
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> StoreError {
        let Some(said) = error.as_db_error() else {
            let io =
                std::error::Error::source(&error).is_some_and(|cause| cause.is::<std::io::Error>());
            return if io || error.is_closed() {
                StoreError::Away(error.to_string())
            } else {
                StoreError::Broken(error.to_string())
            };
        };
        let text = format!("{} ({})", said.message(), said.code().code());
        // Connection, conflict, resources, cancelled or shutting down, not writable here.
        let class = &said.code().code()[..2];
        let passing = matches!(class, "08" | "40" | "53" | "57" | "58");
        let lock = *said.code() == SqlState::LOCK_NOT_AVAILABLE
            || *said.code() == SqlState::READ_ONLY_SQL_TRANSACTION
            || *said.code() == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT;
        if passing || lock {
            StoreError::Away(text)
        } else {
            StoreError::Broken(text)
        }
    }
}

/// Reads all rows of an answer.
fn all<T: FromRow>(rows: &[Row]) -> Result<Vec<T>> {
    let all: std::result::Result<_, _> = rows.iter().map(T::from_row).collect();
    Ok(all?)
}
