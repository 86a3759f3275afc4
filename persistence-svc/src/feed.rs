//! Keeps the newest directory in memory and tells the watchers.
//!
//! Always: its directory was one consistent moment of the store; [`Feed::is_fresh`] and the
//! readiness of the process say whether the store answers now.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::rpc::persistence::v1::DirectoryUpdate;
use service_runtime::health::Health;
use service_runtime::rpc::Gate;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::rpc::model;
use crate::store::Store;
use crate::store::error::{Result, StoreError};

/// Time between two questions to the store without a signal of a change.
const POLL: Duration = Duration::from_millis(250);
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// Questions without an answer, one after the other, that close the gate: a short stall does not.
const MISSES_MAX: u32 = 2;
/// Time after its last answer for which the store counts as seen.
const FRESH: Duration = Duration::from_millis(1_500);

/// The newest directory; none before the first.
pub(crate) type Newest = Option<Arc<DirectoryUpdate>>;

/// The feed.
pub(crate) struct Feed {
    newest: watch::Sender<Newest>,
    /// Version of the sanctions and incarnation of the store; 0: not known yet.
    sanctions: watch::Sender<(i64, i64)>,
    seen: Mutex<Option<Instant>>,
    /// Open while the store answers.
    gate: Gate,
}

impl Feed {
    /// Knows nothing yet. It opens the gate when the store answers.
    pub(crate) fn new(gate: Gate) -> Feed {
        Feed {
            newest: watch::Sender::new(None),
            sanctions: watch::Sender::new((0, 0)),
            seen: Mutex::new(None),
            gate,
        }
    }

    /// Returns a receiver of the newest directory.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Newest> {
        self.newest.subscribe()
    }

    /// Returns a receiver of the version of the sanctions and the incarnation of the store.
    pub(crate) fn sanctions(&self) -> watch::Receiver<(i64, i64)> {
        self.sanctions.subscribe()
    }

    /// Returns whether the store answered a moment ago.
    pub(crate) fn is_fresh(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_some_and(|at| at.elapsed() < FRESH)
    }

    /// Follows the store until `stop`, and says in `health` whether it answers. It passes each
    /// signal of a change on to the task that waits for `woken`.
    pub(crate) async fn follow(
        &self,
        store: Arc<dyn Store>,
        health: Health,
        woken: Arc<Notify>,
        stop: CancellationToken,
    ) {
        let changed = store.changed();
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut known = None;
        let mut well = None;
        let mut misses = 0_u32;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = changed.notified() => woken.notify_one(),
                _ = poll.tick() => {}
            }
            let looked = timeout(ANSWER_LIMIT, self.look(store.as_ref(), known)).await;
            let looked = match looked {
                Ok(looked) => looked,
                Err(_) => Err(StoreError::Away("no answer in time".to_owned())),
            };
            let answers = looked.is_ok();
            match looked {
                Ok(version) => {
                    known = Some(version);
                    let now = Instant::now();
                    *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                    misses = 0;
                    self.gate.set(true);
                    if well != Some(true) {
                        health.set_ready(true);
                        tracing::info!("the store answers");
                    }
                }
                Err(error) => {
                    misses = misses.saturating_add(1);
                    if misses == MISSES_MAX && self.gate.set(false) {
                        tracing::warn!("callers are told to leave");
                    }
                    if well != Some(false) {
                        health.set_unready("the store does not answer");
                        tracing::warn!(%error, "the store does not answer");
                    }
                }
            }
            well = Some(answers);
        }
    }

    /// Reads the directory if its version has changed. Returns the version.
    async fn look(&self, store: &dyn Store, known: Option<i64>) -> Result<i64> {
        let (version, sanctions) = (store.version().await?, store.sanctions_version().await?);
        self.sanctions.send_if_modified(|told| {
            let newer = told.0 != sanctions;
            told.0 = sanctions;
            newer
        });
        if known == Some(version) {
            return Ok(version);
        }
        let directory = store.directory().await?;
        let (version, incarnation) = (directory.version, directory.incarnation);
        self.sanctions.send_if_modified(|told| {
            let newer = told.1 != incarnation;
            told.1 = incarnation;
            newer
        });
        let update = Arc::new(model::directory(directory)?);
        self.newest.send_replace(Some(update));
        Ok(version)
    }
}
