//! Runs, leases, the planner and the directory, by the real persistence service over SQLite in memory.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use anyhow::{Result, anyhow, ensure};
use persistence_svc::{
    Mutants,
    simulation::{Answer, Ask, Store, telemetry},
};
use prost::Message;
use proto::rpc::{common::v1 as common, persistence::v1 as wire};
use serde::{Deserialize, Serialize};
use world::Region;

use crate::{clock::timed, gateway::number, land::Land, zones::Owned};

/// Begin of the simulated time, in milliseconds.
const BEGIN_MS: u64 = 1_700_000_000_000;
const TICK_MS: u64 = 600;
/// Cost of a player in a tick, in microseconds (BENCHMARKS.md, "The tick alone").
const PLAYER_US: u32 = 5;
/// Least cost of a region for the planner, in microseconds.
const FLOOR_US: u32 = 10;
/// Ticks within which the planner may even out the loads.
const EVEN_TICKS: u64 = 150;
/// Load of the busiest run over the mean at which the loads are even, in thousandths.
const EVEN_PERMILLE: u32 = 1_300;

/// Measured cost of placement. Times are processor time in microseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PlacementCost {
    /// Time of the plan that gives all regions their first owners.
    pub first_plan_us: f64,
    /// Time of the whole round of the planner that carries it out.
    pub first_round_us: f64,
    /// Time to read the planner's view from the store.
    pub read_us: f64,
    /// Time of a plan that changes nothing.
    pub idle_plan_us: f64,
    /// Longest time of a plan that evens out the loads.
    pub even_plan_us: f64,
    /// Load of the busiest run over the mean before that, in thousandths.
    pub uneven_permille: u32,
    /// The same after it.
    pub even_permille: u32,
    /// Regions that changed their owner for it.
    pub even_moves: usize,
    /// Simulated time that it took, in seconds.
    pub even_s: f64,
    /// Time of the plan after the busiest run was killed.
    pub kill_plan_us: f64,
    /// Time of the whole round that gives its regions to others.
    pub kill_round_us: f64,
    /// Regions that got another owner by it.
    pub kill_moves: usize,
    /// Time of a renewal of a lease, with the loads of the run's regions.
    pub renew_us: f64,
    /// Cost of the directory.
    pub directory: DirectoryCost,
}

/// Measured cost of the directory. Times are processor time in microseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DirectoryCost {
    /// Bytes of a push, which is the whole directory.
    pub bytes: usize,
    /// Time to read it from the store.
    pub read_us: f64,
    /// Time to encode it for one watcher.
    pub encode_us: f64,
    /// Time to decode it.
    pub decode_us: f64,
    /// Pushes to each watcher while all runs register and the first plan is made.
    pub start_pushes: u64,
    /// Pushes while the loads are evened out.
    pub even_pushes: u64,
    /// Pushes after a kill.
    pub kill_pushes: u64,
}

/// See the module.
struct Cluster {
    store: Store,
    now_ms: u64,
    /// Runs with the number of their last batch.
    runs: BTreeMap<u64, u64>,
    /// Players by region.
    players: HashMap<Region, u32>,
}

/// Places the regions of a world on `zones` runs, evens out the loads of `players`, and kills the
/// busiest run at the end. Returns the owners before the kill, and the cost.
///
/// # Errors
/// The store is broken, or gave an answer to another question.
pub fn place(
    land: &Land,
    zones: usize,
    players: HashMap<Region, u32>,
) -> Result<(Owned, PlacementCost)> {
    let telemetry = telemetry()?;
    let mut cluster = Cluster {
        store: Store::new(BEGIN_MS, &telemetry, Mutants::default())?,
        now_ms: BEGIN_MS,
        runs: BTreeMap::new(),
        players,
    };
    let mut cost = PlacementCost::default();
    cluster.begin(land, zones, &mut cost)?;
    cluster.even_out(&mut cost)?;
    let owners = cluster.owners()?;
    cluster.directory_cost(&mut cost.directory)?;
    if zones > 1 {
        cluster.kill(&owners, &mut cost)?;
    }
    Ok((owners, cost))
}

impl Cluster {
    fn call(&self, ask: Ask) -> Result<Answer> {
        let answer = self.store.call(self.now_ms, ask);
        answer.map_err(|status| anyhow!("the store: {status}"))
    }

