//! The processes of a scene: one persistence service, two zone servers, one gateway, and their store.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use test_servers::{Postgres, Redis};
use tokio::time::{Instant, sleep};

use super::{memory::Memory, scene::StoreKind, ticks::Ticks};
use crate::{
    cluster::{Process, free_port, metrics::sum},
    http::{self, Address},
    terrain::Bounds,
};

/// Longest time until everything is ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Tiles on a side of a region.
const REGION_TILES: i32 = 64;
/// Clock ticks a second in which Linux counts the time of processes.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running world. Its processes end with it.
pub(super) struct World {
    processes: Vec<(&'static str, Process)>,
    /// Zone servers' hosts and ports of metrics, by the id of the process.
    zones: BTreeMap<u32, String>,
    pub(super) gateway: Address,
    folder: PathBuf,
    /// Processor time of processes that were killed, in seconds.
    spent: BTreeMap<&'static str, f64>,
    _servers: Option<(Postgres, Redis)>,
}

impl World {
    /// Starts the programs of a folder with these settings beside those of a scene, and waits until
    /// the gateway is ready.
    ///
    /// # Errors
    /// A program is missing or does not become ready.
    pub(super) async fn start(
        binaries: &Path,
        store: StoreKind,
        settings: &[(String, String)],
    ) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("tilestead-bench-{}", std::process::id()));
        // There is none after a round that ended well.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let servers = match store {
            StoreKind::Sqlite => None,
            StoreKind::Postgres => Some(tokio::task::spawn_blocking(servers).await??),
        };
        let persistence = format!("127.0.0.1:{}", free_port()?);
        let port = free_port()?;
        let mut store = vec![
            ("PERSISTENCE_LISTEN", persistence.clone()),
            ("DATA_DIR", folder.display().to_string()),
            // The scenes have towns across a border of two zones.
            ("KEEP_TOWNS", "false".to_owned()),
        ];
        let mut shared = Vec::new();
        if let Some((postgres, redis)) = &servers {
            store.push(("DATABASE_URL", postgres.create_database("bench")));
            shared.push(("REDIS_URL", redis.url()));
        }
        let zone = vec![("PERSISTENCE_ADDRESSES", persistence)];
        let gateway = [
            zone.clone(),
            shared,
            vec![
                ("PORT", port.to_string()),
                // Each client names an address of its own, as behind a load balancer.
                ("TRUSTED_PROXIES", "127.0.0.1".to_owned()),
                ("DISABLE_RATE_LIMIT", "true".to_owned()),
            ],
        ];
        let services = [
            ("persistence", "persistence-svc", store),
            ("zone", "zone-server", zone.clone()),
            ("zone", "zone-server", zone),
            ("gateway", "gateway", gateway.concat()),
        ];
        let mut world = Self {
            processes: Vec::new(),
            zones: BTreeMap::new(),
            gateway: format!("ws://127.0.0.1:{port}/ws")
                .parse()
                .map_err(anyhow::Error::msg)?,
            folder,
            spent: BTreeMap::new(),
            _servers: servers,
        };
        for (number, (kind, program, env)) in services.into_iter().enumerate() {
            let env = env.into_iter().map(|(k, v)| (k.to_owned(), v));
            let env = env.chain(settings.iter().cloned());
            world.launch(kind, &binaries.join(program), number, env)?;
        }
        world.ready().await?;
        Ok(world)
    }

    fn launch(
        &mut self,
        kind: &'static str,
        program: &Path,
        number: usize,
        env: impl Iterator<Item = (String, String)>,
    ) -> Result<()> {
        let metrics = free_port()?;
        let all = [
            ("INTERNAL_TLS".to_owned(), "off".to_owned()),
            ("METRICS_PORT".to_owned(), metrics.to_string()),
            // As in the container image.
            ("MIMALLOC_PURGE_DELAY".to_owned(), "60000".to_owned()),
        ];
        let env: Vec<(String, String)> = all.into_iter().chain(env).collect();
        let log = self.folder.join(format!("{kind}-{number}.log"));
        let process = Process::start(kind, program, &[], &env, &log)?;
        if kind == "zone" {
            let metrics = format!("127.0.0.1:{metrics}");
            self.zones.insert(process.id(), metrics);
        }
        self.processes.push((kind, process));
        Ok(())
    }

    async fn ready(&mut self) -> Result<()> {
        let until = Instant::now() + READY_WITHIN;
        let authority = self.gateway.authority();
        loop {
            let answer = http::get(&authority, "/readyz").await;
            if answer.is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            for (kind, process) in &mut self.processes {
                if process.ended().is_some() {
                    bail!("{kind} has ended; it said last:\n{}", process.said());
                }
            }
            if Instant::now() > until {
                bail!("the gateway is not ready after {READY_WITHIN:?}");
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until the zone servers play every region of a world with these bounds.
    ///
    /// # Errors
    /// A zone server does not say, or a region is played by nobody for long.
    pub(super) async fn played_everywhere(&self, bounds: Bounds) -> Result<()> {
        let side = |from: i32, to: i32| f64::from((to - from) / REGION_TILES);
        let all = side(bounds.min_x, bounds.max_x) * side(bounds.min_z, bounds.max_z);
        let until = Instant::now() + READY_WITHIN;
        loop {
            let mut played = 0.0;
            for metrics in self.zones.values() {
                let text = http::get(metrics, "/metrics").await?.text();
                played += sum(&text, "zone_regions", "");
            }
            if played >= all {
                return Ok(());
            }
            if Instant::now() > until {
                bail!("only {played} of {all} regions are played after {READY_WITHIN:?}");
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Kills a zone server.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn kill_zone(&mut self) -> Result<()> {
        let place = self.processes.iter().position(|(kind, _)| *kind == "zone");
        let (kind, mut process) = self.processes.remove(place.context("no zone server")?);
        *self.spent.entry(kind).or_default() += used(process.id())?;
        self.zones.remove(&process.id());
        process.kill();
        Ok(())
    }

    /// Returns the ticks that the zone servers have played so far.
    ///
    /// # Errors
    /// A zone server does not say.
    pub(super) async fn ticks(&self) -> Result<Ticks> {
        let mut all = Ticks::default();
        for metrics in self.zones.values() {
            all = all.and(Ticks::read(&http::get(metrics, "/metrics").await?.text()));
        }
        Ok(all)
    }

    /// Begins to watch the memory of the gateway.
    ///
    /// # Errors
    /// It has ended.
    pub(super) fn gateway_memory(&self) -> Result<Memory> {
        let mut all = self.processes.iter();
        let gateway = all.find(|(kind, _)| *kind == "gateway");
        Memory::of(gateway.context("no gateway")?.1.id())
    }

    /// Returns the processor time that each kind of process has used, in seconds; the generator's
    /// own too. The servers of PostgreSQL and Redis are not counted.
    ///
    /// # Errors
    /// A process has ended.
    pub(super) fn processor_time(&self) -> Result<BTreeMap<&'static str, f64>> {
        let mut times = self.spent.clone();
        times.insert("generator", used(std::process::id())?);
        for (kind, process) in &self.processes {
            let time = used(process.id()).with_context(|| format!("{kind} has ended"))?;
            *times.entry(*kind).or_default() += time;
        }
        Ok(times)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The gateway first, so that nobody seeks a process that is gone.
        while let Some((_, mut process)) = self.processes.pop() {
            process.kill();
        }
        // What is left of it lies among temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn servers() -> Result<(Postgres, Redis)> {
    let settings = ["fsync=on", "synchronous_commit=on", "max_connections=200"];
    let postgres = Postgres::try_start_with(&settings).map_err(anyhow::Error::msg)?;
    Ok((postgres, Redis::start()))
}

/// Returns the processor time of a process in seconds: fields 14 and 15 of `/proc/PID/stat`.
fn used(process: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The second field is the program's name, which may have spaces.
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let mut times = fields.split_whitespace().skip(11).take(2);
    let mut next = || -> Result<f64> { Ok(times.next().context("too few fields")?.parse()?) };
    Ok((next()? + next()?) / TICKS_PER_SECOND)
}
