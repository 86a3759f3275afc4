//! Stop in order: the signals that ask for it, and waits with a limit.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Cancels `stop` at the first SIGTERM or SIGINT. A second signal ends the process at once with
/// exit code 130.
pub async fn stop_on_signal(stop: CancellationToken) {
    let first = signal().await;
    tracing::info!(signal = first, "stopping");
    stop.cancel();
    let second = signal().await;
    tracing::warn!(signal = second, "stopping at once");
    std::process::exit(130);
}

#[cfg(unix)]
async fn signal() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    let streams = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    );
    let (Ok(mut terminate), Ok(mut interrupt)) = streams else {
        tracing::error!("signals cannot be heard; only a kill will stop this process");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

#[cfg(not(unix))]
async fn signal() -> &'static str {
    match tokio::signal::ctrl_c().await {
        Ok(()) => "Ctrl-C",
        Err(_) => std::future::pending().await,
    }
}

/// Waits for `work` at most `limit`. If it is not done by then, returns `None` and logs a warning
/// that names `what`.
pub async fn within<T>(limit: Duration, what: &str, work: impl Future<Output = T>) -> Option<T> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => Some(done),
        Err(_) => {
            tracing::warn!(
                what,
                limit_ms = limit.as_millis() as u64,
                "not done in time"
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_at_the_limit() {
        let limit = Duration::from_secs(3);
        assert_eq!(super::within(limit, "work", async { 7 }).await, Some(7));
        let never = std::future::pending::<()>();
        assert_eq!(super::within(limit, "nothing", never).await, None);
    }
}
