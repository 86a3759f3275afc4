//! The process: binds its ports, then lives one run after the other until somebody tells it to
//! stop.
//!
//! Always: nothing survives a run but configuration and content; a run that ended otherwise than
//! by order is followed by a new, empty one.

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc as thread_mpsc},
    time::Duration,
};

use anyhow::Context;
use content_loader::{ContentServer, ContentService, Shelf};
use futures::future::BoxFuture;
use proto::rpc::{
    agents::v1::zone_agents_server::ZoneAgentsServer,
    persistence::v1::{EndedRequest, RegisterRequest, ended_request::Reason},
    queries::v1::live_queries_server::LiveQueriesServer,
    zone::v1::{handover_server::HandoverServer, inspect_server::InspectServer},
};
use service_runtime::{
    health::Health, rpc::Acceptor, run::Wedged, tasks::TaskGroup, telemetry::Telemetry,
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
};
use tokio_util::sync::CancellationToken;

use crate::{
    beat::{Beat, End},
    commit::committer::{Committer, Positions},
    config::Config,
    content,
    effects::Tasks,
    mailbox::{MESSAGES_MAX, Mailbox, Message},
    metrics::Metrics,
    ownership::{
        keeper::{self, Keeper},
        lease::{Pulse, Registered},
        mirror, progress, towns,
    },
    peers::Peers,
    priority,
    rpc::{
        Current, Living,
        agents::AgentsService,
        handover::HandoverService,
        inspect::InspectService,
        link::{LinkServer, LinkService},
        live_queries::LiveQueriesService,
    },
    run::{Fault, Run, RunContext},
    store::Store,
    tick_loop::{self, Ended},
    translate::record,
};

/// Largest message that gateways and peers may send.
const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest message of a peer: a region with everybody in it.
const REGION_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Time in which a run may end in order, after it has given its regions away.
const END_WITHIN: Duration = Duration::from_secs(10);
/// Time in which the tasks of a run that is over may end.
const TASKS_WITHIN: Duration = Duration::from_secs(1);
/// Pause after a run that ended badly, before the next registers.
const NEXT_RUN_PAUSE: Duration = Duration::from_millis(500);

/// A zone server with its ports bound.
pub struct Server {
    config: Arc<Config>,
    shelf: Shelf,
    telemetry: Telemetry,
    metrics: Metrics,
    listener: TcpListener,
    probes: Option<TcpListener>,
    address: SocketAddr,
    advertised: String,
}

impl Server {
    /// Brings the content and binds the ports; needs no other service.
    ///
    /// # Errors
    /// A port cannot be bound, or there is no content to play.
    pub async fn bind(config: Config, telemetry: Telemetry) -> anyhow::Result<Server> {
        let shelf = Shelf::new(content_loader::deliver(&config.content).await?);
        let listener = TcpListener::bind(&config.listen)
            .await
            .with_context(|| format!("listen on {}", config.listen))?;
        let probes = match config.metrics_port {
            0 => None,
            port => {
                let bound = TcpListener::bind(("0.0.0.0", port)).await;
                Some(bound.with_context(|| format!("listen on port {port}"))?)
            }
        };
        let address = listener.local_addr().context("the bound address")?;
        let advertised = config
            .advertise
            .clone()
            .unwrap_or_else(|| address.to_string());
        Ok(Server {
            metrics: Metrics::new(&telemetry.meter()),
            config: Arc::new(config),
            shelf,
            telemetry,
            listener,
            probes,
            address,
            advertised,
        })
    }

