//! Persistence services behind one name: one is cut off from the database, and more are added.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use futures::future::BoxFuture;
use tokio::time::sleep;

use super::{
    oracle,
    proxy::Mode,
    story::{Cast, Stage},
    timeline::Timeline,
};
use crate::{
    cluster::{Cluster, Kind, Plan, metrics::sum},
    http,
    load::Summary,
};

/// Persistence services that run from the start.
const REPLICAS: usize = 4;
/// Replicas behind the name at first.
const FIRST: usize = 2;
/// Time over which calls are counted.
const WINDOW: Duration = Duration::from_secs(15);
/// Time in which gateways and zone servers find new ones.
const FOUND_WITHIN: Duration = Duration::from_secs(10);
/// Smallest and largest share of each of four replicas.
const SHARE: [f64; 2] = [0.15, 0.35];
/// Time after which an attempt without an answer counts as hung, in seconds: a bound of the histogram.
const COMMIT_WITHIN: &str = "1";

/// Attempts at commits of all zone servers.
#[derive(Debug, Clone, Copy)]
struct Commits {
    all: u64,
    /// Attempts that got no answer for [`COMMIT_WITHIN`] or longer.
    hung: u64,
}

/// Adds two replicas to two behind a name, then cuts one of three off from PostgreSQL for `lasts`.
///
/// # Errors
/// Something that must hold does not.
pub fn one_name(
    cast: Cast,
    zones: usize,
    lasts: Duration,
    timeline: Timeline,
) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        let mut plan = Plan::new("replicas").of(2, zones, REPLICAS);
        (plan.breakable, plan.alone, plan.one_name) = (true, true, Some(FIRST));
        let stage = Stage::set(plan, cast, timeline).await?;
        spreads(&stage).await?;
        is_cut_off(&stage, zones, lasts).await?;
        stage.judge().await
    })
}

/// Names all replicas, and compares the calls that each gets.
async fn spreads(stage: &Stage) -> Result<()> {
    let cluster = &stage.cluster;
    let two = calls(cluster).await?;
    sleep(WINDOW / 3).await;
    let quiet = more(&two, &calls(cluster).await?);
    ensure!(quiet[&0] > 0 && quiet[&1] > 0, "no calls: {quiet:?}");
    for at in FIRST..REPLICAS {
        ensure!(
            quiet[&at] == 0,
            "replica {at} is called, and has no name: {quiet:?}"
        );
    }
    cluster.name(0..REPLICAS)?;
    sleep(FOUND_WITHIN).await;
    let found = calls(cluster).await?;
    sleep(WINDOW).await;
    let got = more(&found, &calls(cluster).await?);
    let all: u64 = got.values().sum();
    stage
        .timeline
        .note(format!("calls of four replicas behind the name: {got:?}"));
    for (at, calls) in &got {
        let share = *calls as f64 / all as f64;
        ensure!(
            (SHARE[0]..=SHARE[1]).contains(&share),
            "replica {at} got {share:.2} of all calls: {got:?}"
        );
    }
    Ok(())
}

/// Cuts one of three replicas off from PostgreSQL before it commits: its transaction stays open.
async fn is_cut_off(stage: &Stage, zones: usize, lasts: Duration) -> Result<()> {
    let cluster = &stage.cluster;
    cluster.name(0..3)?;
    sleep(FOUND_WITHIN).await;
    let (before, begun) = (
        oracle::owners(cluster).await?,
        commits(cluster, zones).await?,
    );
    let database = cluster.wires()?.database(1).context("no way to it")?;
    database.set(Mode::HangAtCommit);
    sleep(lasts).await;
    let after = commits(cluster, zones).await?;
    database.set(Mode::Pass);
    let (all, hung) = (after.all - begun.all, after.hung - begun.hung);
    let lapsed = &before - &oracle::owners(cluster).await?;
    stage.timeline.note(format!(
        "one of three replicas without PostgreSQL for {lasts:?}: the leases of {lapsed:?} lapsed, \
         {hung} of {all} commits got no answer for {COMMIT_WITHIN} s or longer"
    ));
    ensure!(lapsed.is_empty(), "the leases of {lapsed:?} lapsed");
    ensure!(all > 0, "nothing was committed");
    // A zone server has one commit on its way, leaves a replica after one call, and gets the locks of
    // the open transaction before it gives up waiting for them.
    ensure!(
        hung <= zones as u64,
        "{hung} commits of {zones} zone servers hung"
    );
    Ok(())
}

/// Returns the calls that each replica has answered.
async fn calls(cluster: &Cluster) -> Result<BTreeMap<usize, u64>> {
    let mut calls = BTreeMap::new();
    for at in 0..REPLICAS {
        let text = metrics(cluster, Kind::Persistence, at).await?;
        calls.insert(at, sum(&text, "persistence_calls_total", "") as u64);
    }
    Ok(calls)
}

fn more(before: &BTreeMap<usize, u64>, after: &BTreeMap<usize, u64>) -> BTreeMap<usize, u64> {
    let more = |(at, calls): (&usize, &u64)| (*at, calls - before[at]);
    after.iter().map(more).collect()
}

async fn commits(cluster: &Cluster, zones: usize) -> Result<Commits> {
    let mut commits = Commits { all: 0, hung: 0 };
    for at in 0..zones {
        let text = metrics(cluster, Kind::Zone, at).await?;
        commits.all += sum(&text, "zone_commit_seconds_count", "") as u64;
        let unanswered = |line: &&str| line.contains("outcome=\"unanswered\"");
        let text: Vec<&str> = text.lines().filter(unanswered).collect();
        let text = text.join("\n");
        let within = format!("le=\"{COMMIT_WITHIN}\"");
        commits.hung += sum(&text, "zone_commit_seconds_count", "") as u64;
        commits.hung -= sum(&text, "zone_commit_seconds_bucket", &within) as u64;
    }
    Ok(commits)
}

async fn metrics(cluster: &Cluster, kind: Kind, at: usize) -> Result<String> {
    let answer = http::get(&cluster.probes((kind, at))?, "/metrics").await;
    Ok(answer
        .with_context(|| format!("the metrics of {kind:?} {at}"))?
        .text())
}
