//! `Directory.Watch`: pushes the whole directory, and a sign of life every second.
//!
//! Always: a watcher that lags gets the newest directory next, never a queue of old ones; there
//! is no sign of life while this process cannot see the store.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use futures::stream::unfold;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::directory_server::Directory;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, async_trait};

use crate::feed::{Feed, Newest};
use crate::metrics::{Metrics, Watcher};

const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// The service.
pub(crate) struct DirectoryService {
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
        newest.mark_changed();
        let client: String = request.into_inner().client.chars().take(64).collect();
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
        _: Request<wire::SuspectRequest>,
    ) -> Result<Response<wire::SuspectReply>, Status> {
        Err(Status::unimplemented("not yet"))
    }
}

/// The next message; `None` ends the stream.
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
