//! What the measures say while people play, and how many series they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use proto::client::Format;
use tests::{
    bot::{Player, forager::Forager},
    cluster::{Cluster, Kind, Member, Plan, metrics::sum},
    collector::Collector,
    http,
};
use tokio::time::{Instant, sleep};

/// Players of the story, who come in two halves.
const PLAYERS: u64 = 24;
/// Ticks that each half plays.
const TICKS: u64 = 8;
/// Time until measures say what has happened, and until the collector has each of them.
const SOON: Duration = Duration::from_secs(60);
/// Series of one process, buckets aside.
const SERIES_MAX: usize = 1_200;
/// Regions of a zone server with series of their own.
const REGIONS_MAX: usize = 8;

/// Labels that measures may have, each of a bounded list of ours: players, gateways and runs are none.
const LABELS: [&str; 28] = [
    "at",
    "blocked",
    "cause",
    "channel",
    "code",
    "end",
    "event",
    "from",
    "kind",
    "le",
    "limit",
    "loop",
    "method",
    "of",
    "outcome",
    "phase",
    "reason",
    "region",
    "revision",
    "role",
    "route",
    "service",
    "state",
    "status",
    "subprotocol",
    "task",
    "verdict",
    "version",
];

const PROCESSES: [Member; 4] = [
    (Kind::Gateway, 0),
    (Kind::Zone, 0),
    (Kind::Zone, 1),
    (Kind::Persistence, 0),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measures_count_what_happens_in_few_series_with_the_same_names_by_otlp() {
    let collector = Collector::start().await.unwrap();
    let plan = Plan::new("measures")
        .of(1, 2, 1)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint());
    let cluster = Cluster::start(plan).await.unwrap();
    story(&cluster, &collector).await.unwrap();
}

async fn story(cluster: &Cluster, collector: &Collector) -> Result<()> {
    let mut players = Vec::new();
    play(cluster, &mut players).await?;
    let half = series(cluster).await?;
    play(cluster, &mut players).await?;
    let whole = series(cluster).await?;
    few(&half, &whole)?;
    nobody_is_named(&whole, &players)?;
    counted(cluster).await?;
    same_names(cluster, collector).await
}

/// Brings in half of the players, and lets all who are there drop things and pick them up.
async fn play(cluster: &Cluster, players: &mut Vec<(Player, Forager)>) -> Result<()> {
    for _ in 0..PLAYERS / 2 {
        let number = players.len() as u64;
        let format = [Format::Json, Format::MessagePack][players.len() % 2];
        let name = format!("Measured {number}");
        let player = Player::arrive(&cluster.gateway(0), format, &name).await?;
        players.push((player, Forager::new(number)));
    }
    for _ in 0..TICKS {
        let tick = players[0].0.look(|view| view.tick);
        let acts = players.iter_mut().map(async |(player, forager)| {
            if let Some(action) = player.look(|view| forager.choose(view)) {
                // Somebody else may have taken a thing first.
                player.act(action).await?;
            }
            anyhow::Ok(())
        });
        try_join_all(acts).await?;
        let next = |view: &tests::bot::View| (view.tick > tick).then_some(());
        let (player, _) = &players[0];
        player
            .until("the next tick", Duration::from_secs(10), next)
            .await?;
    }
    Ok(())
}

/// A series of a process: its name, and its labels with their values.
type Series = (String, BTreeMap<String, String>);

async fn text(cluster: &Cluster, member: Member) -> Result<String> {
    let answer = http::get(&cluster.probes(member)?, "/metrics").await?;
    Ok(answer.text())
}

/// Returns all series of each process.
async fn series(cluster: &Cluster) -> Result<BTreeMap<Member, Vec<Series>>> {
    let mut all = BTreeMap::new();
    for member in PROCESSES {
        let text = text(cluster, member).await?;
        // The resource stands in one series; it names the instance.
        let ours = |line: &&str| !line.starts_with('#') && !line.starts_with("target_info");
        let lines = text.lines().filter(ours);
        all.insert(member, lines.filter_map(parsed).collect());
    }
    Ok(all)
}

/// Reads a line of the Prometheus text format. None of our values has a comma and a quote in a row.
fn parsed(line: &str) -> Option<Series> {
    let (series, _) = line.rsplit_once(' ')?;
    let (name, labels) = match series.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix("\"}")?),
        None => return Some((series.to_owned(), BTreeMap::new())),
    };
    let labels = labels.split("\",");
    let labels = labels.filter_map(|label| label.split_once("=\""));
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some((name.to_owned(), labels.collect()))
}

