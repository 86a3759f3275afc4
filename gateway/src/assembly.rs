//! Puts a gateway together: from its configuration to all that its sessions and routes share.
//!
//! Always: nothing here waits for another service; each part connects when it is first used.

use std::{io, sync::Arc, time::Instant};

use anyhow::Context;
use opentelemetry::metrics::Meter;
use service_runtime::{
    health::Health,
    rpc::{Replicas, Role},
    tasks::TaskGroup,
    telemetry::Telemetry,
    watchdog::{self, Steps},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    agents::{Agents, runtime::Runtime},
    app::{App, Auth, Bounds, Served, Sessions},
    auth::{
        accounts::Accounts, attempts::Attempts, identity::Identity, password::Hashing,
        provider::Provider, sanctions::Sanctions, tokens::Tokens,
    },
    chaos::Supervisor,
    config::Config,
    content::{Shown, Version},
    hiscores::Hiscores,
    http::{body::Load, frontend::Frontend},
    limits::{Limits, logins::Logins, unauthenticated::Unauthenticated},
    live_queries::LiveQueries,
    metrics::Metrics,
    personal::Personal,
    places::Places,
    queries::Queries,
    session::{budget::Budgets, registry::Registry},
    social::{
        book::Book,
        bus::{Bus, Heard},
        hub::{Hub, HubParts, OwnSessions},
    },
    socket::Reports,
    spans::Spans,
    stores::Stores,
    turns::{Line, Turns},
    zone_link::{Zones, ZonesConfig},
};

/// Players who come into the world at the same time. Each takes about as long as a tick, because a
/// zone lets players in at its ticks.
const ENTERING_MAX: usize = 1_024;

/// Parts of a gateway.
pub(crate) struct Parts {
    pub(crate) config: Config,
    pub(crate) telemetry: Telemetry,
    pub(crate) version: Version,
    pub(crate) frontend: Frontend,
}

/// Returns a gateway whose links live until `behind`, and the messages of the bus to it.
pub(crate) fn assemble(
    parts: Parts,
    behind: &CancellationToken,
) -> anyhow::Result<(Arc<App>, mpsc::Receiver<Heard>)> {
    let Parts {
        config,
        telemetry,
        version,
        frontend,
    } = parts;
    let meter = telemetry.meter();
    let metrics = Metrics::new(&meter);
    let (bus, heard) = bus(&config, &metrics)?;
    let limits = Limits::new(config.rate_limits, &bus, &config.local_bus, metrics.clone());
    let limits = Arc::new(limits);
    let tasks = TaskGroup::new(&meter, behind.clone());
    let named = &config.persistence;
    let store = Replicas::new(&config.trust, Role::Persistence, named).context("replicas")?;
    tasks.spawn("replicas", store.clone().follow());
    let fan_out = watched(config.fan_out_tasks, &meter).context("watch the fan-out")?;
    let zones = Zones::start(links(&config, &store), fan_out, &meter, tasks.clone());
    let registry = Arc::new(Registry::new(tasks.clone()));
    let draining = CancellationToken::new();
    let sessions = (own_sessions(&zones, &registry), draining.clone());
    let hub = hub(&config, bus, &store, &limits, &metrics, sessions, &tasks);
    let runtime = Runtime::start(config.agent_api_url.clone(), metrics.clone(), &tasks)?;
    let app = App {
        agents: Agents::new(store.clone(), &config.trust, runtime),
        queries: Queries::new(store.clone()),
        stores: Stores::new(store.clone()),
        personal: Personal::new(store.clone()),
        live_queries: LiveQueries::new(&config.trust),
        supervisor: supervisor(&config)?,
        auth: auth(&config, &store, &limits, &metrics)?,
        bounds: Bounds {
            requests: limits,
            load: Load::new(),
            places: Places::new(config.connections_max, config.connections_per_address_max),
            unauthenticated: Unauthenticated::new(config.unauthenticated),
        },
        sessions: Sessions {
            registry,
            hub,
            budgets: Budgets::new(config.rate_limits),
            entering: Turns::new("world", ENTERING_MAX, Line::OF_ARRIVALS, metrics.clone()),
            clients: tasks.part(),
            draining,
        },
        served: Served {
            shown: Arc::new(Shown::new(version)),
            frontend,
            hiscores: Hiscores::default(),
        },
        reports: reports(&telemetry, &metrics, &tasks),
        metrics,
        zones,
        health: Health::new(),
        tasks,
        started: Instant::now(),
        telemetry,
        config,
    };
    Ok((Arc::new(app), heard))
}

