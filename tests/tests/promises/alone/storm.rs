//! A storm of requests at the door: the world goes on, and whoever watches the door is answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use proto::client::Format;
use serde_json::json;
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Plan},
    http,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

const TICK: Duration = Duration::from_millis(600);
/// Longest time for a health check that the platform allows.
const STATUS_LIMIT: Duration = Duration::from_secs(3);
const STORM: Duration = Duration::from_secs(5);
const CLIENTS: usize = 150;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_requests_delays_neither_the_status_nor_the_tick() {
    let mut plan = Plan::new("storm").of(1, 1, 1);
    (plan.rate_limits, plan.alone) = (true, true);
    let cluster = Cluster::start(plan).await.unwrap();
    story(&cluster.gateway(0)).await.unwrap();
}

async fn story(gateway: &str) -> Result<()> {
    let player = Player::arrive(gateway, Format::Json, "Bystander").await?;
    let stop = Arc::new(AtomicBool::new(false));
    let answers = Arc::new(AtomicU64::new(0));
    let mut storm = JoinSet::new();
    for _ in 0..CLIENTS {
        storm.spawn(pester(
            gateway.to_owned(),
            Arc::clone(&stop),
            Arc::clone(&answers),
        ));
    }
    let (began, first) = (Instant::now(), tick(&player).await?);
    let mut slowest = Duration::ZERO;
    while began.elapsed() < STORM {
        let asked = Instant::now();
        let status = http::get(gateway, "/status").await?;
        ensure!(status.status == 200, "{}", status.text());
        slowest = slowest.max(asked.elapsed());
    }
    let (took, last) = (began.elapsed(), tick(&player).await?);
    stop.store(true, Ordering::Relaxed);
    while storm.join_next().await.is_some() {}

    ensure!(slowest < STATUS_LIMIT, "/status took {slowest:?}");
    let due = took.as_millis() / TICK.as_millis();
    let ticks = u128::from(last - first);
    ensure!(ticks + 3 >= due, "{ticks} ticks in {took:?}");
    let answers = answers.load(Ordering::Relaxed);
    ensure!(answers > 1000, "no storm: {answers} answers");
    player.check()
}

/// Returns the last tick that the gateway has.
async fn tick(player: &Player) -> Result<u64> {
    match player.ask("ping", &json!({"t": 1})).await? {
        Payload::Pong(pong) => Ok(pong.tick),
        other => bail!("{other:?}"),
    }
}

/// Asks and asks, on one connection after the other.
async fn pester(gateway: String, stop: Arc<AtomicBool>, answers: Arc<AtomicU64>) -> Result<()> {
    let request = format!("GET /env.js HTTP/1.1\r\nhost: {gateway}\r\n\r\n");
    let mut buffer = [0; 4096];
    while !stop.load(Ordering::Relaxed) {
        let mut stream = TcpStream::connect(&gateway).await.context("connect")?;
        while !stop.load(Ordering::Relaxed) && stream.write_all(request.as_bytes()).await.is_ok() {
            match stream.read(&mut buffer).await {
                Ok(1..) => answers.fetch_add(1, Ordering::Relaxed),
                _ => break,
            };
        }
    }
    Ok(())
}
