//! Puts the parts together: listens, serves, follows the store, stops in order.
//!
//! Always: the server binds its ports before it asks the store for anything over the network; if
//! the store fails, the process stays and recovers by itself.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use futures::future::BoxFuture;
use proto::rpc::agents::v1::agents_server::AgentsServer;
use proto::rpc::identity::v1::identity_server::IdentityServer;
use proto::rpc::persistence::v1::accounts_server::AccountsServer;
use proto::rpc::persistence::v1::directory_server::DirectoryServer;
use proto::rpc::persistence::v1::runs_server::RunsServer;
use proto::rpc::personal::v1::personal_server::PersonalServer;
use proto::rpc::queries::v1::changes_server::ChangesServer;
use proto::rpc::queries::v1::queries_server::QueriesServer;
use proto::rpc::queries::v1::replica_server::ReplicaServer;
use proto::rpc::social::v1::social_server::SocialServer;
use service_runtime::drain;
use service_runtime::health::{self, Health};
use service_runtime::rpc::{Acceptor, Backoff, Gate};
use service_runtime::tasks::TaskGroup;
use service_runtime::telemetry::Telemetry;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, PostgresConfig, StoreConfig};
use crate::feed::Feed;
use crate::metrics::Metrics;
use crate::mutants::Mutants;
use crate::placement::planner;
use crate::rpc::Desk;
use crate::rpc::accounts::AccountsService;
use crate::rpc::agents::AgentsService;
use crate::rpc::directory::DirectoryService;
use crate::rpc::identity::IdentityService;
use crate::rpc::personal::PersonalService;
use crate::rpc::queries::{ChangesService, QueriesService};
use crate::rpc::replica::ReplicaService;
use crate::rpc::runs::RunsService;
use crate::rpc::social::SocialService;
use crate::store::Store;
use crate::store::environment::Machine;
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::{container, hiscores, tidy, waker};

/// The longest that SQLite may take for one answer.
const SQLITE_LIMIT: Duration = Duration::from_secs(10);
/// The longest that SQLite may take for an operator's question.
pub(crate) const COMMAND_LIMIT: Duration = Duration::from_secs(600);
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The service with its ports bound.
pub struct Server {
    config: Config,
    telemetry: Telemetry,
    metrics: Metrics,
    store: Arc<dyn Store>,
    listener: TcpListener,
    address: SocketAddr,
    metrics_listener: Option<TcpListener>,
    began: Instant,
}

impl Server {
    /// Opens SQLite where that is the store, and binds the ports. PostgreSQL need not be up.
    ///
    /// # Errors
    /// [`crate::StoreLocked`] if another process has the data folder (exit code 64); another error
    /// if a port is taken.
    pub async fn bind(config: Config, telemetry: Telemetry) -> anyhow::Result<Server> {
        let metrics = Metrics::new(&telemetry.meter());
        if let StoreConfig::Container { engine, port, .. } = &config.store {
            container::start(engine.as_deref(), *port).await?;
        }
        let store = open(&config, &metrics)?;
        let listener = TcpListener::bind(&config.listen)
            .await
            .with_context(|| format!("listen on {}", config.listen))?;
        let address = listener.local_addr().context("read the bound address")?;
        let metrics_listener = match config.metrics_port {
            0 => None,
            port => Some(
                TcpListener::bind((address.ip(), port))
                    .await
                    .with_context(|| format!("listen on METRICS_PORT {port}"))?,
            ),
        };
        Ok(Server {
            config,
            telemetry,
            metrics,
            store,
            listener,
            address,
            metrics_listener,
            began: Instant::now(),
        })
    }