    /// Registers all runs and lets the planner give them their first regions.
    fn begin(&mut self, land: &Land, zones: usize, cost: &mut PlacementCost) -> Result<()> {
        let regions: Vec<common::Region> = land.regions().map(wire_region).collect();
        for n in 0..zones {
            let answer = self.call(Ask::Register(wire::RegisterRequest {
                address: format!("zone-server-{n}.zone-servers.tilestead.svc:7700"),
                build: "0.3.0".to_owned(),
                content_hash: "c0ffee".repeat(11)[..64].to_owned(),
                regions: regions.clone(),
                ..wire::RegisterRequest::default()
            }))?;
            let Answer::Register(registered) = answer else {
                return Err(anyhow!("no answer to a registration: {answer:?}"));
            };
            self.runs.insert(registered.run_id, 0);
        }
        self.now_ms += TICK_MS;
        let view = self.store.planner_view(self.now_ms)?;
        let (planned, took) = timed(|| view.plan());
        ensure!(
            planned.moves == regions.len(),
            "only {} regions got an owner",
            planned.moves
        );
        cost.first_plan_us = took;
        cost.first_round_us = self.round()?;
        cost.directory.start_pushes = self.store.version(self.now_ms)?;
        Ok(())
    }

    /// Runs a round of the planner. Returns its processor time in microseconds.
    fn round(&self) -> Result<f64> {
        let (done, took) = timed(|| self.store.plan(self.now_ms));
        done.map(|()| took)
    }

    /// Renews all leases, with the loads of all regions that have players. Returns the mean processor
    /// time of a renewal in microseconds.
    fn renew(&self, owners: &Owned) -> Result<f64> {
        let mut loads: BTreeMap<u64, Vec<wire::RegionLoad>> = BTreeMap::new();
        for (region, players) in &self.players {
            let load = wire::RegionLoad {
                region: Some(wire_region(*region)),
                cost_us: players * PLAYER_US,
                players: *players,
            };
            let run = owners.0.get(region).copied().unwrap_or(0);
            loads.entry(run).or_default().push(load);
        }
        let mut total = 0.0;
        for run in self.runs.keys() {
            let regions = loads.remove(run).unwrap_or_default();
            let ask = wire::RenewRequest {
                run_id: *run,
                players: regions.iter().map(|load| load.players).sum(),
                tick_cost_us: regions.iter().map(|load| load.cost_us).sum(),
                regions,
            };
            let (answer, took) = timed(|| self.call(Ask::Renew(ask)));
            answer?;
            total += took;
        }
        Ok(total / number(self.runs.len()))
    }

    fn owners(&self) -> Result<Owned> {
        let directory = self.store.directory(self.now_ms)?;
        let owned = directory.regions.iter().filter_map(|one| {
            let at = one.region?;
            Some((Region { x: at.x, z: at.z }, one.run_id))
        });
        Ok(Owned(owned.collect()))
    }

    /// Returns the load of the busiest run over the mean, in thousandths.
    fn unevenness(&self, owners: &Owned) -> u32 {
        let mut loads: BTreeMap<u64, u64> = self.runs.keys().map(|run| (*run, 0)).collect();
        for (region, run) in &owners.0 {
            let players = self.players.get(region).copied().unwrap_or(0);
            let load = (players * PLAYER_US).max(FLOOR_US);
            *loads.entry(*run).or_default() += u64::from(load);
        }
        let (most, total) = (loads.values().max(), loads.values().sum::<u64>());
        let most = most.copied().unwrap_or(0) * 1_000 * (loads.len() as u64);
        u32::try_from(most / total.max(1)).unwrap_or(u32::MAX)
    }

