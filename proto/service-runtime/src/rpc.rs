//! gRPC between the processes: one way to make a channel and a server, so that both sides know each
//! other by certificate and notice a silently lost peer within two seconds.

pub mod access;
mod caller;
mod channels;
mod gate;
mod identity;
mod names;
mod parts;
mod replicas;
mod tls;
mod traced;
mod trust;

use std::{future::Future, sync::Arc, time::Duration};

use anyhow::Context;
use axum::http::Uri;
use futures::{StreamExt, stream::FuturesUnordered};
use hyper_util::rt::TokioIo;
use opentelemetry::metrics::{Meter, MeterProvider as _, noop::NoopMeterProvider};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::{
    Code,
    transport::{Channel, Endpoint, server::Router},
};
use tower::layer::util::{Identity as NoLayer, Stack};

use self::access::{Guard, Refusals};
pub use self::{
    caller::Caller,
    channels::Channels,
    gate::Gate,
    identity::{Identity, NoIdentity, Role},
    names::Names,
    parts::{Parts, in_parts},
    replicas::{Answered, Replicas, Route},
    tls::Pem,
    traced::traced,
    trust::{RELOAD, Trust},
};
use crate::telemetry::{Telemetry, Tracer};

/// Time that a plain call may take.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// Time that open streams may take to end when a server stops.
pub const DRAIN: Duration = Duration::from_secs(3);

/// Age at which a server with replicas says GOAWAY to a connection.
const CONNECTION_AGE: Duration = Duration::from_secs(300);
const KEEP_ALIVE: Duration = Duration::from_secs(1);
const STREAM_WINDOW_BYTES: u32 = 1024 * 1024;
/// Half of it is also what the small frames of late answers may add up to before HTTP/2 ends the
/// connection: 32,000 answers at least, between which no long ones come.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
/// Calls that callers may give up before a server has begun them, in one go.
const UNBEGUN_MAX: usize = 4_096;

impl Trust {
    /// Returns a channel to a process of `role` at `address` (`host:port`). It connects at its first
    /// use and again whenever it must, each time with the certificates of that moment. Call it
    /// inside a runtime.
    ///
    /// # Errors
    /// If the address is malformed.
    pub fn channel(&self, role: Role, address: &str) -> anyhow::Result<Channel> {
        let uri = if address.contains("://") {
            address.to_owned()
        } else {
            format!("http://{address}")
        };
        let endpoint = Endpoint::from_shared(uri)
            .with_context(|| format!("{address:?} is not host:port"))?
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            // Late answers to calls that were given up are no attack: both sides know each other. By
            // default the 1,024th of a connection ends it, with all other calls on it.
            .http2_max_local_error_reset_streams(None);
        let trust = self.clone();
        let connector = tower::service_fn(move |uri: Uri| {
            let trust = trust.clone();
            async move {
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                trust.connect(role, authority).await.map(TokioIo::new)
            }
        });
        Ok(endpoint.connect_with_connector_lazy(connector))
    }
}

impl Default for Acceptor {
    /// Makes one without TLS that counts nothing.
    fn default() -> Self {
        let meter = NoopMeterProvider::new().meter("none");
        Self::new(&Trust::none(), &meter)
    }
}

/// A server behind the guard of [`access`].
pub type Server = tonic::transport::Server<Stack<Guard, NoLayer>>;

/// The side of a process that others call.
#[derive(Debug, Clone)]
pub struct Acceptor {
    trust: Trust,
    refusals: Refusals,
    gate: Gate,
    /// Age at which a connection gets GOAWAY; `None`: none.
    age: Option<Duration>,
    /// Maker of the spans of calls; `None`: nobody follows them.
    tracer: Option<Tracer>,
}

impl Acceptor {
    /// Makes one that counts refused calls as `rpc_refused_total`.
    pub fn new(trust: &Trust, meter: &Meter) -> Self {
        Self {
            trust: trust.clone(),
            refusals: Refusals::new(meter),
            gate: Gate::default(),
            age: None,
            tracer: None,
        }
    }

