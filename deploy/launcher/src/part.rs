//! One running service.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use service_runtime::{drain, telemetry::Telemetry};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// A service that runs until its stop.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    telemetry: Telemetry,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Part {
    /// Runs `work`, which ends at the cancellation of its token. If it ends before, its name goes
    /// to `early`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the part owns both handles, and says how the service ended"
    )]
    pub(crate) fn run<Fut>(
        name: String,
        address: SocketAddr,
        telemetry: Telemetry,
        early: mpsc::Sender<String>,
        work: impl FnOnce(CancellationToken) -> Fut,
    ) -> Self
    where
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let work = tokio::spawn(work(stop.clone()));
        let (asked, who) = (stop.clone(), name.clone());
        let task = tokio::spawn(async move {
            // A panic of the service is its end, not the launcher's.
            let ended = work.await.context("it panicked").flatten();
            if !asked.is_cancelled() {
                // Full or closed: the launcher knows already that something ended.
                let _ = early.try_send(who);
            }
            ended
        });
        Self {
            name,
            address,
            telemetry,
            stop,
            task,
        }
    }

    /// Asks it to stop.
    pub(crate) fn ask(&self) {
        self.stop.cancel();
    }

    /// Waits at most `limit` until the service has stopped.
    pub(crate) async fn ended(self, limit: Duration) -> anyhow::Result<()> {
        let Self { name, task, .. } = self;
        let abort = task.abort_handle();
        let ended = drain::within(limit, &name, task).await;
        self.telemetry.shutdown().await;
        match ended {
            Some(Ok(ended)) => ended.with_context(|| name),
            Some(Err(error)) => Err(error).context(name),
            None => {
                abort.abort();
                anyhow::bail!("{name} did not stop within {} s", limit.as_secs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use service_runtime::telemetry::TelemetryConfig;

    use super::*;

    async fn part<Fut>(work: impl FnOnce(CancellationToken) -> Fut) -> (Part, Option<String>)
    where
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
        let (sender, mut early) = mpsc::channel(1);
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let part = Part::run("zone-server 1".to_owned(), address, telemetry, sender, work);
        let name = tokio::time::timeout(Duration::from_secs(1), early.recv()).await;
        (part, name.ok().flatten())
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_breaks_or_panics_is_noticed_and_named() {
        let limit = Duration::from_secs(1);
        let (broken, name) = part(|_| async { anyhow::bail!("the disk is full") }).await;
        assert_eq!(name.as_deref(), Some("zone-server 1"));
        let error = broken.ended(limit).await.unwrap_err();
        assert_eq!(format!("{error:#}"), "zone-server 1: the disk is full");
        let (panicked, name) = part(|_| async { panic!("on purpose") }).await;
        assert_eq!(name.as_deref(), Some("zone-server 1"));
        assert!(panicked.ended(limit).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_ends_when_asked_or_at_the_limit() {
        let limit = Duration::from_secs(5);
        let (good, early) = part(|stop| async move {
            stop.cancelled().await;
            Ok(())
        })
        .await;
        assert_eq!(early, None);
        good.ask();
        assert!(good.ended(limit).await.is_ok());
        let (deaf, _) = part(|_| std::future::pending()).await;
        deaf.ask();
        let error = deaf.ended(limit).await.unwrap_err().to_string();
        assert!(error.contains("did not stop within 5 s"), "{error}");
    }
}
