//! All services of the world, started together and stopped in order.
//!
//! Always: every service except the content server binds its ports before anything runs, so that a
//! failed start changes nothing. Gateways stop before zones and zones before persistence, so that
//! each can still say goodbye and save.

use std::{net::SocketAddr, path::Path, time::Duration};

use anyhow::Context as _;
use service_runtime::{
    authority::{Authority, CERTIFICATE_DAYS},
    config::{ConfigError, Env, Reader},
    drain,
    rpc::{Identity, Role, Trust},
    telemetry::{Telemetry, TelemetryConfig},
};
use tokio::sync::mpsc;

use crate::{
    cdn::Cdn,
    chaos::{Around, Supervisor},
    directory,
    part::Part,
    plan::{self, Plan},
    probe,
};

/// Time for which the others wait for the persistence service before they start anyway.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Time that each gateway may take to stop.
const GATEWAY_LIMIT: Duration = Duration::from_secs(15);
const ZONE_LIMIT: Duration = Duration::from_secs(30);
const PERSISTENCE_LIMIT: Duration = Duration::from_secs(10);
const ASSETS_LIMIT: Duration = Duration::from_secs(5);

/// Reason for the stop of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// A signal asked for the stop.
    Asked,
    /// A service ended by itself.
    Early,
}

/// The running services.
pub(crate) struct Cluster {
    persistence: Part,
    /// The zone servers, or the supervisor of those that are processes of their own.
    zones: Vec<Part>,
    /// Names and addresses of the zone servers.
    zones_at: Vec<(String, SocketAddr)>,
    gateways: Vec<Part>,
    assets: Option<Part>,
    /// Trust of the launcher itself, which looks on.
    trust: Trust,
    early: mpsc::Receiver<String>,
}

impl Cluster {
    /// Binds everything, then runs it. Each service gets a certificate of an authority that lives in
    /// memory alone.
    pub(crate) async fn start(plan: &Plan) -> anyhow::Result<Self> {
        let (ended, early) = mpsc::channel(1);
        // The other services fetch from the content server before they bind their ports.
        let assets = serve_assets(plan, ended.clone()).await?;
        let assets_at = assets.as_ref().map(|part| part.address);
        let authority = Authority::new()?;
        let (mut config, own) = settings(
            "persistence-svc",
            &plan.persistence,
            persistence_svc::Config::read,
        )?;
        config.trust = trust(&authority, Role::Persistence, "persistence-svc")?;
        let persistence = persistence_svc::Server::bind(config, own.clone()).await?;
        let around = Around {
            persistence: persistence.address(),
            assets: assets_at,
        };
        let own_trust = trust(&authority, Role::Operator, "launcher")?;
        let zones = Zones::bind(plan, around, &authority, &own_trust).await?;
        let gateways = bind_gateways(plan, around, &authority, zones.socket()).await?;

        let name = "persistence-svc".to_owned();
        let run = |stop| persistence.run(stop);
        let persistence = Part::run(name, around.persistence, own, ended.clone(), run);
        // The other services could start before that answer, but then each would complain at
        // every start.
        let answering = directory::wait_until_answering(&own_trust, around.persistence);
        drain::within(START_LIMIT, "persistence-svc", Box::pin(answering))
            .await
            .transpose()?;
        let (zones, zones_at) = zones.run(&ended);
        let gateways = (1..).zip(gateways).map(|(n, (server, own))| {
            let (name, address) = (format!("gateway {n}"), server.address());
            Part::run(name, address, own, ended.clone(), |stop| server.run(stop))
        });
        let gateways = gateways.collect();
        Ok(Self {
            persistence,
            zones,
            zones_at,
            gateways,
            assets,
            trust: own_trust,
            early,
        })
    }

    /// Waits until players can come in: every region has an owner and every gateway is ready. The
    /// future does not borrow the cluster and is safe to drop midway.
    pub(crate) fn ready(&self) -> impl Future<Output = anyhow::Result<()>> + use<> {
        let gateways: Vec<SocketAddr> = self.gateways.iter().map(|part| part.address).collect();
        let (persistence, trust) = (self.persistence.address, self.trust.clone());
        async move {
            probe::wait_until_ready(&gateways).await;
            directory::wait_until_owned(&trust, persistence).await
        }
    }

    /// Returns the name and address of every service, gateways first.
    pub(crate) fn addresses(&self) -> Vec<(String, SocketAddr)> {
        let row = |part: &Part| (part.name.clone(), part.address);
        let gateways = self.gateways.iter().map(row);
        let rest = [&self.persistence].into_iter().chain(&self.assets).map(row);
        gateways.chain(self.zones_at.clone()).chain(rest).collect()
    }

    /// Waits until a service ends by itself. Safe to drop midway.
    pub(crate) async fn ended_early(&mut self) {
        match self.early.recv().await {
            Some(name) => tracing::error!(service = name, "ended by itself"),
            None => std::future::pending().await,
        }
    }

    /// Stops everything in order, each within a bounded time. Fails with the first thing that
    /// went wrong, or when a service had ended by itself.
    pub(crate) async fn stop(self, ending: Ending) -> anyhow::Result<()> {
        let mut wrong = None;
        let tiers = [
            (self.gateways, GATEWAY_LIMIT),
            (self.zones, ZONE_LIMIT),
            (vec![self.persistence], PERSISTENCE_LIMIT),
            (self.assets.into_iter().collect(), ASSETS_LIMIT),
        ];
        for (parts, limit) in tiers {
            parts.iter().for_each(Part::ask);
            let mut ending = tokio::task::JoinSet::new();
            for part in parts {
                ending.spawn(part.ended(limit));
            }
            for ended in ending.join_all().await {
                if let Err(error) = ended {
                    tracing::error!(error = format!("{error:#}"), "stop");
                    wrong.get_or_insert(error);
                }
            }
        }
        match (wrong, ending) {
            (Some(error), _) => Err(error),
            (None, Ending::Early) => anyhow::bail!("a service ended by itself"),
            (None, Ending::Asked) => Ok(()),
        }
    }
}

