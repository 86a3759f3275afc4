//! Carries plans out, in the one replica that holds the planner's lease.
//!
//! Always: what it applies is checked again by the store; it fences nobody until the store has
//! answered for one lease without a pause, so that live runs renew first.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::plan::{Patience, plan};
use crate::metrics::Metrics;
use crate::store::error::Result;
use crate::store::{Store, new_id};

const PERIOD: Duration = Duration::from_millis(200);
/// How long the right to plan lasts without renewal.
const LEAD_MS: i64 = 2_000;
/// Bounds each step; a step that takes longer counts as the store being away.
const STEP_LIMIT: Duration = Duration::from_secs(2);

/// How the planner waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) lease: Duration,
    pub(crate) settle: Duration,
    pub(crate) mass_lapse: Duration,
}

/// Plans until `stop`, then gives up the right to.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    settings: Settings,
    metrics: Metrics,
    stop: CancellationToken,
) {
    let holder = new_id();
    let mut rounds = interval(PERIOD);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Since when the store has answered every time.
    let mut steady: Option<Instant> = None;
    let (mut leads, mut failing) = (false, false);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = rounds.tick() => {}
        }
        let quiet = steady.is_none_or(|since| since.elapsed() < settings.lease);
        match step(store.as_ref(), &holder, settings, quiet, &metrics).await {
            Ok(now_leads) => {
                steady.get_or_insert_with(Instant::now);
                failing = false;
                if now_leads != leads {
                    tracing::info!(leads = now_leads, "placement");
                }
                leads = now_leads;
            }
            Err(why) => {
                if !failing {
                    tracing::warn!(why, "placement waits for the store");
                }
                (steady, leads, failing) = (None, false, true);
            }
        }
    }
    // Without it the next planner only waits for the lease to end.
    let _ = timeout(STEP_LIMIT, store.resign(&holder)).await;
}

/// One round. Says whether this replica leads.
async fn step(
    store: &dyn Store,
    holder: &str,
    settings: Settings,
    quiet: bool,
    metrics: &Metrics,
) -> std::result::Result<bool, String> {
    match timeout(STEP_LIMIT, round(store, holder, settings, quiet, metrics)).await {
        Ok(Ok(leads)) => Ok(leads),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no answer in time".to_owned()),
    }
}

pub(crate) async fn round(
    store: &dyn Store,
    holder: &str,
    settings: Settings,
    quiet: bool,
    metrics: &Metrics,
) -> Result<bool> {
    if !store.lead(holder, LEAD_MS).await? {
        return Ok(false);
    }
    let view = store.view().await?;
    let patience = Patience {
        settle_ms: millis(settings.settle),
        mass_lapse_ms: millis(settings.mass_lapse),
        quiet,
    };
    let change = plan(&view, patience);
    if change.is_empty() {
        return Ok(true);
    }
    let (fenced, moved) = store.apply(change).await?;
    if fenced + moved > 0 {
        tracing::info!(fenced, moved, "regions were given out");
        metrics.placed(fenced, moved);
    }
    Ok(true)
}

/// A duration as the store counts it.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
