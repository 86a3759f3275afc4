//! Refreshes the hiscores. Every replica tries; the store lets one of them do it.
//!
//! Always: readers see the last refresh until the next one is complete.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::placement::planner::millis;
use crate::store::Store;
use crate::store::hiscores::{Refreshed, SIZES};

/// Looks of a replica for each refresh of the hiscores.
const LOOKS: u32 = 4;
/// The longest refresh: it fills one list from all characters.
const LIMIT: Duration = Duration::from_secs(120);

/// Refreshes every `period` until `stop`.
pub(crate) async fn run(store: Arc<dyn Store>, period: Duration, stop: CancellationToken) {
    let mut looks = interval((period / LOOKS).max(Duration::from_millis(1)));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = looks.tick() => {}
        }
        let refreshing = timeout(LIMIT, store.refresh_hiscores(millis(period), SIZES));
        let refreshed = tokio::select! {
            () = stop.cancelled() => return,
            refreshed = refreshing => refreshed,
        };
        match refreshed {
            Ok(Ok(Refreshed::NotDue | Refreshed::Done)) => {}
            // The next look fills the next list.
            Ok(Ok(Refreshed::More)) => tracing::info!("a list of hiscores was filled"),
            Ok(Err(error)) => tracing::debug!(%error, "the hiscores stay as they are"),
            Err(_) => tracing::warn!("the hiscores were not refreshed in time"),
        }
    }
}