    /// Returns the address of gRPC.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`, then lets open calls end and closes the store.
    ///
    /// # Errors
    /// If serving fails; never because the store is away.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, anyhow::Result<()>> {
        // Boxed: compiled here, once, and not in every program that runs the service.
        Box::pin(self.serve_until(stop))
    }

    async fn serve_until(mut self, stop: CancellationToken) -> anyhow::Result<()> {
        // The tasks behind the calls go on until the last call has ended.
        let behind = CancellationToken::new();
        let tasks = TaskGroup::new(&self.telemetry.meter(), behind.clone());
        let desk = self.desk(&tasks);
        let gate = Gate::closed();
        let feed = Arc::new(Feed::new(gate.clone()));
        let metrics_listener = self.metrics_listener.take();
        self.start(&desk, &feed, &tasks, metrics_listener);
        tasks.spawn("certificates", self.config.trust.clone().follow());
        let acceptor = Acceptor::new(&self.config.trust, &self.telemetry.meter())
            .followed_by(&self.telemetry)
            .behind(gate);
        let router = acceptor
            .server()
            .add_service(
                AccountsServer::new(AccountsService(Arc::clone(&desk)))
                    .max_decoding_message_size(MESSAGE_BYTES_MAX),
            )
            .add_service(
                RunsServer::new(RunsService(Arc::clone(&desk)))
                    .max_decoding_message_size(MESSAGE_BYTES_MAX)
                    .max_encoding_message_size(REPLY_BYTES_MAX),
            )
            .add_service(QueriesServer::new(QueriesService(Arc::clone(&desk))))
            .add_service(ChangesServer::new(ChangesService(Arc::clone(&desk))))
            .add_service(ReplicaServer::new(ReplicaService {
                desk: Arc::clone(&desk),
                began: self.began,
            }))
            .add_service(AgentsServer::new(AgentsService(Arc::clone(&desk))))
            .add_service(SocialServer::new(SocialService(Arc::clone(&desk))))
            .add_service(PersonalServer::new(PersonalService(Arc::clone(&desk))))
            .add_service(IdentityServer::new(IdentityService {
                desk: Arc::clone(&desk),
                feed: Arc::clone(&feed),
                stop: stop.clone(),
            }))
            .add_service(DirectoryServer::new(DirectoryService {
                desk,
                feed,
                metrics: self.metrics,
                stop: stop.clone(),
            }));
        tracing::info!(address = %self.address, store = self.store.system(), "serving");
        let served = acceptor.serve(router, self.listener, stop).await;
        behind.cancel();
        // Tasks that outlast the drain end with the process.
        let _ = drain::within(
            service_runtime::rpc::DRAIN,
            "background tasks",
            tasks.ended(),
        )
        .await;
        self.store.close().await;
        served
    }

    fn desk(&self, tasks: &TaskGroup) -> Arc<Desk> {
        Arc::new(Desk::new(
            Arc::clone(&self.store),
            tasks,
            self.metrics.clone(),
            self.telemetry.tracer(),
            self.config.lease,
            self.config.agents,
        ))
    }

    /// Starts the tasks that run beside the calls.
    fn start(
        &self,
        desk: &Arc<Desk>,
        feed: &Arc<Feed>,
        tasks: &TaskGroup,
        metrics_listener: Option<TcpListener>,
    ) {
        let health = Health::new();
        let settings = planner::Settings {
            lease: self.config.lease,
            settle: self.config.settle,
            mass_lapse: self.config.mass_lapse,
            balance: self.config.balance,
            towns: self.config.towns,
        };
        let period = self.config.hiscores;
        let (store, desk, feed) = (Arc::clone(&self.store), Arc::clone(desk), Arc::clone(feed));
        let resting = waker::Resting {
            idle: self.config.agent_rest,
            bounds: self.config.agents,
        };
        let guests = self.config.guests;
        let plans = desk.plans.clone();
        let (metrics, ready, end) = (self.metrics.clone(), health.clone(), tasks.stop().clone());
        tasks.finish("what the store does by itself", async move {
            let prepared = tokio::select! {
                () = end.cancelled() => false,
                done = prepare(store.as_ref()) => done,
            };
            if !prepared {
                return;
            }
            desk.open();
            let woken = Arc::new(Notify::new());
            tokio::join!(
                feed.follow(Arc::clone(&store), ready, Arc::clone(&woken), end.clone()),
                planner::run(
                    Arc::clone(&store),
                    settings,
                    (metrics.clone(), plans),
                    woken,
                    end.clone()
                ),
                tidy::run(Arc::clone(&store), guests, metrics, end.clone()),
                waker::run(Arc::clone(&store), resting, end.clone()),
                hiscores::run(Arc::clone(&store), period, end.clone()),
                async {
                    tokio::select! {
                        () = end.cancelled() => {}
                        () = store.listen() => {}
                    }
                }
            );
        });
        if let Some(listener) = metrics_listener {
            let (telemetry, end) = (self.telemetry.clone(), tasks.stop().clone());
            tasks.finish("probes", async move {
                if let Err(error) = health::serve(listener, health, telemetry, end).await {
                    tracing::error!(%error, "metrics are not served");
                }
            });
        }
    }
}

fn open(config: &Config, metrics: &Metrics) -> anyhow::Result<Arc<dyn Store>> {
    let mutants = config.mutants;
    let postgres = |config: &PostgresConfig| {
        Postgres::open(config, config.connections, metrics.clone(), mutants)
    };
    Ok(match &config.store {
        StoreConfig::Sqlite { folder } => {
            let machine = Arc::new(Machine { mutants });
            Arc::new(Sqlite::open(folder, SQLITE_LIMIT, machine)?)
        }
        StoreConfig::Postgres(config) => Arc::new(postgres(config)?),
        StoreConfig::Container { postgres: own, .. } => Arc::new(postgres(own)?),
    })
}

/// Opens the store for an operator's command. The store must be there, and a service may have it
/// open.
pub(crate) fn beside(config: &StoreConfig, metrics: &Metrics) -> anyhow::Result<Arc<dyn Store>> {
    let postgres =
        |config: &PostgresConfig| Postgres::open(config, 1, metrics.clone(), Mutants::default());
    Ok(match config {
        StoreConfig::Sqlite { folder } => Arc::new(Sqlite::beside(folder, COMMAND_LIMIT)?),
        StoreConfig::Postgres(config) => Arc::new(postgres(config)?),
        StoreConfig::Container { postgres: own, .. } => Arc::new(postgres(own)?),
    })
}

/// Brings the tables up to date, trying until the store is there. It takes as long as the steps of
/// the migrations take; each of their statements has an end of its own.
async fn prepare(store: &dyn Store) -> bool {
    let mut backoff = Backoff::new();
    let mut told = String::new();
    loop {
        match store.migrate().await {
            Ok(()) => return true,
            Err(error) => {
                let why = error.to_string();
                if told != why {
                    tracing::warn!(%error, "waiting for the store");
                    told = why;
                }
            }
        }
        backoff.wait().await;
    }
}

/// Brings the tables of the configured store up to date and ends. Prints a line for each step.
///
/// # Errors
/// If the store does not answer or is locked, or a newer version made its tables.
pub async fn migrate(config: Config, telemetry: Telemetry) -> anyhow::Result<()> {
    let metrics = Metrics::new(&telemetry.meter());
    let store = open(&config, &metrics)?;
    let told = |line: &str| {
        // A reader of the output that has gone does not stop the migration.
        let _ = writeln!(std::io::stdout(), "{line}");
    };
    let done = store.migrate_telling(&told).await;
    store.close().await;
    done.context("migrate")
}
