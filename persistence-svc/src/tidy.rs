//! Removes rows that nobody needs again, such as runs that ended a day ago and guests who do not
//! come back, a few at a time. It also adds the skeletons of names that earlier versions stored
//! without one, makes the months to come and closes those that are over.
//!
//! Always: the ledger stays, and so does a run that owns anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::placement::planner::millis;
use crate::store::Store;
use crate::store::personal::Expired;

const PERIOD: Duration = Duration::from_secs(600);
const STEP_LIMIT: Duration = Duration::from_secs(10);
/// The longest round over the months: it sums up a whole month of the ledger.
const MONTHS_LIMIT: Duration = Duration::from_secs(3_600);
const OLDER: Duration = Duration::from_secs(86_400);
/// Most rows of each kind in each round.
const MOST: i64 = 500;
/// Most guests at which one step looks, and most steps of a round. A step may remove them all.
const GUESTS: i64 = 100;
const GUEST_STEPS: u32 = 50;

/// Tidies up until `stop`. Guests who played expire after `guests` away; `None`: never.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    guests: Option<Duration>,
    metrics: Metrics,
    stop: CancellationToken,
) {
    let mut rounds = interval(PERIOD);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = rounds.tick() => {}
        }
        match timeout(STEP_LIMIT, store.prune(millis(OLDER), MOST)).await {
            Ok(Ok(0)) => {}
            Ok(Ok(runs)) => tracing::info!(runs, "runs that ended long ago were removed"),
            Ok(Err(error)) => tracing::debug!(%error, "tidying up waits for the store"),
            Err(_) => tracing::debug!("tidying up waits for the store"),
        }
        // Every gateway has heard of these sanctions long ago.
        match timeout(STEP_LIMIT, store.prune_sanctions(millis(OLDER), MOST)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, "sanctions that are over stay for now"),
            Err(_) => tracing::debug!("sanctions that are over stay for now"),
        }
        keep_skeletons(&*store, &stop).await;
        expire_guests(&*store, guests.map(millis), &metrics, &stop).await;
        tokio::select! {
            () = stop.cancelled() => return,
            () = keep_months(&*store, &metrics) => {}
        }
    }
}

/// Makes and closes months, and shows how they stand.
async fn keep_months(store: &dyn Store, metrics: &Metrics) {
    match timeout(MONTHS_LIMIT, store.keep_months(None)).await {
        Ok(Ok(kept)) => {
            for month in kept.made {
                tracing::info!(month, "a month was made");
            }
            for month in kept.closed {
                tracing::info!(month, "a month was closed");
            }
        }
        Ok(Err(error)) => tracing::warn!(%error, "the months wait for the next round"),
        Err(_) => tracing::warn!("the months were not closed in time"),
    }
    match timeout(STEP_LIMIT, store.months_standing()).await {
        Ok(Ok(standing)) => metrics.months(standing),
        Ok(Err(error)) => tracing::debug!(%error, "the state of the months is not known"),
        Err(_) => tracing::debug!("the state of the months is not known"),
    }
}

/// Looks at all names that have no skeleton yet.
async fn keep_skeletons(store: &dyn Store, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        match timeout(STEP_LIMIT, store.keep_skeletons(MOST)).await {
            Ok(Ok(0)) => return,
            Ok(Ok(names)) => tracing::info!(names, "names were compared with others like them"),
            Ok(Err(error)) => return tracing::debug!(%error, "names wait for the store"),
            Err(_) => return tracing::debug!("names wait for the store"),
        }
    }
}

/// Looks at the guests whose time has come, and removes those that expired.
async fn expire_guests(
    store: &dyn Store,
    guest_ms: Option<i64>,
    metrics: &Metrics,
    stop: &CancellationToken,
) {
    let mut all = Expired::default();
    for _ in 0..GUEST_STEPS {
        if stop.is_cancelled() {
            break;
        }
        match timeout(STEP_LIMIT, store.expire_guests(guest_ms, GUESTS)).await {
            Ok(Ok(step)) => {
                metrics.accounts_removed("unplayed", step.unplayed);
                metrics.accounts_removed("away", step.away);
                metrics.written_off(step.written_off);
                all.unplayed += step.unplayed;
                all.away += step.away;
                if i64::try_from(step.looked).is_ok_and(|looked| looked < GUESTS) {
                    break;
                }
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "guests wait for the store");
                break;
            }
            Err(_) => {
                tracing::debug!("guests wait for the store");
                break;
            }
        }
    }
    if all.unplayed + all.away > 0 {
        let (unplayed, away) = (all.unplayed, all.away);
        tracing::info!(unplayed, away, "accounts of guests expired");
    }
}