    /// Returns the address to which gateways and peers connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Plays until `stop`; then saves everybody, releases its regions and returns.
    ///
    /// # Errors
    /// The port fails, or a persistence address is malformed.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, anyhow::Result<()>> {
        // Boxed: compiled here, once, and not in every program that runs a zone server.
        Box::pin(self.serve_until(stop))
    }

    async fn serve_until(self, stop: CancellationToken) -> anyhow::Result<()> {
        let Server {
            config,
            shelf,
            telemetry,
            metrics,
            listener,
            probes,
            advertised,
            ..
        } = self;
        let store = Store::new(&config.trust, &config.persistence)?;
        let health = Health::new();
        let current = Current::default();
        let closed = CancellationToken::new();
        let tasks = TaskGroup::new(&telemetry.meter(), closed.clone());
        if let Some(probes) = probes {
            let (health, telemetry) = (health.clone(), telemetry.clone());
            let probes = service_runtime::health::serve(probes, health, telemetry, closed.clone());
            tasks.finish("probes", async move {
                if let Err(error) = probes.await {
                    tracing::error!(%error, "probes are not answered");
                }
            });
        }
        tasks.spawn("replicas", store.clone().follow());
        tasks.spawn("certificates", config.trust.clone().follow());
        let acceptor = Acceptor::new(&config.trust, &telemetry.meter()).followed_by(&telemetry);
        let router = acceptor
            .server()
            .add_service(
                LinkServer::new(LinkService(current.clone()))
                    .max_decoding_message_size(MESSAGE_BYTES_MAX),
            )
            .add_service(
                HandoverServer::new(HandoverService(current.clone()))
                    .max_decoding_message_size(REGION_BYTES_MAX),
            )
            .add_service(LiveQueriesServer::new(LiveQueriesService(current.clone())))
            .add_service(ZoneAgentsServer::new(AgentsService(current.clone())))
            .add_service(InspectServer::new(InspectService(current.clone())))
            .add_service(ContentServer::new(ContentService(shelf.clone())));
        let serving = tasks.joined(acceptor.serve(router, listener, closed.clone()));
        let lives = Lives {
            config,
            shelf,
            telemetry,
            metrics,
            store,
            health,
            current,
            advertised,
        };
        let lived = lives.live(&stop).await;
        closed.cancel();
        serving.await.context("the server's task")??;
        Ok(lived?)
    }
}

/// Plays a run on a thread of its own. Returns the channel that says how it ended.
fn play(
    run: Run,
    messages: thread_mpsc::Receiver<Message>,
) -> std::io::Result<oneshot::Receiver<Ended>> {
    let (told, ended) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    std::thread::Builder::new()
        .name("tick".to_owned())
        .spawn(move || {
            priority::raise();
            // Tasks that the run starts live beside this thread.
            let _entered = runtime.enter();
            let end = tick_loop::play(run, &messages);
            // The receiver may be gone: then nobody asks how the run ended.
            let _ = told.send(end);
        })?;
    Ok(ended)
}

/// The state that all runs of a process share.
struct Lives {
    config: Arc<Config>,
    shelf: Shelf,
    telemetry: Telemetry,
    metrics: Metrics,
    store: Store,
    health: Health,
    current: Current,
    advertised: String,
}

impl Lives {
    /// Lives one run after the other until `stop`.
    ///
    /// # Errors
    /// The tick loop of a run is wedged: its thread cannot be ended but with the process.
    async fn live(&self, stop: &CancellationToken) -> Result<(), Wedged> {
        while !stop.is_cancelled() {
            self.health.set_unready("not registered with the store");
            if self.config.content.follow {
                content::join(&self.store, &self.shelf, stop).await;
            }
            let request = self.registration();
            let Some(run) = keeper::register(&self.store, &request, stop).await else {
                return Ok(());
            };
            tracing::info!(run = run.run_id, address = self.advertised, "a run begins");
            let Ended { end, fault } = self.one(run, stop).await?;
            self.metrics.run_ended(end.name());
            tracing::info!(run = run.run_id, end = end.name(), "the run has ended");
            match end {
                End::Stopped | End::Astray => keeper::release(&self.store, run.run_id).await,
                End::Panicked => self.ended(run, Reason::Panicked, fault, stop).await,
                End::Refused => self.ended(run, Reason::Refused, fault, stop).await,
                End::Fenced => {}
            }
            if end != End::Stopped {
                stop.run_until_cancelled(tokio::time::sleep(NEXT_RUN_PAUSE))
                    .await;
            }
        }
        Ok(())
    }

    fn registration(&self) -> RegisterRequest {
        let content = &self.shelf.get().content;
        let regions = content.regions().into_iter().map(record::rpc_region);
        RegisterRequest {
            address: self.advertised.clone(),
            build: env!("CARGO_PKG_VERSION").to_owned(),
            content_hash: content.hash().to_owned(),
            regions: regions.collect(),
            towns: towns::of(content),
        }
    }

    /// Waits until an older run plays another version, and takes over that version for the next
    /// run.
    async fn another_content(&self, me: u64) {
        if !self.config.content.follow {
            return std::future::pending().await;
        }
        let mine = self.shelf.get().content.hash().to_owned();
        let other = content::other(&self.store, me, &mine).await;
        tracing::warn!(
            mine,
            version = other.content.hash(),
            "an older zone plays another content: this run ends, the next one plays that"
        );
        self.shelf.put(other);
    }