/// The zone servers, bound and not running yet.
enum Zones {
    /// In this process.
    Here(Vec<(zone_server::Server, Telemetry)>),
    /// As processes of their own.
    Apart(Box<Supervisor>, Telemetry),
}

impl Zones {
    async fn bind(
        plan: &Plan,
        around: Around,
        authority: &Authority,
        own_trust: &Trust,
    ) -> anyhow::Result<Self> {
        if plan.chaos {
            let (_, own) = settings("supervisor", &plan.persistence, |_| ())?;
            let trust = own_trust.clone();
            let supervisor = Supervisor::bind(&plan.zones, around, authority, trust).await?;
            return Ok(Self::Apart(Box::new(supervisor), own));
        }
        let mut zones = Vec::new();
        for (n, env) in (1..).zip(&plan.zones) {
            let env = plan::joined(env, around.persistence, around.assets);
            let (mut config, own) = settings("zone-server", &env, zone_server::Config::read)?;
            config.trust = trust(authority, Role::Zone, &format!("zone-server-{n}"))?;
            zones.push((zone_server::Server::bind(config, own.clone()).await?, own));
        }
        Ok(Self::Here(zones))
    }

    /// Returns the socket at which gateways find the supervisor.
    fn socket(&self) -> Option<&Path> {
        match self {
            Self::Here(_) => None,
            Self::Apart(supervisor, _) => Some(supervisor.socket()),
        }
    }

    /// Runs them. Returns what runs, and the names and addresses of the zone servers.
    fn run(self, ended: &mpsc::Sender<String>) -> (Vec<Part>, Vec<(String, SocketAddr)>) {
        match self {
            Self::Here(zones) => {
                let zones = (1..).zip(zones).map(|(n, (server, own))| {
                    let (name, address) = (format!("zone-server {n}"), server.address());
                    Part::run(name, address, own, ended.clone(), |stop| server.run(stop))
                });
                let zones: Vec<Part> = zones.collect();
                let at = zones.iter().map(|part| (part.name.clone(), part.address));
                let at = at.collect();
                (zones, at)
            }
            Self::Apart(supervisor, own) => {
                let (at, meter) = (supervisor.addresses(), own.meter());
                let first = at.first().map(|(_, address)| *address);
                let address = first.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
                let run = |stop| supervisor.run(meter, stop);
                let name = "supervisor".to_owned();
                (vec![Part::run(name, address, own, ended.clone(), run)], at)
            }
        }
    }
}

/// Binds the gateways, which find the supervisor at `socket`, if there is one.
async fn bind_gateways(
    plan: &Plan,
    around: Around,
    authority: &Authority,
    socket: Option<&Path>,
) -> anyhow::Result<Vec<(gateway::Server, Telemetry)>> {
    let mut gateways = Vec::new();
    for env in &plan.gateways {
        let mut env = plan::joined(env, around.persistence, around.assets);
        if let Some(socket) = socket {
            env.set("CHAOS_SOCKET", socket.to_string_lossy());
        }
        let (config, own) = settings("gateway", &env, gateway::Config::read)?;
        let trust = trust(authority, Role::Gateway, config.gateway_id())?;
        let config = config.with_trust(trust);
        let bound = gateway::Server::bind(config, own.clone()).await;
        gateways.push((bound.map_err(|error| taken(error, &env))?, own));
    }
    Ok(gateways)
}

/// Returns the trust of a service of this world.
fn trust(authority: &Authority, role: Role, name: &str) -> anyhow::Result<Trust> {
    let name = name.to_owned();
    let pem = authority.issue(&Identity { role, name }, CERTIFICATE_DAYS)?;
    Trust::of(&pem)
}

/// Serves the assets, unless the settings name another content server.
async fn serve_assets(plan: &Plan, ended: mpsc::Sender<String>) -> anyhow::Result<Option<Part>> {
    let Some(assets) = &plan.assets else {
        return Ok(None);
    };
    let cdn = Cdn::bind(assets).await?;
    let (address, (_, own)) = (cdn.address, settings("cdn", &plan.persistence, |_| ())?);
    let run = |stop| cdn.run(stop);
    let part = Part::run("assets".to_owned(), address, own, ended, run);
    Ok(Some(part))
}

/// Returns one service's settings and its telemetry.
fn settings<C>(
    service: &'static str,
    env: &Env,
    read: fn(&mut Reader) -> C,
) -> anyhow::Result<(C, Telemetry)> {
    let mut reader = Reader::new(env.clone());
    let telemetry = TelemetryConfig::read(&mut reader);
    let config = read(&mut reader);
    reader.finish()?;
    let telemetry = Telemetry::new(service, &telemetry).context(service)?;
    Ok((config, telemetry))
}

/// Turns the error of a taken gateway port into plain words.
fn taken(error: anyhow::Error, env: &Env) -> anyhow::Error {
    let is_taken = error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::AddrInUse)
    });
    if !is_taken {
        return error;
    }
    let port = env.get("PORT").unwrap_or_default();
    ConfigError::new(format!(
        "port {port} is taken; choose another one with --port."
    ))
    .into()
}