/// Checks that the series are few, and that twice the players make no labels of new kinds.
fn few(half: &BTreeMap<Member, Vec<Series>>, whole: &BTreeMap<Member, Vec<Series>>) -> Result<()> {
    for (member, series) in whole {
        let buckets = |(name, _): &&Series| !name.ends_with("_bucket");
        let count = series.iter().filter(buckets).count();
        ensure!(count <= SERIES_MAX, "{member:?} has {count} series");
        let before = half[member].iter().filter(buckets).count();
        // Whatever happens for the first time makes a series; more of the same does not.
        ensure!(
            count < before + before / 4 + 20,
            "{member:?}: {before} series, and {count} with twice the players"
        );
        for (name, labels) in series {
            for label in labels.keys() {
                ensure!(LABELS.contains(&&**label), "{name} has the label {label}");
            }
        }
        let regions = series.iter().filter_map(|(_, labels)| labels.get("region"));
        let regions: BTreeSet<&String> = regions.collect();
        ensure!(regions.len() <= REGIONS_MAX, "{member:?} names {regions:?}");
    }
    Ok(())
}

/// Checks that no label has the id or the name of a player.
fn nobody_is_named(
    all: &BTreeMap<Member, Vec<Series>>,
    players: &[(Player, Forager)],
) -> Result<()> {
    for (player, _) in players {
        let id = player.id()?;
        for (name, labels) in all.values().flatten() {
            let named = |value: &String| value.contains(&id) || value.contains("Measured");
            ensure!(
                !labels.values().any(named),
                "{name} names a player: {labels:?}"
            );
        }
    }
    Ok(())
}

/// Waits until the measures say what has happened: who came, by what, and what that made.
async fn counted(cluster: &Cluster) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let wrong = miscounted(cluster).await?;
        if wrong.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{wrong:?}");
        sleep(Duration::from_millis(500)).await;
    }
}

async fn miscounted(cluster: &Cluster) -> Result<Vec<String>> {
    let players = PLAYERS as f64;
    let mut wrong = Vec::new();
    let mut expect = |what: &str, right: bool, found: f64| {
        if !right {
            wrong.push(format!("{what}: {found}"));
        }
    };
    let gateway = text(cluster, (Kind::Gateway, 0)).await?;
    for subprotocol in ["tilestead.json", "tilestead.msgpack"] {
        let label = format!("kind=\"program\",subprotocol=\"{subprotocol}\"");
        let clients = sum(&gateway, "gateway_clients", &label);
        expect("clients", clients == players / 2.0, clients);
    }
    let asked = "gateway_http_request_seconds_count";
    let upgrades = sum(&gateway, asked, "method=\"GET\",route=\"/ws\"");
    expect("upgrades", upgrades == players, upgrades);
    let (mut held, mut made, mut load) = (0.0, 0.0, 0.0);
    for number in [0, 1] {
        let zone = text(cluster, (Kind::Zone, number)).await?;
        let entries = sum(&zone, "zone_entries_total", "");
        let departures = sum(&zone, "zone_departures_total", "");
        let here = sum(&zone, "zone_players", "");
        let kept = entries - departures;
        expect("entries less departures", kept == here, kept);
        held += here;
        made += sum(&zone, "zone_items_made_total", "cause=\"starter\"");
        load += sum(&zone, "zone_load_seconds", "");
        let dropped = sum(&zone, "zone_items_made_total", "cause=\"drop\"");
        expect("items made by drops", dropped == 0.0, dropped);
    }
    expect("players", held == players, held);
    expect("items of new characters", made >= players, made);
    expect("load", load > 0.0, load);
    let store = text(cluster, (Kind::Persistence, 0)).await?;
    let connections = sum(&store, "persistence_pool_connections", "");
    let most = sum(&store, "persistence_pool_connections_max", "");
    let pooled = connections > 0.0 && connections <= most;
    expect("database connections", pooled, connections);
    Ok(wrong)
}

/// Waits until the collector has got each measure that is scraped, and no other, under its name.
async fn same_names(cluster: &Cluster, collector: &Collector) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let mut different = Vec::new();
        let mut scraped: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for member in PROCESSES {
            let text = text(cluster, member).await?;
            let names = scraped.entry(service(member.0)).or_default();
            let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
            names.extend(types.filter_map(|line| line.split(' ').next().map(str::to_owned)));
        }
        for (service, mut names) in scraped {
            // The resource is a series of its own where it is scraped, and no metric by OTLP.
            names.remove("target_info");
            let sent = collector.metrics(service);
            let odd = names.symmetric_difference(&sent);
            different.extend(odd.map(|name| format!("{service} {name}")));
        }
        if different.is_empty() {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "named in one way only: {different:?}"
        );
        sleep(Duration::from_secs(1)).await;
    }
}

fn service(kind: Kind) -> &'static str {
    match kind {
        Kind::Gateway => "gateway",
        Kind::Zone => "zone-server",
        Kind::Persistence => "persistence-svc",
    }
}
