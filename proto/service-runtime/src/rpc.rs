//! gRPC between the processes: one way to make a channel and a server, so that both sides notice a
//! silently lost peer within two seconds.

mod channels;
mod replicas;

use std::{future::Future, time::Duration};

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use tonic::transport::{
    Channel, Endpoint, Server,
    server::{Router, TcpIncoming},
};

pub use self::{
    channels::Channels,
    replicas::{Answered, Replicas},
};

/// Time that a plain call may take.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// Time that open streams may take to end when a server stops.
pub const DRAIN: Duration = Duration::from_secs(3);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const KEEP_ALIVE: Duration = Duration::from_secs(1);
const STREAM_WINDOW_BYTES: u32 = 1024 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 4 * 1024 * 1024;

/// Returns a channel to `address` (`host:port`), which connects at its first use and again whenever
/// it must. Call it inside a runtime. Fails if the address is malformed.
pub fn channel(address: &str) -> anyhow::Result<Channel> {
    let uri = if address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    };
    let endpoint = Endpoint::from_shared(uri)
        .with_context(|| format!("{address:?} is not host:port"))?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
    Ok(endpoint.connect_lazy())
}

/// Returns a server with the keep-alive and windows of [`channel`]. Handlers set their own
/// deadlines.
pub fn server() -> Server {
    Server::builder()
        .tcp_nodelay(true)
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
}

/// Serves on a bound listener until `stop`, then gives open calls [`DRAIN`] to end and drops those
/// that do not.
pub async fn serve(
    router: Router,
    listener: tokio::net::TcpListener,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let serving = router.serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
    tokio::pin!(serving);
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        served = &mut serving => served.context("serve gRPC"),
        () = late => Ok(()),
    }
}

/// Bounds a call on the caller's side by [`DEADLINE`].
pub async fn bounded<T>(
    call: impl Future<Output = Result<tonic::Response<T>, tonic::Status>>,
) -> Result<T, tonic::Status> {
    match tokio::time::timeout(DEADLINE, call).await {
        Ok(answer) => answer.map(tonic::Response::into_inner),
        Err(_) => Err(tonic::Status::deadline_exceeded("no answer in time")),
    }
}

/// Growing pauses between attempts, from 50 ms up to 2 s. Each lasts between half of its length and
/// all of it, so that clients of one lost peer do not come back at one moment.
#[derive(Debug, Clone)]
pub struct Backoff {
    next: Duration,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LAST: Duration = Duration::from_secs(2);

    /// Starts with the shortest pause.
    pub const fn new() -> Self {
        Self { next: Self::FIRST }
    }

    /// Returns the next pause.
    pub fn pause(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(Self::LAST);
        whole.mul_f64(rand::random_range(0.5..=1.0))
    }

    /// Waits for the next pause. Safe to drop midway.
    pub async fn wait(&mut self) {
        let pause = self.pause();
        tokio::time::sleep(pause).await;
    }

    /// Starts again with the shortest pause, after a success.
    pub fn reset(&mut self) {
        self.next = Self::FIRST;
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_two_seconds_and_start_again() {
        let mut backoff = Backoff::new();
        let mut whole = Duration::from_millis(50);
        for _ in 0..12 {
            let pause = backoff.pause();
            assert!(
                pause >= whole / 2 && pause <= whole,
                "{pause:?} of {whole:?}"
            );
            whole = (whole * 2).min(Duration::from_secs(2));
        }
        backoff.reset();
        assert!(backoff.pause() <= Duration::from_millis(50));
    }

    #[tokio::test]
    async fn what_is_no_address_is_refused() {
        assert!(channel("127.0.0.1:5600").is_ok());
        assert!(channel("zone-0.zones:5700").is_ok());
        assert!(channel("not an address").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_call_ends_at_the_deadline() {
        let silent = std::future::pending::<Result<tonic::Response<()>, tonic::Status>>();
        let status = bounded(silent).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
    }
}
