//! The store of production: PostgreSQL, shared by any number of replicas.
//!
//! Always: every wait has an end (pool, connection, statement, lock, idle transaction); a batch is
//! one statement per table over arrays, never one per row; the pool verifies connections before
//! use, because a dead connection must not cost a batch its deadline.

mod accounts;
mod agents;
mod archive;
mod commits;
mod directory;
mod hiscores;
mod identity;
mod items;
mod limits;
mod migrate;
mod operators;
pub(crate) mod ownership;
mod passwords;
mod personal;
mod placement;
mod queries;
mod runs;
mod session;
mod sessions;
mod social;
mod stored;
mod value;
mod verify;

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use deadpool_postgres::{
    ClientWrapper, Connect, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
    Timeouts,
};
use futures::future::BoxFuture;
use service_runtime::rpc::Backoff;
use session::{Client, Held, Values};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Row};
use tonic::async_trait;

use super::Store;
use super::error::{Result, StoreError};
use super::migrations::{MIGRATIONS, Migration, Told};
use super::row::FromRow;
use crate::config::PostgresConfig;
use crate::database::Database;
use crate::metrics::{Metrics, PoolUse};
use crate::mutants::Mutants;

/// Time that a pool, a new connection and a check of an old one may take, each.
const CONNECTION_LIMIT: Duration = Duration::from_secs(1);
const KEEPALIVE: Duration = Duration::from_secs(2);
/// One of this many connections, and at least one, is for reads of lists and dashboards. Anybody
/// may ask for those reads; play, which has the other connections, never waits for them.
const READERS_SHARE: usize = 4;
/// Channel on which replicas tell each other that runs or regions changed.
const CHANNEL: &str = "tilestead_directory";

/// The store.
pub(crate) struct Postgres {
    pool: Pool,
    readers: Semaphore,
    database: Database,
    /// Database on which the store hears of changes; none: it only polls.
    heard: Option<Database>,
    /// Whether a pooler gives each transaction another connection.
    pooler: bool,
    changed: Arc<Notify>,
    metrics: Metrics,
    mutants: Mutants,
}

impl Postgres {
    /// Prepares connections; opens none.
    pub(crate) fn open(
        config: &PostgresConfig,
        connections: usize,
        metrics: Metrics,
        mutants: Mutants,
    ) -> anyhow::Result<Self> {
        let pooler = config.pooler;
        let database = prepared(&config.database, pooler);
        let direct = config.direct.as_ref();
        let heard = direct.map(|direct| prepared(direct, false));
        let heard = heard.or_else(|| (!pooler).then(|| database.clone()));
        let recycling_method = RecyclingMethod::Verified;
        let manager = Manager::from_connect(
            database.config().clone(),
            Door(database.clone()),
            ManagerConfig { recycling_method },
        );
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
        let watched = pool.clone();
        metrics.watch_pool(move || pool_use(&watched));
        Ok(Postgres {
            pool,
            readers: Semaphore::new((connections / READERS_SHARE).max(1)),
            database,
            heard,
            pooler,
            changed: Arc::new(Notify::new()),
            metrics,
            mutants,
        })
    }

    /// Returns a connection that answered a moment ago.
    async fn client(&self) -> Result<Client> {
        let asked = Instant::now();
        let client = self.pool.get().await;
        self.metrics.pool_waited(asked.elapsed());
        Ok(Client::new(Held::Shared(client?), self.pooler))
    }

    /// Returns a connection beside the pool, which ends when it is dropped.
    async fn own_client(&self) -> Result<Client> {
        unpooled(&self.database, self.pooler).await
    }

    /// Returns a connection without the pooler, beside the pool; one over the pooler where the
    /// store knows no other.
    async fn direct_client(&self) -> Result<Client> {
        match &self.heard {
            Some(database) => unpooled(database, false).await,
            None => self.own_client().await,
        }
    }

