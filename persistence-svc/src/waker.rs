//! Brings active agents into the world that are absent and that nobody plays. A real login takes
//! over from an agent as from any session. Agents that nobody needs rest: they are no longer
//! active, and their zones remove them.
//!
//! Always: the waker leaves a character that is in the world alone; the next round tries again
//! after a failure.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::placement::planner::millis;
use crate::store::Store;
use crate::store::agents::{Bounds, Order};
use crate::store::error::Result;

const PERIOD: Duration = Duration::from_secs(2);
const ROUND_LIMIT: Duration = Duration::from_secs(10);
/// Most agents in each round; a crowd comes in little by little.
const MOST: i64 = 50;

/// Conditions for the rest of agents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resting {
    /// Time without a need after which an agent rests; `None`: never.
    pub(crate) idle: Option<Duration>,
    pub(crate) bounds: Bounds,
}

/// Wakes agents and lets them rest until `stop`.
pub(crate) async fn run(store: Arc<dyn Store>, resting: Resting, stop: CancellationToken) {
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
        match timeout(ROUND_LIMIT, rest(&*store, resting)).await {
            Ok(Ok(0)) => {}
            Ok(Ok(agents)) => tracing::info!(agents, "agents that nobody needs rest"),
            Ok(Err(error)) => tracing::debug!(%error, "agents do not rest yet"),
            Err(_) => tracing::debug!("agents do not rest in time"),
        }
    }
}

/// Lets agents rest that nobody needs. Returns how many.
async fn rest(store: &dyn Store, resting: Resting) -> Result<u64> {
    let Some(idle) = resting.idle else {
        return Ok(0);
    };
    let (idle, before_ms) = store.idle_agents(millis(idle), MOST).await?;
    let mut rested = 0;
    for (id, account) in idle {
        let order = Order::Rest { before_ms };
        let now = store.order_agent(&account, &id, order, resting.bounds);
        rested += u64::from(now.await?.resting);
    }
    Ok(rested)
}
