//! Brings agents into the world that nobody plays: whoever is active and is not there. A real login
//! takes over as it would from anybody.
//!
//! Always: one who is in the world is left alone; what fails is tried again in the next round.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::store::Store;

const PERIOD: Duration = Duration::from_secs(2);
const ROUND_LIMIT: Duration = Duration::from_secs(10);
/// In each round; a crowd comes in little by little.
const MOST: i64 = 50;

/// Wakes agents until `stop`.
pub(crate) async fn run(store: Arc<dyn Store>, stop: CancellationToken) {
    let mut rounds = interval(PERIOD);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = rounds.tick() => {}
        }
        match timeout(ROUND_LIMIT, store.wake_agents(None, MOST)).await {
            Ok(Ok(0)) => {}
            Ok(Ok(agents)) => tracing::info!(agents, "agents came into the world"),
            Ok(Err(error)) => tracing::debug!(%error, "agents are not woken"),
            Err(_) => tracing::debug!("agents are not woken in time"),
        }
    }
}
