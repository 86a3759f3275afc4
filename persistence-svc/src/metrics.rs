//! All instruments of the service. Durations are in seconds; nothing names a player.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};
use service_runtime::instruments::counter;
use service_runtime::mean::RunningMean;

use crate::placement::plan::{Applied, Spread};
use crate::store::archive::Standing;
use crate::store::value::WrittenOff;

/// Bounds of the duration histograms, in seconds.
const DURATIONS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
/// Bounds of the histogram of rows.
const ROWS: [f64; 9] = [
    0.0, 1.0, 5.0, 25.0, 100.0, 500.0, 2_500.0, 10_000.0, 20_000.0,
];

/// The instruments. Clones share them.
#[derive(Clone)]
pub(crate) struct Metrics {
    commit_duration: Histogram<f64>,
    commit_mean: Arc<RunningMean>,
    commit_rows: Histogram<u64>,
    renewals: Counter<u64>,
    fenced: Counter<u64>,
    calls: Counter<u64>,
    takeovers: Counter<u64>,
    placements: Counter<u64>,
    pool_wait: Histogram<f64>,
    accounts_removed: Counter<u64>,
    losses: Losses,
    watchers: Arc<AtomicI64>,
    spread: Arc<Mutex<Option<Spread>>>,
    months: Arc<Mutex<Option<Standing>>>,
    pool: Arc<OnceLock<PoolReader>>,
}

/// What goes with the characters that are removed.
#[derive(Clone)]
struct Losses {
    coins: Counter<u64>,
    items: Counter<u64>,
}

impl Losses {
    fn new(meter: &Meter) -> Losses {
        Losses {
            coins: counter(
                meter,
                "persistence_coins_written_off_total",
                "Coins that went with the characters that were removed",
            ),
            items: counter(
                meter,
                "persistence_items_written_off_total",
                "Items other than coins that went with the characters that were removed",
            ),
        }
    }
}

/// Reads the use of the pool of connections.
type PoolReader = Box<dyn Fn() -> PoolUse + Send + Sync>;

/// Use of the pool of database connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PoolUse {
    pub(crate) max: usize,
    pub(crate) in_use: usize,
    pub(crate) idle: usize,
    /// Callers that wait for a connection.
    pub(crate) waiting: usize,
}

