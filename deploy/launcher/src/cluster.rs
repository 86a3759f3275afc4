//! All services of the world, started together and stopped in order.
//!
//! Always: every service except the content server binds its ports before anything runs, so that a
//! failed start changes nothing. Gateways stop before zones and zones before persistence, so that
//! each can still say goodbye and save.

use std::{net::SocketAddr, time::Duration};

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
    zones: Vec<Part>,
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
        let at = persistence.address();
        let mut zones = Vec::new();
        for (n, env) in (1..).zip(&plan.zones) {
            let env = plan::joined(env, at, assets_at);
            let (mut config, own) = settings("zone-server", &env, zone_server::Config::read)?;
            config.trust = trust(&authority, Role::Zone, &format!("zone-server-{n}"))?;
            zones.push((zone_server::Server::bind(config, own.clone()).await?, own));
        }
        let mut gateways = Vec::new();
        for env in &plan.gateways {
            let env = plan::joined(env, at, assets_at);
            let (config, own) = settings("gateway", &env, gateway::Config::read)?;
            let trust = trust(&authority, Role::Gateway, config.gateway_id())?;
            let config = config.with_trust(trust);
            let bound = gateway::Server::bind(config, own.clone()).await;
            gateways.push((bound.map_err(|error| taken(error, &env))?, own));
        }

        let own_trust = trust(&authority, Role::Operator, "launcher")?;
        let name = "persistence-svc".to_owned();
        let run = |stop| persistence.run(stop);
        let persistence = Part::run(name, at, own, ended.clone(), run);
        // The other services could start before that answer, but then each would complain at
        // every start.
        let answering = Box::pin(directory::wait_until_answering(&own_trust, at));
        drain::within(START_LIMIT, "persistence-svc", answering)
            .await
            .transpose()?;
        let zones = (1..).zip(zones).map(|(n, (server, own))| {
            let (name, address) = (format!("zone-server {n}"), server.address());
            Part::run(name, address, own, ended.clone(), |stop| server.run(stop))
        });
        let zones = zones.collect();
        let gateways = (1..).zip(gateways).map(|(n, (server, own))| {
            let (name, address) = (format!("gateway {n}"), server.address());
            Part::run(name, address, own, ended.clone(), |stop| server.run(stop))
        });
        let gateways = gateways.collect();
        Ok(Self {
            persistence,
            zones,
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
        let parts = self
            .gateways
            .iter()
            .chain(&self.zones)
            .chain([&self.persistence])
            .chain(&self.assets);
        parts
            .map(|part| (part.name.clone(), part.address))
            .collect()
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
