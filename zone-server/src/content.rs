//! Chooses the version of the content that a run plays. It is the version of the oldest run that is
//! not leaving, so that all runs can hand players over to each other.
//!
//! Always: a run never changes its content; it ends in order, and the next one plays the other.

use std::time::Duration;

use content_loader::{Delivered, Run, Shelf};
use proto::rpc::persistence::v1::{DirectoryUpdate, RunState, WatchRequest};
use service_runtime::rpc::Backoff;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::store::Store;

/// The directory gives a sign of life every second; after this silence the run asks anew.
const SILENCE: Duration = Duration::from_secs(5);
/// Attempts of a new run to learn the version of the others before it plays its own.
const ATTEMPTS: usize = 5;
/// Pause after a version could not be had, before the run asks for it again.
const PAUSE: Duration = Duration::from_secs(5);

/// Takes over the version that the present runs play, before a run registers.
pub(crate) async fn join(store: &Store, shelf: &Shelf, stop: &CancellationToken) {
    let mut backoff = Backoff::new();
    for attempt in 1..=ATTEMPTS {
        let mine = shelf.get().content.hash().to_owned();
        let asked = stop.run_until_cancelled(runs_now(store)).await;
        let Some(runs) = asked else { return };
        let others = content_loader::other_version(&runs, None, &mine);
        let Some(version) = others.first().map(|run| run.content.clone()) else {
            return;
        };
        tracing::info!(mine, version, "the zones play another content");
        let got = stop.run_until_cancelled(content_loader::from_runs(store.trust(), &others));
        match got.await {
            Some(Ok(delivered)) => return shelf.put(delivered),
            Some(Err(error)) => {
                tracing::warn!(attempt, error = format!("{error:#}"), "it does not come");
            }
            None => return,
        }
        if stop.run_until_cancelled(backoff.wait()).await.is_none() {
            return;
        }
    }
    tracing::error!("this zone brings another content than the others play: nobody crosses to it");
}

/// Waits until an older run than `me` plays another version than `mine`, and returns that version.
/// Safe to drop midway.
pub(crate) async fn other(store: &Store, me: u64, mine: &str) -> Delivered {
    loop {
        let others = others(store, me, mine).await;
        match content_loader::from_runs(store.trust(), &others).await {
            Ok(delivered) => return delivered,
            Err(error) => {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "an older zone plays another content, and does not give it"
                );
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Returns the older runs that play another version, as soon as there are any.
async fn others(store: &Store, me: u64, mine: &str) -> Vec<Run> {
    let mut backoff = Backoff::new();
    loop {
        let watch =
            service_runtime::rpc::bounded(async { store.directory().watch(request()).await });
        match watch.await {
            Ok(mut updates) => {
                while let Ok(Ok(Some(update))) = timeout(SILENCE, updates.message()).await {
                    backoff.reset();
                    let others = content_loader::other_version(&runs(update), Some(me), mine);
                    if !others.is_empty() {
                        return others;
                    }
                }
            }
            Err(status) => tracing::debug!(%status, "the directory is asked for again"),
        }
        backoff.wait().await;
    }
}

/// Returns the present runs, as soon as the store names them.
async fn runs_now(store: &Store) -> Vec<Run> {
    let mut backoff = Backoff::new();
    loop {
        let first = service_runtime::rpc::bounded(async {
            let mut updates = store.directory().watch(request()).await?.into_inner();
            while let Some(update) = updates.message().await? {
                if !update.unchanged {
                    return Ok(tonic::Response::new(update));
                }
            }
            Err(Status::unavailable("the directory ended"))
        });
        match first.await {
            Ok(update) => return runs(update),
            Err(status) => tracing::debug!(%status, "the directory is asked for again"),
        }
        backoff.wait().await;
    }
}

fn request() -> WatchRequest {
    WatchRequest {
        client: "zone-server content".to_owned(),
    }
}

/// Returns the runs of an update that may still play; none in a sign of life.
fn runs(update: DirectoryUpdate) -> Vec<Run> {
    let alive = update.runs.into_iter();
    let alive = alive.filter(|run| run.state() != RunState::Fenced);
    let run = alive.map(|run| Run {
        id: run.run_id,
        leaving: run.state() == RunState::Draining,
        address: run.address,
        content: run.content_hash,
    });
    run.collect()
}