impl Metrics {
    /// Registers all instruments.
    pub(crate) fn new(meter: &Meter) -> Metrics {
        let watchers = Arc::new(AtomicI64::new(0));
        let seen = Arc::clone(&watchers);
        // The registration keeps the callback.
        let _ = meter
            .i64_observable_gauge("persistence_directory_watchers")
            .with_description("Open streams of the directory")
            .with_callback(move |gauge| gauge.observe(seen.load(Ordering::Relaxed), &[]))
            .build();
        let seconds = |name: &'static str, what: &'static str| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(what)
                .with_boundaries(DURATIONS.to_vec())
                .build()
        };
        let count = |name, what| counter(meter, name, what);
        Metrics {
            commit_duration: seconds(
                "persistence_commit_seconds",
                "From the whole batch to its outcome, by outcome",
            ),
            commit_mean: Arc::default(),
            commit_rows: meter
                .u64_histogram("persistence_commit_rows")
                .with_description("Rows of the batches that were applied")
                .with_boundaries(ROWS.to_vec())
                .build(),
            renewals: count(
                "persistence_lease_renewals_total",
                "Leases renewed by a call of their own",
            ),
            fenced: count(
                "persistence_fenced_total",
                "Calls of fenced runs that were refused",
            ),
            calls: count("persistence_calls_total", "Calls by method and status"),
            takeovers: count(
                "persistence_placement_takeovers_total",
                "Runs fenced against their will, by reason: lease or witnesses",
            ),
            placements: count(
                "persistence_placement_regions_total",
                "Regions given to a run",
            ),
            pool_wait: seconds(
                "persistence_pool_wait_seconds",
                "From asking for a database connection to having it",
            ),
            accounts_removed: count(
                "persistence_accounts_removed_total",
                "Accounts removed, by reason: owner, unplayed or away",
            ),
            losses: Losses::new(meter),
            watchers,
            spread: observe_spread(meter),
            months: observe_months(meter),
            pool: observe_pool(meter),
        }
    }

    /// Counts a commit: done, repeated, fenced, refused, transfer_stale, or failed without an answer of
    /// the database.
    pub(crate) fn committed(&self, outcome: &'static str, rows: usize, took: Duration) {
        let outcome = KeyValue::new("outcome", outcome);
        if outcome.value.as_str() == "done" {
            self.commit_rows
                .record(u64::try_from(rows).unwrap_or(u64::MAX), &[]);
        }
        if outcome.value.as_str() == "fenced" {
            self.fenced.add(1, &[]);
        }
        if outcome.value.as_str() != "failed" {
            self.commit_mean.note(took);
        }
        self.commit_duration.record(took.as_secs_f64(), &[outcome]);
    }

    /// Returns the mean time of a commit that the database answered, in microseconds; 0: there was none
    /// yet.
    pub(crate) fn commit_us(&self) -> u32 {
        self.commit_mean.micros()
    }

    /// Returns the use of the pool now; `None`: SQLite, which has none.
    pub(crate) fn pool(&self) -> Option<PoolUse> {
        self.pool.get().map(|read| read())
    }

    /// Counts an answered call.
    pub(crate) fn called(&self, method: &'static str, code: tonic::Code) {
        let code = format!("{code:?}");
        let labels = [KeyValue::new("method", method), KeyValue::new("code", code)];
        self.calls.add(1, &labels);
    }

    /// Counts a renewal of a run's lease.
    pub(crate) fn renewed(&self) {
        self.renewals.add(1, &[]);
    }

    /// Counts a refusal of a fenced run.
    pub(crate) fn fenced(&self) {
        self.fenced.add(1, &[]);
    }

    /// Counts the changes of a plan.
    pub(crate) fn placed(&self, applied: Applied) {
        let count = |some: usize| u64::try_from(some).unwrap_or(u64::MAX);
        for (reason, runs) in [("lease", applied.lapsed), ("witnesses", applied.witnessed)] {
            let labels = [KeyValue::new("reason", reason)];
            self.takeovers.add(count(runs), &labels);
        }
        self.placements.add(count(applied.moved), &[]);
    }

    /// Sets the spread of the work, as the replica that plans sees it; `None`: another replica
    /// plans.
    pub(crate) fn spread(&self, spread: Option<Spread>) {
        *self.spread.lock().unwrap_or_else(PoisonError::into_inner) = spread;
    }

    /// Sets the state of the months, as this replica saw it last.
    pub(crate) fn months(&self, standing: Standing) {
        *self.months.lock().unwrap_or_else(PoisonError::into_inner) = Some(standing);
    }

    /// Shows the use of the pool from now on. `read` must not wait.
    pub(crate) fn watch_pool(&self, read: impl Fn() -> PoolUse + Send + Sync + 'static) {
        // A process has one store, and so one pool.
        let _ = self.pool.set(Box::new(read));
    }

    /// Records a wait for a connection of the pool.
    pub(crate) fn pool_waited(&self, took: Duration) {
        self.pool_wait.record(took.as_secs_f64(), &[]);
    }

    /// Counts accounts that were removed: by their owners, or because they expired.
    pub(crate) fn accounts_removed(&self, reason: &'static str, accounts: u64) {
        let labels = [KeyValue::new("reason", reason)];
        self.accounts_removed.add(accounts, &labels);
    }

    /// Counts what went with characters that were removed.
    pub(crate) fn written_off(&self, had: WrittenOff) {
        self.losses.coins.add(had.coins, &[]);
        self.losses.items.add(had.items, &[]);
    }

    /// Counts a stream of the directory until the caller drops the result.
    pub(crate) fn watcher(&self) -> Watcher {
        self.watchers.fetch_add(1, Ordering::Relaxed);
        Watcher(Arc::clone(&self.watchers))
    }
}