/// Joins the bus between gateways.
fn bus(config: &Config, metrics: &Metrics) -> anyhow::Result<(Bus, mpsc::Receiver<Heard>)> {
    match &config.redis {
        Some(place) => Bus::redis(place, metrics.clone()),
        None => Ok(Bus::local(&config.local_bus)),
    }
}

/// Returns the way to the supervisor, in a world that has one.
fn supervisor(config: &Config) -> anyhow::Result<Option<Supervisor>> {
    config.chaos_socket.clone().map(Supervisor::at).transpose()
}

/// Returns a watched count of rounds for each task of the fan-out.
fn watched(tasks: usize, meter: &Meter) -> io::Result<Vec<Arc<Steps>>> {
    let guard = |task| watchdog::guard(format!("fan-out {task}"), meter);
    (0..tasks).map(guard).collect()
}

fn auth(
    config: &Config,
    store: &Replicas,
    limits: &Arc<Limits>,
    metrics: &Metrics,
) -> anyhow::Result<Auth> {
    Ok(Auth {
        accounts: Accounts::new(store.clone(), metrics.clone()),
        identity: Identity::new(store.clone()),
        tokens: Tokens::new(&config.signing_keys),
        sanctions: Sanctions::default(),
        provider: config.provider.clone().map(Provider::new).transpose()?,
        hashing: Hashing::new(metrics.clone()),
        attempts: Attempts::new(Arc::clone(limits)),
        logins: Logins::new(config.rate_limits, metrics.clone()),
    })
}

fn links(config: &Config, store: &Replicas) -> ZonesConfig {
    ZonesConfig {
        gateway_id: config.gateway_id.clone(),
        store: store.clone(),
        trust: config.trust.clone(),
    }
}

fn reports(telemetry: &Telemetry, metrics: &Metrics, tasks: &TaskGroup) -> Reports {
    Reports {
        metrics: metrics.clone(),
        spans: Spans::new(telemetry),
        tasks: tasks.clone(),
    }
}

/// Returns the way of the hub to the sessions here.
fn own_sessions(zones: &Zones, registry: &Arc<Registry>) -> OwnSessions {
    let (stands, shown) = (zones.clone(), zones.clone());
    let (known, here) = (Arc::clone(registry), Arc::clone(registry));
    OwnSessions {
        position: Box::new(move |session| stands.position(session).map(|(tile, _)| tile)),
        replaced: Box::new(move |character, epoch| known.replaced(character, epoch)),
        resumed: Box::new(move |session, attach| here.elsewhere(session, attach)),
        flush_us: Box::new(move || shown.flush_us()),
    }
}

/// Makes the hub, which passes messages between players over the bus.
fn hub(
    config: &Config,
    bus: Bus,
    store: &Replicas,
    limits: &Arc<Limits>,
    metrics: &Metrics,
    sessions: (OwnSessions, CancellationToken),
    tasks: &TaskGroup,
) -> Arc<Hub> {
    let (sessions, draining) = sessions;
    let parts = HubParts {
        gateway_id: config.gateway_id.clone(),
        address: config.address.clone(),
        bus,
        book: Book::new(store.clone()),
        chat: config.global_chat.clone(),
        presence_poll: config.presence_poll,
        limits: Arc::clone(limits),
        metrics: metrics.clone(),
        sessions,
        draining,
    };
    Hub::new(parts, tasks.clone())
}