    /// Brings the tables to the layouts of `list`.
    pub(crate) async fn migrate_to(&self, list: &[Migration], told: Told<'_>) -> Result<()> {
        migrate::migrate(self, list, told).await
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
    async fn hear(&self, database: &Database) -> std::result::Result<(), tokio_postgres::Error> {
        let (client, mut connection) = database.connect().await?;
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

/// Returns the use of the pool now.
fn pool_use(pool: &Pool) -> PoolUse {
    let now = pool.status();
    PoolUse {
        max: now.max_size,
        in_use: now.size.saturating_sub(now.available),
        idle: now.available,
        waiting: now.waiting,
    }
}

/// Opens the connections of the pool.
struct Door(Database);

impl Connect for Door {
    fn connect(
        &self,
        _: &tokio_postgres::Config,
    ) -> BoxFuture<
        '_,
        std::result::Result<(tokio_postgres::Client, JoinHandle<()>), tokio_postgres::Error>,
    > {
        Box::pin(open(&self.0))
    }
}

/// Opens a connection with the task that drives it.
#[expect(
    clippy::disallowed_methods,
    reason = "the task ends with its connection, and a panic of it shows as its end"
)]
async fn open(
    database: &Database,
) -> std::result::Result<(tokio_postgres::Client, JoinHandle<()>), tokio_postgres::Error> {
    let (client, connection) = database.connect().await?;
    let driver = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the database ended");
        }
    });
    Ok((client, driver))
}

/// Opens a connection that is not of the pool.
async fn unpooled(database: &Database, pooler: bool) -> Result<Client> {
    let opened = open(database).await;
    let (client, driver) = opened.map_err(|error| StoreError::Away(unreached(&error)))?;
    Ok(Client::new(
        Held::Own(ClientWrapper::new(client, driver)),
        pooler,
    ))
}

/// Adds to a database what every connection has. A pooler takes no options: over one, each
/// transaction has its limits from its session.
fn prepared(database: &Database, pooler: bool) -> Database {
    let mut database = database.clone();
    let config = database.config_mut();
    if !pooler {
        let given = config.get_options().unwrap_or_default();
        let options = format!("{} {given}", *limits::OPTIONS);
        config.options(options.trim());
    }
    config
        .application_name("tilestead-persistence")
        .connect_timeout(CONNECTION_LIMIT)
        .tcp_user_timeout(KEEPALIVE * 3)
        .keepalives(true)
        .keepalives_idle(KEEPALIVE)
        .keepalives_interval(KEEPALIVE)
        .keepalives_retries(2);
    database
}

/// One of the connections that readers share.
struct Reader<'a> {
    client: Client,
    _place: SemaphorePermit<'a>,
}

impl Deref for Reader<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

#[async_trait]
impl Store for Postgres {
    fn system(&self) -> &'static str {
        "postgresql"
    }

    async fn migrate_telling(&self, told: Told<'_>) -> Result<()> {
        self.migrate_to(MIGRATIONS, told).await
    }

    async fn show_migration(&self) -> Result<Vec<String>> {
        migrate::show::show(self, MIGRATIONS).await
    }

    fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    async fn listen(&self) {
        let Some(database) = &self.heard else {
            return std::future::pending().await;
        };
        let mut backoff = Backoff::new();
        loop {
            let begun = Instant::now();
            // The task that polls the store says whether the store is away.
            if let Err(error) = self.hear(database).await {
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
        StoreError::Away(match &error {
            PoolError::Backend(why) => unreached(why),
            PoolError::Timeout(_)
            | PoolError::Closed
            | PoolError::NoRuntimeSpecified
            | PoolError::PostCreateHook(_) => error.to_string(),
        })
    }
}

/// Says why there is no connection, with all causes.
fn unreached(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    if text.contains("unsupported startup parameter") {
        text.push_str("; before a pooler, set DATABASE_POOLER=transaction");
    }
    text
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
