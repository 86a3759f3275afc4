//! What must hold after the faults are over, whatever they were.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use crate::{
    bot::Held,
    cluster::{Cluster, Kind, Store, process::finish},
    dump::Directory,
};

/// How long a cluster may take until everything is owned by somebody who lives.
pub const WHOLE_WITHIN: Duration = Duration::from_secs(30);
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

/// How many regions belong to no run that answers.
async fn ownerless(cluster: &Cluster) -> Result<usize> {
    let stores = cluster
        .running()
        .filter(|(kind, _)| *kind == Kind::Persistence);
    let numbers: Vec<usize> = stores.map(|(_, number)| number).collect();
    let number = numbers.first().context("no persistence service runs")?;
    let directory = Directory::fetch(&cluster.persistence(*number)).await?;
    let owned = directory.owners.len();
    let all = cluster.store().await?.regions().await?;
    Ok(all.saturating_sub(owned))
}

/// Runs the operator's conservation check; what it says.
///
/// # Errors
/// It finds a difference, or cannot run.
pub async fn conserved(cluster: &Cluster) -> Result<String> {
    let env = [("DATABASE_URL", cluster.database_url())];
    let finished = finish("persistence-svc", &["check"], &env, CHECK_WITHIN).await?;
    let said = format!("{}{}", finished.stdout, finished.stderr);
    ensure!(
        finished.code == Some(0),
        "the conservation check ended with {:?}:\n{said}",
        finished.code
    );
    Ok(said)
}

/// What all characters have, by id.
pub type AllHeld = BTreeMap<String, Held>;

/// No transaction waited for one that waited for it, as far as the cluster has a PostgreSQL server
/// of its own, whose log speaks of nobody else.
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

/// Every online character belongs to a region whose owner lives.
///
/// # Errors
/// One does not.
pub async fn everybody_is_somewhere(store: &Store) -> Result<()> {
    let lost = store.nowhere().await?;
    ensure!(lost.is_empty(), "nobody plays {lost:?}");
    Ok(())
}