    /// Lets runs report their loads and fulfil the planner's requests, tick by tick, until the loads
    /// are even.
    fn even_out(&mut self, cost: &mut PlacementCost) -> Result<()> {
        let version = self.store.version(self.now_ms)?;
        // Regions rest for 20 s after a change of owner.
        for _ in 0..21 {
            self.now_ms += 1_000;
            cost.renew_us = self.renew(&self.owners()?)?;
        }
        cost.uneven_permille = self.unevenness(&self.owners()?);
        for tick in 0..EVEN_TICKS {
            let view = self.store.planner_view(self.now_ms)?;
            let (planned, took) = timed(|| view.plan());
            if planned.requests > 0 {
                cost.even_plan_us = cost.even_plan_us.max(took);
            }
            self.round()?;
            self.now_ms += TICK_MS;
            let given = self.give()?;
            cost.even_moves += given;
            let owners = self.owners()?;
            cost.even_permille = self.unevenness(&owners);
            if given > 0 {
                cost.even_s = number(usize::try_from(tick + 1)?) * 0.6;
            } else if cost.even_permille <= EVEN_PERMILLE {
                break;
            }
            self.renew(&owners)?;
        }
        let (view, read) = timed(|| self.store.planner_view(self.now_ms));
        cost.read_us = read;
        let (_, took) = timed(|| view.map(|view| view.plan()));
        cost.idle_plan_us = took;
        cost.directory.even_pushes = self.store.version(self.now_ms)? - version;
        Ok(())
    }

    /// Lets each run give away the regions that the planner wants elsewhere. Returns their number.
    fn give(&mut self) -> Result<usize> {
        let directory = self.store.directory(self.now_ms)?;
        let wanted = directory
            .regions
            .iter()
            .filter(|one| one.wanted_run_id != 0);
        let wanted: Vec<&wire::RegionOwner> = wanted.collect();
        for one in &wanted {
            let sequence = self.runs.entry(one.run_id).or_default();
            *sequence += 1;
            let header = wire::CommitHeader {
                run_id: one.run_id,
                sequence: *sequence,
                tick: self.now_ms / TICK_MS,
                rows: 1,
                ..wire::CommitHeader::default()
            };
            let rows = wire::CommitRows {
                gives: vec![wire::RegionGive {
                    region: one.region,
                    epoch: one.epoch,
                    to_run_id: one.wanted_run_id,
                }],
                ..wire::CommitRows::default()
            };
            let parts = [
                wire::commit_part::Part::Header(header),
                wire::commit_part::Part::Rows(rows),
            ];
            let parts = parts.map(|part| wire::CommitPart { part: Some(part) });
            let answer = self.call(Ask::Commit(Arc::new(parts.into())))?;
            let Answer::Commit(reply) = answer else {
                return Err(anyhow!("no answer to a batch: {answer:?}"));
            };
            ensure!(
                reply.outcome() == wire::commit_reply::Outcome::Done,
                "a region was not given: {reply:?}"
            );
        }
        Ok(wanted.len())
    }

    fn directory_cost(&self, cost: &mut DirectoryCost) -> Result<()> {
        let (directory, read) = timed(|| self.store.directory(self.now_ms));
        let directory = directory?;
        cost.read_us = read;
        // The service copies the directory for each watcher before it encodes it.
        let (bytes, took) = timed(|| directory.clone().encode_to_vec());
        cost.encode_us = took;
        cost.bytes = bytes.len();
        let (decoded, took) = timed(|| wire::DirectoryUpdate::decode(bytes.as_slice()));
        cost.decode_us = took;
        ensure!(decoded? == directory, "the directory reads as another one");
        Ok(())
    }

    /// Kills the busiest run: two gateways report it, and the planner gives its regions to others.
    fn kill(&mut self, owners: &Owned, cost: &mut PlacementCost) -> Result<()> {
        let mut players: BTreeMap<u64, u32> = BTreeMap::new();
        for (region, count) in &self.players {
            let run = owners.0.get(region).copied().unwrap_or(0);
            *players.entry(run).or_default() += count;
        }
        let busiest = players.into_iter().max_by_key(|(_, count)| *count);
        let (run_id, _) = busiest.ok_or_else(|| anyhow!("no run has players"))?;
        let version = self.store.version(self.now_ms)?;
        for witness in ["gateway:1", "gateway:2"] {
            let witness = witness.to_owned();
            self.call(Ask::Suspect(wire::SuspectRequest { run_id, witness }))?;
        }
        let view = self.store.planner_view(self.now_ms)?;
        let (planned, took) = timed(|| view.plan());
        ensure!(planned.fenced == 1, "{} runs were fenced", planned.fenced);
        cost.kill_plan_us = took;
        cost.kill_moves = planned.moves;
        cost.kill_round_us = self.round()?;
        let left = self.owners()?;
        ensure!(
            left.0.values().all(|run| *run != run_id),
            "a dead run owns regions"
        );
        cost.directory.kill_pushes = self.store.version(self.now_ms)? - version;
        Ok(())
    }
}

fn wire_region(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}
