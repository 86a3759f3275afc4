//! `Directory.Watch` pushes the whole directory, and a sign of life every second. `Suspect` takes
//! the reports of witnesses about dead runs.
//!
//! Always: a watcher that lags gets the newest directory next, never a queue of old ones. While
//! this process cannot see the store, it sends no sign of life and refuses new watchers. So nobody
//! takes an old directory for the current one.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use futures::stream::unfold;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::directory_server::Directory;
use service_runtime::rpc::{Caller, Role};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, async_trait};

use super::model::{number, text};
use super::{Desk, Failure, malformed};
use crate::feed::{Feed, Newest};
use crate::metrics::{Metrics, Watcher};

const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// The longest id of a gateway, in bytes.
const WITNESS_MAX: usize = 128;

/// The service.
pub(crate) struct DirectoryService {
    pub(crate) desk: Arc<Desk>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) metrics: Metrics,
    pub(crate) stop: CancellationToken,
}

/// One open stream.
struct Watching {
    newest: watch::Receiver<Newest>,
    feed: Arc<Feed>,
    beat: Interval,
    sent: (u64, u64),
    stop: CancellationToken,
    _count: Watcher,
}

type Updates = Pin<Box<dyn Stream<Item = Result<wire::DirectoryUpdate, Status>> + Send>>;

#[async_trait]
impl Directory for DirectoryService {
    type WatchStream = Updates;

    async fn watch(
        &self,
        request: Request<wire::WatchRequest>,
    ) -> Result<Response<Updates>, Status> {
        let mut newest = self.feed.subscribe();
        if newest.borrow().is_none() {
            return Err(Status::unavailable("the directory is not known yet"));
        }
        // The feed may be stale; another replica may see the store.
        if !self.feed.is_fresh() {
            return Err(Status::unavailable("the store does not answer"));
        }
        newest.mark_changed();
        let caller = Caller::of(&request);
        let client = request.into_inner().client;
        Caller::check_of(caller.as_ref(), Role::Gateway, &client)?;
        let client: String = client.chars().take(64).collect();
        tracing::debug!(client, "watches the directory");
        let mut beat = interval(SIGN_OF_LIFE);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let watching = Watching {
            newest,
            feed: Arc::clone(&self.feed),
            beat,
            sent: (0, 0),
            stop: self.stop.clone(),
            _count: self.metrics.watcher(),
        };
        let updates = unfold(watching, |mut watching| async move {
            let update = next(&mut watching).await?;
            Some((Ok(update), watching))
        });
        Ok(Response::new(Box::pin(updates)))
    }

    async fn suspect(
        &self,
        request: Request<wire::SuspectRequest>,
    ) -> Result<Response<wire::SuspectReply>, Status> {
        let caller = Caller::of(&request);
        let ask = request.into_inner();
        vouched(caller.as_ref(), &ask.witness)?;
        let work = async {
            let run = number("run_id", ask.run_id)?;
            let witness = witness(run, ask.witness)?;
            let store = &self.desk.store;
            store.suspect(run, &witness.name, witness.run).await?;
            tracing::info!(run, witness = witness.name, "a run is said to be dead");
            Ok(wire::SuspectReply {})
        };
        self.desk.answer("Suspect", work).await
    }
}

/// Witness of a dead run.
#[derive(Debug, PartialEq, Eq)]
struct Witness {
    name: String,
    /// Run that is the witness; `None`: a gateway.
    run: Option<i64>,
}

/// Checks a witness: `gateway:<id>` or `run:<id>`, and not the accused itself.
fn witness(accused: i64, name: String) -> Result<Witness, Failure> {
    let wrong = || malformed("witness must be gateway:<id> or run:<id>");
    let name = text("witness", name)?;
    let Some((kind, id)) = name.split_once(':') else {
        return Err(wrong());
    };
    let run = match kind {
        "gateway" if is_plain(id) => None,
        "run" => {
            let run = id.parse::<i64>().map_err(|_| wrong())?;
            // One spelling for one run; otherwise one run could count as many witnesses.
            if run <= 0 || run.to_string() != id {
                return Err(wrong());
            }
            Some(run)
        }
        _ => return Err(wrong()),
    };
    if run == Some(accused) {
        return Err(malformed("a run is no witness of its own death"));
    }
    Ok(Witness { name, run })
}

/// Checks that a witness is the caller: a gateway by its name, a run by the role of a zone. The
/// deaths that two witnesses report count at once, so that nobody may be two.
fn vouched(caller: Option<&Caller>, witness: &str) -> Result<(), Status> {
    match witness.split_once(':') {
        Some(("gateway", id)) => Caller::check(caller, Role::Gateway, id),
        _ => Caller::check_role(caller, Role::Zone),
    }
}

fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic();
    (1..=WITNESS_MAX).contains(&id.len()) && id.bytes().all(plain)
}

/// Returns the next message; `None` ends the stream.
async fn next(watching: &mut Watching) -> Option<wire::DirectoryUpdate> {
    loop {
        tokio::select! {
            biased;
            () = watching.stop.cancelled() => return None,
            changed = watching.newest.changed() => {
                changed.ok()?;
                let newest = watching.newest.borrow_and_update().clone();
                if let Some(update) = newest {
                    watching.sent = (update.version, update.incarnation);
                    watching.beat.reset();
                    return Some(update.as_ref().clone());
                }
            }
            _ = watching.beat.tick() => {
                if watching.feed.is_fresh() {
                    let (version, incarnation) = watching.sent;
                    return Some(wire::DirectoryUpdate {
                        version,
                        incarnation,
                        unchanged: true,
                        ..wire::DirectoryUpdate::default()
                    });
                }
            }
        }
    }
}
