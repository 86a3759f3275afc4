//! Carries plans out, in the one replica that holds the planner's lease.
//!
//! Always: the store checks again each change that the planner applies; the planner fences nobody
//! until the store has answered for one lease without a pause, so that live runs renew first.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::plan::{Applied, Move, MoveBackoff, PlanPolicy, plan, spread};
use super::plans::Plans;
use crate::metrics::Metrics;
use crate::store::error::Result;
use crate::store::{Store, new_id};

const PERIOD: Duration = Duration::from_millis(200);
/// Time for which the right to plan lasts without renewal.
const LEAD_MS: i64 = 2_000;
/// Bounds each step; a longer step counts as an absence of the store.
const STEP_LIMIT: Duration = Duration::from_secs(2);
/// Longest time from one answer of the store to the next; a longer one counts as an absence of the
/// store.
const PAUSE_MAX: Duration = Duration::from_millis(2_500);

/// Waiting times of the planner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) lease: Duration,
    pub(crate) settle: Duration,
    pub(crate) mass_lapse: Duration,
    pub(crate) balance: bool,
    /// Whether the planner knows of towns.
    pub(crate) towns: bool,
}

/// The changes of a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Done {
    applied: Applied,
    /// Regions that the plan gave to runs; a region may have changed since the plan looked.
    moves: Vec<Move>,
}

/// Plans until `stop`, then gives up the right to plan. It looks at once when `woken` notifies it,
/// and at each round of its timer.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    settings: Settings,
    (metrics, plans): (Metrics, Plans),
    woken: Arc<Notify>,
    stop: CancellationToken,
) {
    let holder = new_id();
    let mut rounds = interval(PERIOD);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Start of the time in which the store has answered every time, and its last answer.
    let mut steady: Option<(Instant, Instant)> = None;
    let (mut leads, mut failing) = (false, false);
    let mut move_backoff = MoveBackoff::default();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = woken.notified() => {}
            _ = rounds.tick() => {}
        }
        // After a pause of this process the planner cannot tell whether leases ended because the
        // store did not answer.
        steady = steady.filter(|(_, last)| last.elapsed() < PAUSE_MAX);
        let quiet = steady.is_none_or(|(since, _)| since.elapsed() < settings.lease);
        match step(
            store.as_ref(),
            &holder,
            settings,
            quiet,
            (&metrics, &plans),
            &mut move_backoff,
        )
        .await
        {
            Ok(now_leads) => {
                let now = Instant::now();
                steady = Some((steady.map_or(now, |(since, _)| since), now));
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
        if !leads {
            metrics.spread(None);
        }
    }
    // If this fails, the next planner only waits for the lease to end.
    let _ = timeout(STEP_LIMIT, store.resign(&holder)).await;
}

/// Runs one round. Returns whether this replica leads.
async fn step(
    store: &dyn Store,
    holder: &str,
    settings: Settings,
    quiet: bool,
    (metrics, plans): (&Metrics, &Plans),
    move_backoff: &mut MoveBackoff,
) -> std::result::Result<bool, String> {
    let begun = SystemTime::now();
    let round = round(store, holder, settings, quiet, metrics, move_backoff);
    match timeout(STEP_LIMIT, round).await {
        Ok(Ok(Some(Done { applied, moves }))) => {
            plans.carried_out(begun, applied, &moves);
            Ok(true)
        }
        Ok(Ok(None)) => Ok(false),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no answer in time".to_owned()),
    }
}

/// Runs one round without a bound: looks, plans, applies. Returns the changes that it made; `None`:
/// this replica does not lead.
///
/// # Errors
/// Those of the store.
pub(crate) async fn round(
    store: &dyn Store,
    holder: &str,
    settings: Settings,
    quiet: bool,
    metrics: &Metrics,
    move_backoff: &mut MoveBackoff,
) -> Result<Option<Done>> {
    if !store.lead(holder, LEAD_MS).await? {
        return Ok(None);
    }
    let mut view = store.view().await?;
    move_backoff.look(&mut view);
    metrics.spread(Some(spread(&view)));
    let policy = PlanPolicy {
        settle_ms: millis(settings.settle),
        mass_lapse_ms: millis(settings.mass_lapse),
        quiet,
        balance: settings.balance,
    };
    if !settings.towns {
        for one in &mut view.regions {
            one.town = 0;
        }
    }
    let change = plan(&view, policy);
    if change.is_empty() {
        return Ok(Some(Done::default()));
    }
    let (pauses, moves) = (change.pauses.clone(), change.moves.clone());
    let applied = store.apply(change).await?;
    if applied.is_anything() {
        tracing::info!(?applied, "placement");
        metrics.placed(applied);
    }
    if applied.paused > 0 {
        tracing::error!(?pauses, "regions are paused: their runs panicked too often");
    }
    Ok(Some(Done { applied, moves }))
}

/// Returns a duration as the store counts it, in milliseconds.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
