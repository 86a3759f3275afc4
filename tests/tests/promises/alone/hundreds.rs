//! Five hundred players on borders, over two gateways, three zones and two persistence services.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use tests::{
    cluster::{Cluster, Plan},
    dump::{Directory, Disagreement, Zones, disagreements},
    journey::Atlas,
    load::{Acting, Ground, Options, Scenario, Snapshot, Summary, ground::spread, slo::Slo, swarm},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const PLAYERS: usize = 500;
const MEASURED: Duration = Duration::from_secs(120);
const RAMP: Duration = Duration::from_secs(30);
/// Everybody starts where new characters stand and has to walk to a border first.
const SETTLE: Duration = Duration::from_secs(45);
/// Between two maps of one bot that are compared.
const COMPARE_EVERY: Duration = Duration::from_secs(15);
/// Ticks for which somebody between two runs may be in nobody's dump.
const IN_TRANSIT_TICKS: u64 = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_cross_borders_for_two_minutes_and_nobody_notices() {
    let mut plan = Plan::new("five_hundred").of(2, 3, 2);
    (plan.dump_ticks, plan.alone) = (50, true);
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&cluster, &plan).await.unwrap();
}

async fn story(cluster: &Cluster, plan: &Plan) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let crossings = spread(atlas.crossings.clone(), 50, 12);
    let (sink, snapshots) = mpsc::channel(256);
    let zones = Zones::connect(&atlas.directory).await?;
    let comparing = tokio::spawn(compare(snapshots, zones));
    let gateways = (0..plan.gateways).map(|number| cluster.gateway(number).parse());
    let options = Options {
        players: PLAYERS,
        ramp: RAMP,
        settle: SETTLE,
        duration: MEASURED,
        scenario: Scenario::Border,
        acting: Acting::NONE,
        seed: 7,
        gateways: gateways.collect::<Result<_>>()?,
        own_addresses: false,
        format: Format::Compact,
        shown: None,
        maps: PLAYERS,
        ground: Arc::new(Ground::new(atlas.terrain, crossings)),
        snapshots: Some((sink, COMPARE_EVERY)),
        progress_every: Duration::from_secs(10),
    };
    let before = cluster.store().await?.crossings().await?;
    let summary = swarm::run(options, CancellationToken::new(), |p| eprintln!("{p:?}")).await?;
    let crossings = cluster.store().await?.crossings().await? - before;
    eprintln!("{summary}\ncrossings               {crossings}");
    let compared = comparing.await.context("comparing")??;
    eprintln!("maps                    {compared:?}");

    judge(&summary, crossings)?;
    compared.judge()?;
    let after = Directory::fetch(cluster.operator(), &cluster.persistence(1)).await?;
    ensure!(
        after.owners == atlas.directory.owners,
        "regions changed owner meanwhile"
    );
    Ok(())
}

fn judge(summary: &Summary, crossings: i64) -> Result<()> {
    let slo: Slo = "connected=500,disconnects=0,failed=0,gaps=0,p99<1300ms,lost=0,unanswered=0,\
                    errors=0,unreadable=0,mapfaults=0,moves>5000"
        .parse()
        .map_err(anyhow::Error::msg)?;
    let missed = slo.missed(summary);
    ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    // A machine that stalls makes a zone's frame late; nobody may be taken back for long.
    ensure!(summary.leaps <= PLAYERS as u64, "{} leaps", summary.leaps);
    ensure!(
        summary.self_unseen == 0,
        "unseen to themselves {} times",
        summary.self_unseen
    );
    ensure!(
        crossings >= 1_000,
        "only {crossings} crossings between processes"
    );
    Ok(())
}

#[derive(Debug, Default)]
struct Compared {
    maps: usize,
    entities: usize,
    /// Players that were between two runs at that tick and in nobody's dump.
    in_transit: usize,
    /// Maps whose tick the zones no longer had, because the comparison fell behind.
    too_late: usize,
    /// Disagreements of maps with the dump of the tick before: the comparison sees a difference.
    with_the_tick_before: usize,
    wrong: Vec<String>,
    wrong_by_kind: BTreeMap<&'static str, usize>,
    took: Duration,
}

impl Compared {
    fn judge(&self) -> Result<()> {
        ensure!(self.maps >= 500, "only {} maps were compared", self.maps);
        ensure!(
            self.entities >= 5_000,
            "only {} entities were compared",
            self.entities
        );
        ensure!(
            self.too_late * 20 < self.maps,
            "{} maps were too late",
            self.too_late
        );
        let share = self.in_transit as f64 / self.entities as f64;
        ensure!(
            share < 0.05,
            "{} of {} in transit",
            self.in_transit,
            self.entities
        );
        ensure!(
            self.wrong_by_kind.is_empty(),
            "maps differ from what the zones published: {:?} {:#?}",
            self.wrong_by_kind,
            self.wrong
        );
        Ok(())
    }
}

async fn compare(mut snapshots: mpsc::Receiver<Snapshot>, zones: Zones) -> Result<Compared> {
    let mut compared = Compared::default();
    while let Some(snapshot) = snapshots.recv().await {
        let began = Instant::now();
        // The frames of a tick reach gateways before the zone remembers it for dumps, or after
        // that.
        let Ok(dump) = zones.dump(snapshot.tick, &snapshot.chunks).await else {
            compared.too_late += 1;
            continue;
        };
        compared.maps += 1;
        compared.entities += snapshot.entities.len();
        for disagreement in disagreements(&snapshot, &dump) {
            if between_runs(&disagreement, &snapshot, &zones).await? {
                compared.in_transit += 1;
                continue;
            }
            let kind = match disagreement {
                Disagreement::Missing(_) => "missing",
                Disagreement::Extra(_) => "extra",
                Disagreement::Differs(..) => "differs",
            };
            *compared.wrong_by_kind.entry(kind).or_default() += 1;
            if compared.wrong.len() < 20 {
                let (name, tick) = (&snapshot.name, snapshot.tick);
                compared
                    .wrong
                    .push(format!("{name} at {tick}: {disagreement:?}"));
            }
        }
        if let Ok(before) = zones.dump(snapshot.tick - 1, &snapshot.chunks).await {
            compared.with_the_tick_before += disagreements(&snapshot, &before).len();
        }
        compared.took += began.elapsed();
    }
    Ok(compared)
}

/// Returns whether a player was between two runs. It may be in nobody's dump for two ticks, while a
/// client goes on showing it at its old place. A zone published it there at most two ticks ago.
async fn between_runs(about: &Disagreement, snapshot: &Snapshot, zones: &Zones) -> Result<bool> {
    let Disagreement::Extra(id) = about else {
        return Ok(false);
    };
    let Some(mine) = snapshot.entities.iter().find(|entity| entity.id == *id) else {
        return Ok(false);
    };
    if mine.kind != "player" {
        return Ok(false);
    }
    for back in 1..=IN_TRANSIT_TICKS {
        let dump = zones.dump(snapshot.tick - back, &snapshot.chunks).await?;
        if dump
            .get(id)
            .is_some_and(|published| published.at == (mine.x, mine.z))
        {
            return Ok(true);
        }
    }
    Ok(false)
}
