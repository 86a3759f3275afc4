//! Laws that must hold after any fault is over.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};
use world::{Chunk, Tile};

use crate::{
    bot::Held,
    cluster::{Cluster, Kind, Store},
    dump::{Directory, Zones},
};

/// Longest time until a live run owns everything.
pub const WHOLE_WITHIN: Duration = Duration::from_secs(30);
/// Ticks by which a zone's newest published tick may be older than the newest tick of a client.
const BEHIND_TICKS: u64 = 1;
const CHECK_WITHIN: Duration = Duration::from_secs(60);

/// Waits until every region is owned by a run that lives, and no run is left that does not.
///
/// # Errors
/// It does not come to that in time.
pub fn whole<'a>(cluster: &'a Cluster) -> BoxFuture<'a, Result<Duration>> {
    Box::pin(async move {
        let began = Instant::now();
        let mut last = String::new();
        while began.elapsed() < WHOLE_WITHIN {
            match ownerless(cluster).await {
                Ok(0) => return Ok(began.elapsed()),
                Ok(count) => last = format!("{count} regions are nobody's"),
                Err(e) => last = format!("{e:#}"),
            }
            sleep(Duration::from_millis(100)).await;
        }
        bail!("after {WHOLE_WITHIN:?}: {last}")
    })
}

/// Returns the number of regions without an owner that answers.
async fn ownerless(cluster: &Cluster) -> Result<usize> {
    let directory =
        Directory::fetch(cluster.operator(), &cluster.persistence(store_of(cluster)?)).await?;
    let owned = directory.owners.len();
    let all = cluster.store().await?.regions().await?;
    Ok(all.saturating_sub(owned))
}

/// Returns the runs that own regions.
///
/// # Errors
/// The directory is silent.
pub async fn owners(cluster: &Cluster) -> Result<BTreeSet<u64>> {
    let directory =
        Directory::fetch(cluster.operator(), &cluster.persistence(store_of(cluster)?)).await?;
    Ok(directory.shares().into_keys().collect())
}

/// Returns the number of a persistence service that runs.
fn store_of(cluster: &Cluster) -> Result<usize> {
    let mut running = cluster.running();
    let store = running.find(|(kind, _)| *kind == Kind::Persistence);
    let (_, number) = store.context("no persistence service runs")?;
    Ok(number)
}

/// Runs the operator's conservation check and returns its words.
///
/// # Errors
/// It finds a difference, or cannot run.
pub async fn conserved(cluster: &Cluster) -> Result<String> {
    let finished = cluster.command(&["check"], CHECK_WITHIN).await?;
    let said = format!("{}{}", finished.stdout, finished.stderr);
    ensure!(
        finished.code == Some(0),
        "the conservation check ended with {:?}:\n{said}",
        finished.code
    );
    Ok(said)
}

/// Possessions of all characters, by id.
pub type AllHeld = BTreeMap<String, Held>;

/// Checks that no transactions waited for each other. It can do so only if the cluster has a
/// PostgreSQL server of its own, because the log then speaks of nobody else.
///
/// # Errors
/// PostgreSQL wrote of a deadlock.
pub fn no_deadlock(cluster: &mut Cluster) -> Result<()> {
    let Ok(postgres) = cluster.postgres() else {
        return Ok(());
    };
    let log = postgres.log();
    let found = log.lines().find(|line| line.contains("deadlock detected"));
    ensure!(found.is_none(), "PostgreSQL: {}", found.unwrap_or_default());
    Ok(())
}

/// Returns the runs that the directory knows, whether they own anything or not.
///
/// # Errors
/// The directory is silent.
pub async fn runs(cluster: &Cluster) -> Result<Vec<u64>> {
    let directory =
        Directory::fetch(cluster.operator(), &cluster.persistence(store_of(cluster)?)).await?;
    Ok(directory.runs.into_keys().collect())
}

/// Checks that exactly one zone publishes each of these, who stand still where a tick showed them.
/// Returns the others, each with its number of zones.
///
/// # Errors
/// A zone does not answer, or has nothing of that tick any more.
pub async fn each_is_played_once(
    cluster: &Cluster,
    places: &BTreeMap<String, (u64, (i32, i32))>,
) -> Result<Vec<(String, usize)>> {
    let tick = places.values().map(|(tick, _)| *tick).max().unwrap_or(0);
    let tick = tick.saturating_sub(BEHIND_TICKS);
    let chunk = |(x, z): (i32, i32)| {
        let chunk = Chunk::from(Tile::new(x, z));
        (chunk.x, chunk.z)
    };
    let chunks: BTreeSet<(i32, i32)> = places.values().map(|(_, at)| chunk(*at)).collect();
    let chunks: Vec<(i32, i32)> = chunks.into_iter().collect();
    let directory =
        Directory::fetch(cluster.operator(), &cluster.persistence(store_of(cluster)?)).await?;
    let zones = Zones::connect(&directory).await?;
    let publishers = zones.publishers(tick, &chunks).await?;
    let count = |id: &String| publishers.get(id).copied().unwrap_or(0);
    let wrong = places.keys().map(|id| (id.clone(), count(id)));
    Ok(wrong.filter(|(_, count)| *count != 1).collect())
}

/// Checks that every online character belongs to a region whose owner lives.
///
/// # Errors
/// One does not.
pub async fn everybody_is_somewhere(store: &Store) -> Result<()> {
    let lost = store.nowhere().await?;
    ensure!(lost.is_empty(), "nobody plays {lost:?}");
    Ok(())
}
