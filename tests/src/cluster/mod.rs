//! The services as real processes, in any number and order, with a fresh PostgreSQL database and a
//! Redis of their own. Only a few clusters run at the same time: a small machine would make each
//! other's deadlines pass. When a test fails, the output of the processes stays under `tests/out`.

mod certificates;
mod database;
pub mod launcher;
pub mod metrics;
mod plan;
pub mod process;
mod production;
mod store;
mod wires;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use service_runtime::{
    authority::Authority,
    rpc::{Role, Trust},
};
use test_servers::{Postgres, Redis};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use certificates::Certificates;
pub use launcher::Launcher;
pub use plan::{Kind, Member, Plan};
pub use process::Finished;
pub use process::{Process, binary, free_port};
use production::Production;
pub use store::{Numbers, Store};
pub use wires::Wires;

use crate::http;

/// Longest time until all services are ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Name of all persistence services of a cluster that has one.
const STORE_NAME: &str = "persistence";
/// The first persistence service.
const STORE: Member = (Kind::Persistence, 0);

struct Ports {
    /// Port for clients or callers.
    main: u16,
    /// Its probes.
    probes: u16,
}

/// The server in which the database is.
enum Database {
    /// Other tests use it too.
    Shared { _server: Arc<Postgres> },
    /// May be killed, or has settings of its own.
    Own(Postgres),
}

/// The stores of a cluster.
struct Stores {
    postgres: Database,
    database_url: String,
    redis: Redis,
    production: Option<Production>,
}

impl Stores {
    /// Starts them with an empty database. `folder` takes their files.
    async fn start(plan: &Plan, database: &str, folder: &Path) -> Result<Self> {
        if plan.production {
            let (production, postgres, redis) = Production::start(database, folder).await?;
            return Ok(Self {
                database_url: postgres.url_of(database),
                postgres: Database::Own(postgres),
                redis,
                production: Some(production),
            });
        }
        let (made, settings) = (database.to_owned(), plan.postgres.clone());
        let archive = plan.archive;
        let own = plan.breakable || archive || !settings.is_empty();
        let started = tokio::task::spawn_blocking(move || {
            if own {
                let server = match archive {
                    true => Postgres::try_start_archiving(&settings),
                    false => Postgres::try_start_with(&settings),
                };
                let server = server.map_err(anyhow::Error::msg)?;
                let url = server.create_database(&made);
                return anyhow::Ok((Database::Own(server), Redis::start(), url));
            }
            let server = Postgres::shared();
            let url = server.create_database(&made);
            Ok((Database::Shared { _server: server }, Redis::start(), url))
        });
        let (postgres, redis, database_url) = started.await??;
        Ok(Self {
            postgres,
            database_url,
            redis,
            production: None,
        })
    }
}

/// A running cluster.
pub struct Cluster {
    plan: Plan,
    ports: BTreeMap<Member, Ports>,
    processes: BTreeMap<Member, Process>,
    logs: PathBuf,
    database: String,
    database_url: String,
    redis: Redis,
    postgres: Database,
    wires: Option<Wires>,
    production: Option<Production>,
    certificates: Certificates,
    _place: OwnedSemaphorePermit,
}

/// Waits for a place on the machine, on which two clusters run at a time, or one `alone`. `tests/run`
/// knows the number as well.
pub async fn place(alone: bool) -> Result<OwnedSemaphorePermit> {
    const PLACES: u32 = 2;
    static FREE: std::sync::OnceLock<Arc<Semaphore>> = std::sync::OnceLock::new();
    let free = FREE.get_or_init(|| Arc::new(Semaphore::new(PLACES as usize)));
    let places = if alone { PLACES } else { 1 };
    Ok(Arc::clone(free).acquire_many_owned(places).await?)
}