    /// Makes spans of the calls that are made from a span, if the process exports any.
    #[must_use]
    pub fn followed_by(self, telemetry: &Telemetry) -> Self {
        let tracer = telemetry.tracing_enabled().then(|| telemetry.tracer());
        Self { tracer, ..self }
    }

    /// Makes callers share this server with its replicas: it refuses calls while the gate is closed,
    /// says GOAWAY when that closes, and says it to each connection after five minutes.
    #[must_use]
    pub fn behind(self, gate: Gate) -> Self {
        Self {
            gate,
            age: Some(CONNECTION_AGE),
            ..self
        }
    }

    /// Returns a server with the keep-alive and windows of [`Trust::channel`]. Handlers set their
    /// own deadlines.
    pub fn server(&self) -> Server {
        let server = tonic::transport::Server::builder();
        let server = match self.age {
            Some(age) => server.max_connection_age(age),
            None => server,
        };
        server
            .http2_keepalive_interval(Some(KEEP_ALIVE))
            .http2_keepalive_timeout(Some(KEEP_ALIVE))
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .http2_max_pending_accept_reset_streams(Some(UNBEGUN_MAX))
            .layer(Guard::new(&self.refusals, &self.gate, self.tracer.as_ref()))
    }

    /// Serves on a bound listener until `stop`, then gives open calls [`DRAIN`] to end and drops
    /// those that do not.
    ///
    /// # Errors
    /// If serving fails.
    pub async fn serve(
        self,
        router: Router<Stack<Guard, NoLayer>>,
        listener: tokio::net::TcpListener,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let listener = Arc::new(listener);
        // Each takes connections until its callers are told to leave, and ends with the last one.
        let mut serving = FuturesUnordered::new();
        loop {
            let leave = CancellationToken::new();
            let listener = Arc::clone(&listener);
            let incoming = caller::accepted(listener, self.trust.clone(), self.refusals.clone());
            let told = leave.clone().cancelled_owned();
            serving.push(router.clone().serve_with_incoming_shutdown(incoming, told));
            let closed = self.gate.closes();
            tokio::pin!(closed);
            let stopped = loop {
                tokio::select! {
                    () = stop.cancelled() => break true,
                    () = &mut closed => break false,
                    Some(ended) = serving.next() => ended.context("serve gRPC")?,
                }
            };
            leave.cancel();
            if stopped {
                break;
            }
        }
        let all = async {
            while let Some(ended) = serving.next().await {
                ended.context("serve gRPC")?;
            }
            Ok(())
        };
        timeout(DRAIN, all).await.unwrap_or(Ok(()))
    }
}

/// Bounds a call on the caller's side by [`DEADLINE`]. If the connection ended in the middle, the
/// failure is UNAVAILABLE, or another code of [`Replicas::call`] for a replica without an answer.
pub async fn bounded<T>(
    call: impl Future<Output = Result<tonic::Response<T>, tonic::Status>>,
) -> Result<T, tonic::Status> {
    match tokio::time::timeout(DEADLINE, call).await {
        Ok(answer) => answer.map(tonic::Response::into_inner).map_err(said),
        Err(_) => Err(tonic::Status::deadline_exceeded("no answer in time")),
    }
}

/// Returns a failure with a code that the service said, or one that says that it said nothing. The
/// library gives a connection that ends by some errors of HTTP/2 codes by which services refuse
/// requests, or say that they are at fault. Only such a failure has a cause on this side.
fn said(failure: tonic::Status) -> tonic::Status {
    let ended = std::error::Error::source(&failure).is_some();
    match failure.code() {
        Code::ResourceExhausted | Code::PermissionDenied | Code::Internal if ended => {
            tonic::Status::unavailable(failure.message())
        }
        _ => failure,
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
#[path = "rpc/tests.rs"]
mod over_connections;

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
        let channel = |address| Trust::none().channel(Role::Zone, address);
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