/// Shows the newest spread wherever there is one.
fn observe_spread(meter: &Meter) -> Arc<Mutex<Option<Spread>>> {
    let spread: Arc<Mutex<Option<Spread>>> = Arc::default();
    let newest = |of: &Arc<Mutex<Option<Spread>>>| {
        let of = Arc::clone(of);
        move || *of.lock().unwrap_or_else(PoisonError::into_inner)
    };
    let seen = newest(&spread);
    // The registrations keep the callbacks.
    let _ = meter
        .f64_observable_gauge("persistence_placement_load_ratio")
        .with_unit("1")
        .with_description("Load of the busiest live run over the mean of all")
        .with_callback(move |gauge| {
            let ratio = seen().and_then(|spread| spread.ratio_permille);
            if let Some(permille) = ratio.and_then(|ratio| u32::try_from(ratio).ok()) {
                gauge.observe(f64::from(permille) / 1_000.0, &[]);
            }
        })
        .build();
    let seen = newest(&spread);
    let _ = meter
        .u64_observable_gauge("persistence_placement_wishes")
        .with_unit("{wish}")
        .with_description("Regions that their owners are asked to give to others")
        .with_callback(move |gauge| {
            if let Some(spread) = seen() {
                gauge.observe(u64::try_from(spread.move_requests).unwrap_or(u64::MAX), &[]);
            }
        })
        .build();
    spread
}

/// Shows the newest state of the months once it is known.
fn observe_months(meter: &Meter) -> Arc<Mutex<Option<Standing>>> {
    let months: Arc<Mutex<Option<Standing>>> = Arc::default();
    let gauge = |name: &'static str, what: &'static str, of: fn(Standing) -> i64| {
        let seen = Arc::clone(&months);
        // The registration keeps the callback.
        let _ = meter
            .i64_observable_gauge(name)
            .with_description(what)
            .with_callback(move |gauge| {
                let seen = *seen.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(standing) = seen {
                    gauge.observe(of(standing), &[]);
                }
            })
            .build();
    };
    gauge(
        "persistence_months_ahead",
        "Months after the current one for which ledger, sessions and audit log are ready",
        |standing| standing.ahead,
    );
    gauge(
        "persistence_months_unplaced",
        "Rows of ledger, sessions and audit log whose month does not exist",
        |standing| standing.unplaced,
    );
    months
}

/// Shows the use of the pool, once there is one. SQLite has one connection and no pool.
fn observe_pool(meter: &Meter) -> Arc<OnceLock<PoolReader>> {
    let pool: Arc<OnceLock<PoolReader>> = Arc::default();
    let gauge = |name: &'static str, what: &'static str, of: fn(PoolUse) -> Vec<Level>| {
        let pool = Arc::clone(&pool);
        // The registration keeps the callback.
        let _ = meter
            .u64_observable_gauge(name)
            .with_description(what)
            .with_callback(move |gauge| {
                let Some(read) = pool.get() else {
                    return;
                };
                for (count, state) in of(read()) {
                    let labels = state.map(|state| KeyValue::new("state", state));
                    gauge.observe(count as u64, labels.as_slice());
                }
            })
            .build();
    };
    gauge(
        "persistence_pool_connections",
        "Connections of the pool to the database, in use or idle",
        |of| vec![(of.in_use, Some("in_use")), (of.idle, Some("idle"))],
    );
    gauge(
        "persistence_pool_connections_max",
        "Connections that the pool may have",
        |of| vec![(of.max, None)],
    );
    gauge(
        "persistence_pool_waiting",
        "Callers that wait for a connection of the pool",
        |of| vec![(of.waiting, None)],
    );
    pool
}

/// A value of a gauge, with its state if it has one.
type Level = (usize, Option<&'static str>);

/// One open stream of the directory.
pub(crate) struct Watcher(Arc<AtomicI64>);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