impl Cluster {
    /// Starts everything, the store first, and waits until all are ready.
    pub fn start(plan: Plan) -> BoxFuture<'static, Result<Self>> {
        Box::pin(async move {
            let mut cluster = Self::prepare(plan).await?;
            let members = cluster.members();
            for member in &members {
                cluster.launch(*member)?;
            }
            cluster.ready().await?;
            Ok(cluster)
        })
    }

    /// Prepares stores and ports; starts none of the services.
    pub fn prepare(plan: Plan) -> BoxFuture<'static, Result<Self>> {
        Box::pin(async move {
            let place = place(plan.alone).await?;
            for kind in [Kind::Persistence, Kind::Zone, Kind::Gateway] {
                binary(kind.binary())?;
            }
            let name = plan.name;
            let database = format!("{name}_{}", std::process::id());
            let logs = std::env::temp_dir().join(format!("ts-logs-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&logs)?;
            let Stores {
                postgres,
                database_url,
                redis,
                production,
            } = Stores::start(&plan, &database, &logs).await?;
            let certificates = Certificates::new(&logs.join("certificates"))?;
            let mut cluster = Self {
                ports: BTreeMap::new(),
                processes: BTreeMap::new(),
                logs,
                database,
                database_url,
                redis,
                postgres,
                wires: None,
                production,
                certificates,
                _place: place,
                plan,
            };
            for member in cluster.members() {
                let shared = match member.0 {
                    Kind::Persistence if cluster.plan.one_name.is_some() => {
                        cluster.ports.get(&STORE)
                    }
                    Kind::Persistence | Kind::Zone | Kind::Gateway => None,
                };
                let ports = Ports {
                    main: shared.map_or_else(free_port, |first| Ok(first.main))?,
                    probes: free_port()?,
                };
                cluster.ports.insert(member, ports);
            }
            if let Some(named) = cluster.plan.one_name {
                cluster.name(0..named)?;
            }
            if cluster.plan.breakable {
                cluster.wires = Some(Wires::between(&cluster).await?);
            }
            Ok(cluster)
        })
    }

    /// Returns all services of the plan, stores' side first.
    pub fn members(&self) -> Vec<Member> {
        let of = |kind, count| (0..count).map(move |number| (kind, number));
        of(Kind::Persistence, self.plan.persistence)
            .chain(of(Kind::Zone, self.plan.zones))
            .chain(of(Kind::Gateway, self.plan.gateways))
            .collect()
    }

    /// Starts one service; on the ports that it had, if it ran before.
    pub fn launch(&mut self, member: Member) -> Result<()> {
        let (kind, number) = member;
        let name = format!("{}-{number}", kind.binary());
        let env = self.env_of(member)?;
        let log = self.logs.join(format!("{name}.log"));
        let path = match &self.plan.binaries {
            Some(folder) => folder.join(kind.binary()),
            None => binary(kind.binary())?,
        };
        let process = Process::start(&name, &path, &[], &env, &log)?;
        self.processes.insert(member, process);
        Ok(())
    }

    /// Takes the binaries of this folder for every service that is launched from now on; none: those
    /// of this build.
    pub fn launch_from(&mut self, folder: Option<PathBuf>) {
        self.plan.binaries = folder;
    }

    /// Returns the addresses at which a member finds the persistence service.
    fn stores_of(&mut self, member: Member) -> Vec<String> {
        if self.plan.one_name.is_some() {
            return vec![format!("{STORE_NAME}:{}", self.ports[&STORE].main)];
        }
        let all = 0..self.plan.persistence;
        match &self.wires {
            Some(wires) => wires.stores_of(member),
            None => all.map(|number| self.persistence(number)).collect(),
        }
    }

    fn env_of(&mut self, member: Member) -> Result<Vec<(String, String)>> {
        let stores = self.stores_of(member);
        let ports = self.ports.get(&member).context("no such service")?;
        let mut env = vec![("LOG_FORMAT".to_owned(), "text".to_owned())];
        let mut set = |name: &str, value: String| env.push((name.to_owned(), value));
        // The built-in content, even if some server on this machine offers another.
        set("SKIP_MANIFESTS", "true".to_owned());
        match member.0 {
            Kind::Persistence => {
                set("PERSISTENCE_LISTEN", self.persistence(member.1));
                let url = self.wires.as_ref().map(|wires| wires.database_of(member));
                set(
                    "DATABASE_URL",
                    url.unwrap_or_else(|| self.database_url.clone()),
                );
                set("METRICS_PORT", ports.probes.to_string());
                set("BALANCE_LOAD", self.plan.balance.to_string());
                set("KEEP_TOWNS", self.plan.towns.to_string());
            }
            Kind::Zone => {
                set("ZONE_LISTEN", format!("127.0.0.1:{}", ports.main));
                set("PERSISTENCE_ADDRESSES", stores.join(","));
                set("METRICS_PORT", ports.probes.to_string());
                set("DUMP_TICKS", self.plan.dump_ticks.to_string());
                // The bots trade as soon as they are made.
                set("NEWCOMER_TICKS", "0".to_owned());
                if let Some(wires) = &self.wires {
                    set("ZONE_ADVERTISE", wires.advertised(member));
                }
            }
            Kind::Gateway => {
                set("PORT", ports.main.to_string());
                set("HOST", "127.0.0.1".to_owned());
                set("METRICS_PORT", "0".to_owned());
                set("PERSISTENCE_ADDRESSES", stores.join(","));
                set("REDIS_URL", self.redis.url());
                set("DISABLE_RATE_LIMIT", (!self.plan.rate_limits).to_string());
            }
        }
        if self.plan.one_name.is_some() {
            set("HOSTS_FILE", self.hosts().display().to_string());
        }
        if self.plan.secret_files {
            for (name, value) in &mut env {
                if matches!(name.as_str(), "DATABASE_URL" | "REDIS_URL") {
                    let file = self.logs.join(name.as_str());
                    std::fs::write(&file, &*value)?;
                    name.push_str("_FILE");
                    *value = file.display().to_string();
                }
            }
        }
        let production = self.production.as_ref();
        let more = production.map(|more| more.env_of(member.0, &self.database));
        let more = more.into_iter().flatten();
        env.extend(more.map(|(name, value)| (name.to_owned(), value)));
        env.extend(self.certificates.env_of(member)?);
        env.extend(self.plan.env.iter().cloned());
        Ok(env)
    }

    /// Waits until every running service says that it is ready.
    pub fn ready<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let deadline = Instant::now() + READY_WITHIN;
            let members: Vec<Member> = self.processes.keys().copied().collect();
            for member in members {
                self.ready_one(member, deadline).await?;
            }
            Ok(())
        })
    }

    async fn ready_one(&mut self, member: Member, deadline: Instant) -> Result<()> {
        let authority = self.probes(member)?;
        let mut last;
        loop {
            let process = self.processes.get_mut(&member).context("not started")?;
            if let Some(code) = process.ended() {
                let said = process.said();
                bail!("{member:?} ended with {code:?}: {said}");
            }
            match http::get(&authority, "/readyz").await {
                Ok(answer) if answer.status == 200 => return Ok(()),
                Ok(answer) => last = format!("{}: {}", answer.status, answer.text()),
                Err(e) => last = format!("{e:#}"),
            }
            if Instant::now() > deadline {
                let said = self.processes.get(&member).map(Process::said);
                bail!(
                    "{member:?} is not ready: {last}\n{}",
                    said.unwrap_or_default()
                );
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the address of a service's probes and metrics.
    pub fn probes(&self, member: Member) -> Result<String> {
        let ports = self.ports.get(&member).context("no such service")?;
        let port = if member.0 == Kind::Gateway {
            ports.main
        } else {
            ports.probes
        };
        Ok(format!("{}:{port}", self.host(member)))
    }

    /// Returns the address of a process: each replica behind one name has its own.
    fn host(&self, (kind, number): Member) -> String {
        match kind {
            Kind::Persistence if self.plan.one_name.is_some() => format!("127.0.1.{}", number + 1),
            Kind::Persistence | Kind::Zone | Kind::Gateway => "127.0.0.1".to_owned(),
        }
    }

    /// Returns the file with the addresses behind the name.
    fn hosts(&self) -> PathBuf {
        self.logs.join("hosts")
    }

    /// Lets the name stand for these persistence services from now on.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn name(&self, numbers: std::ops::Range<usize>) -> Result<()> {
        let line = |number| format!("{} {STORE_NAME}\n", self.host((Kind::Persistence, number)));
        let lines: String = numbers.map(line).collect();
        // Nobody reads half of it.
        let next = self.logs.join("hosts.next");
        std::fs::write(&next, lines)?;
        std::fs::rename(&next, self.hosts()).context("name the persistence services")
    }

    /// Returns host:port of a gateway.
    pub fn gateway(&self, number: usize) -> String {
        let port = self
            .ports
            .get(&(Kind::Gateway, number))
            .map_or(0, |p| p.main);
        format!("127.0.0.1:{port}")
    }

    /// Returns host:port of a persistence service.
    pub fn persistence(&self, number: usize) -> String {
        let member = (Kind::Persistence, number);
        let port = self.ports.get(&member).map_or(0, |p| p.main);
        format!("{}:{port}", self.host(member))
    }

    /// Returns host:port where a zone server itself listens.
    pub fn zone(&self, number: usize) -> String {
        let port = self.ports.get(&(Kind::Zone, number)).map_or(0, |p| p.main);
        format!("127.0.0.1:{port}")
    }

    /// Starts one more service of a kind; it need not be ready yet.
    pub fn add(&mut self, kind: Kind) -> Result<Member> {
        anyhow::ensure!(
            self.wires.is_none() || kind == Kind::Gateway,
            "a breakable cluster has a proxy for each service of its plan"
        );
        let number = self.ports.keys().filter(|(of, _)| *of == kind).count();
        let ports = Ports {
            main: free_port()?,
            probes: free_port()?,
        };
        self.ports.insert((kind, number), ports);
        self.launch((kind, number))?;
        Ok((kind, number))
    }

    /// Returns the trust of an operator of this cluster.
    pub fn operator(&self) -> &Trust {
        self.certificates.operator()
    }

    /// Returns the authority of this cluster's certificates.
    pub fn authority(&self) -> &Authority {
        self.certificates.authority()
    }

    /// Returns the trust of one more process of this cluster.
    pub fn trust(&self, role: Role, name: &str) -> Result<Trust> {
        self.certificates.trust(role, name)
    }

    /// Returns the services that run now.
    pub fn running(&self) -> impl Iterator<Item = Member> + '_ {
        self.processes.keys().copied()
    }

    /// Returns the proxies of a breakable cluster.
    pub fn wires(&self) -> Result<&Wires> {
        self.wires.as_ref().context("the cluster is not breakable")
    }

    /// Returns the PostgreSQL server of a breakable cluster.
    pub fn postgres(&mut self) -> Result<&mut Postgres> {
        match &mut self.postgres {
            Database::Own(server) => Ok(server),
            Database::Shared { .. } => bail!("the cluster is not breakable"),
        }
    }

    /// Runs a command of `persistence-svc` to its end, on the database past any pooler.
    ///
    /// # Errors
    /// It cannot run.
    pub async fn command(&self, arguments: &[&str], time_limit: Duration) -> Result<Finished> {
        let url = vec![("DATABASE_URL", self.database_url.clone())];
        let production = self.production.as_ref();
        let env = production.map_or(url, |more| more.database_env(&self.database));
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, &**value)).collect();
        process::finish("persistence-svc", arguments, &env, time_limit).await
    }

    /// Lets gateways of a production cluster sign with the next key.
    ///
    /// # Errors
    /// It is not in production, or the file cannot be written.
    pub fn next_key(&self) -> Result<()> {
        let production = self.production.as_ref();
        production.context("not in production")?.next_key()
    }

    /// Returns the certificates of all processes, to rotate them.
    pub fn certificates(&mut self) -> &mut Certificates {
        &mut self.certificates
    }

    /// Returns the Redis server.
    pub fn redis(&mut self) -> &mut Redis {
        &mut self.redis
    }

    /// Returns the database's address, past any proxy.
    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Returns a running service.
    pub fn process(&mut self, member: Member) -> Result<&mut Process> {
        self.processes.get_mut(&member).context("not running")
    }

    /// Asks a service to end and waits for it; its exit code.
    pub fn stop<'a>(&'a mut self, member: Member) -> BoxFuture<'a, Result<Option<i32>>> {
        Box::pin(async move {
            let mut process = self.processes.remove(&member).context("not running")?;
            process.terminate();
            process.wait(Duration::from_secs(20)).await
        })
    }

    /// Kills a service at once.
    pub fn kill(&mut self, member: Member) -> Result<()> {
        self.processes
            .remove(&member)
            .context("not running")?
            .kill();
        Ok(())
    }

    /// Stops everything, clients' side first, and starts it all again on the same stores.
    pub fn restart<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let members = self.members();
            for member in members.iter().rev() {
                let code = self.stop(*member).await?;
                if code != Some(0) {
                    bail!("{member:?} ended with {code:?} on SIGTERM");
                }
            }
            for member in members {
                self.launch(member)?;
            }
            self.ready().await
        })
    }

    /// Returns the database, for tests that count.
    pub async fn store(&self) -> Result<Store> {
        match (&self.production, &self.postgres) {
            // Only the judge comes by the socket, which needs no TLS.
            (Some(_), Database::Own(server)) => {
                Store::connect(&server.socket_url_of(&self.database)).await
            }
            _ => Store::connect(&self.database_url).await,
        }
    }

    /// Returns the database's name.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Returns the folder of its logs while it runs.
    pub fn logs(&self) -> &Path {
        &self.logs
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.processes.clear();
        process::keep_logs(self.plan.name, &self.logs);
    }
}