    /// Tells the store that a run ended by a fault.
    async fn ended(&self, run: Registered, reason: Reason, fault: Fault, stop: &CancellationToken) {
        let regions = fault.regions.into_iter().map(record::rpc_region);
        let characters = fault.characters.iter().map(ToString::to_string);
        let request = EndedRequest {
            run_id: run.run_id,
            reason: reason.into(),
            regions: regions.collect(),
            character_ids: characters.collect(),
        };
        keeper::ended(&self.store, request, stop).await;
    }

    /// Lives one run, until it ends by itself or `stop` tells it to end.
    ///
    /// # Errors
    /// Its tick loop stands still for good.
    async fn one(&self, registered: Registered, stop: &CancellationToken) -> Result<Ended, Wedged> {
        let over = CancellationToken::new();
        let _over = over.clone().drop_guard();
        let tasks = TaskGroup::new(&self.telemetry.meter(), over.clone());
        let (sender, messages) = thread_mpsc::sync_channel(MESSAGES_MAX);
        let mailbox = Mailbox::new(sender);
        let wedged = CancellationToken::new();
        let run = self.run(registered, &mailbox, &tasks, &wedged);
        let mut ended = match play(run, messages) {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "no thread for the tick");
                return Ok(died());
            }
        };
        self.current.set(Some(Living {
            run_id: registered.run_id,
            mailbox: mailbox.clone(),
            over: over.clone(),
            tasks: tasks.clone(),
        }));
        let content = Arc::clone(&self.shelf.get().content);
        let mirror = mirror::items(self.store.clone(), registered.run_id, content);
        tasks.spawn("mirror of the items", mirror);
        self.health.set_ready(true);
        let why = tokio::select! {
            end = &mut ended => Err(end.ok()),
            () = wedged.cancelled() => {
                self.health.set_dead("the tick loop stands still");
                self.current.set(None);
                return Err(Wedged("the tick loop"));
            }
            () = stop.cancelled() => Ok("stopping"),
            () = self.another_content(registered.run_id) => Ok("about to play another content"),
        };
        let end = match why {
            Err(end) => end,
            Ok(why) => {
                self.health.set_unready(why);
                mailbox.insist(|| Message::Stop).await;
                let end = service_runtime::drain::within(
                    self.config.drain + END_WITHIN,
                    "the run",
                    ended,
                )
                .await;
                end.and_then(Result::ok)
            }
        };
        self.current.set(None);
        over.cancel();
        // Tasks that are not done by then end by themselves.
        let _ =
            service_runtime::drain::within(TASKS_WITHIN, "the run's tasks", tasks.ended()).await;
        Ok(end.unwrap_or_else(died))
    }

    /// Builds a run, and starts the tasks beside it. `wedged` is cancelled when its tick loop has
    /// stood still for too long.
    fn run(
        &self,
        registered: Registered,
        mailbox: &Mailbox,
        tasks: &TaskGroup,
        wedged: &CancellationToken,
    ) -> Run {
        let (commits, batches) = mpsc::channel(2);
        let pulse = Arc::new(Pulse::default());
        let committer = Committer {
            run_id: registered.run_id,
            store: self.store.clone(),
            mailbox: mailbox.clone(),
            metrics: self.metrics.clone(),
            pulse: Arc::clone(&pulse),
            tracer: self.telemetry.tracer(),
            positions: Positions::new(registered.knows_positions),
        };
        tasks.spawn("commits", committer.work(batches));
        let (store, content) = (self.store.clone(), Arc::clone(&self.shelf.get().content));
        let keeper = Keeper::new(registered, store, mailbox.clone(), tasks.clone(), content);
        keeper.start(&pulse);
        let watch = keeper.clone().watch_ticks(
            Arc::clone(&pulse),
            progress::watchdog(self.config.tick_ms),
            self.metrics.clone(),
            wedged.clone(),
        );
        tasks.spawn("tick watch", watch);
        let effects = Tasks {
            keeper,
            peers: Peers::new(mailbox.clone(), self.store.clone(), tasks.clone()),
            commits,
        };
        let context = RunContext {
            effects: Box::new(effects),
            metrics: self.metrics.clone(),
            tracer: self.telemetry.tracer(),
            tracing: self.telemetry.tracing_enabled(),
            pulse,
        };
        let beat = Beat::new(registered.at, registered.store_ms, self.config.tick_ms);
        let (config, content) = (self.config.clone(), Arc::clone(&self.shelf.get().content));
        let names = (registered.run_id, registered.incarnation);
        Run::new(names, beat, config, content, context)
    }
}

/// Returns the end of a run about which nothing else is known.
fn died() -> Ended {
    Ended {
        end: End::Panicked,
        fault: Fault::default(),
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
