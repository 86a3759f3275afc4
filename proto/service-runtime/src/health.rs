//! Routes for the platform: `/livez`, `/readyz` and `/metrics`.
//!
//! Always: a process answers from memory. It is alive as long as it answers, even if other
//! processes fail; only a part of its own that can never move again makes it dead.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router, extract,
    http::{
        HeaderMap, HeaderName, StatusCode,
        header::{ACCEPT, CONTENT_TYPE},
    },
    routing::get,
};
use tokio_util::sync::CancellationToken;

use crate::telemetry::Telemetry;

/// The content types of the Prometheus text format, and of OpenMetrics.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Time that an open request may take when the process stops.
const DRAIN: Duration = Duration::from_secs(1);

/// Whether the process lives and is ready for work and, if not, why. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Health(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Reason why it is not ready.
    unready: Option<String>,
    /// Reason why the platform should end it.
    dead: Option<String>,
}

impl Health {
    /// Builds a state that is not ready yet: `starting`.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            unready: Some("starting".to_owned()),
            dead: None,
        })))
    }

    /// Returns whether it is ready.
    pub fn ready(&self) -> bool {
        self.state().unready.is_none()
    }

    /// Returns the reason why it is not ready; empty if it is.
    pub fn reason(&self) -> String {
        self.state().unready.clone().unwrap_or_default()
    }

    /// Returns the reason why the platform should end it; `None`: it lives.
    pub fn dead(&self) -> Option<String> {
        self.state().dead.clone()
    }

    /// Sets it to ready, or to not ready for no particular reason.
    pub fn set_ready(&self, ready: bool) {
        self.state().unready = (!ready).then(|| "not ready".to_owned());
    }

    /// Sets it to not ready, with the reason that `/readyz` shows.
    pub fn set_unready(&self, reason: impl Into<String>) {
        self.state().unready = Some(reason.into());
    }

    /// Sets it to dead for good, and so not ready, with the reason that `/livez` shows.
    pub fn set_dead(&self, reason: impl Into<String>) {
        let reason = reason.into();
        let mut state = self.state();
        state.unready = Some(reason.clone());
        state.dead = Some(reason);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Health {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the three routes, for a process that serves them beside others.
pub fn routes(health: Health, telemetry: Telemetry) -> Router {
    Router::new()
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .with_state(health)
        .merge(
            Router::new()
                .route("/metrics", get(metrics))
                .with_state(telemetry),
        )
}

async fn livez(extract::State(health): extract::State<Health>) -> (StatusCode, String) {
    match health.dead() {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}

async fn readyz(extract::State(health): extract::State<Health>) -> (StatusCode, String) {
    if health.ready() {
        return (StatusCode::OK, "ok\n".to_owned());
    }
    let reason = health.reason();
    (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
}

async fn metrics(
    extract::State(telemetry): extract::State<Telemetry>,
    headers: HeaderMap,
) -> Scraped {
    scraped(&telemetry, &headers)
}

/// The answer to a scrape.
pub type Scraped = ([(HeaderName, &'static str); 1], String);

/// Returns all metrics in the format that the scraper asks for: OpenMetrics if it takes that, which
/// has exemplars, else the Prometheus text format.
pub fn scraped(telemetry: &Telemetry, headers: &HeaderMap) -> Scraped {
    let mut accepted = headers.get_all(ACCEPT).iter();
    let open = accepted.any(|value| {
        let value = value.to_str().unwrap_or_default();
        value.contains("application/openmetrics-text")
    });
    if open {
        return (
            [(CONTENT_TYPE, OPEN_METRICS)],
            telemetry.render_open_metrics(),
        );
    }
    ([(CONTENT_TYPE, TEXT)], telemetry.render_metrics())
}

/// Serves the three routes until `stop`.
pub async fn serve(
    listener: tokio::net::TcpListener,
    health: Health,
    telemetry: Telemetry,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let app = routes(health, telemetry);
    let serving = axum::serve(listener, app)
        .with_graceful_shutdown(stop.clone().cancelled_owned())
        .into_future();
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        served = serving => served,
        () = late => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::*;
    use crate::telemetry::TelemetryConfig;

    async fn ask(address: std::net::SocketAddr, path: &str) -> String {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn readiness_is_told_with_its_reason_and_metrics_are_served() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (health, stop) = (Health::new(), CancellationToken::new());
        let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
        telemetry
            .meter()
            .u64_counter("asked_total")
            .build()
            .add(3, &[]);
        let server = tokio::spawn(serve(listener, health.clone(), telemetry, stop.clone()));

        assert!(ask(address, "/livez").await.starts_with("HTTP/1.1 200"));
        let answer = ask(address, "/readyz").await;
        assert!(answer.starts_with("HTTP/1.1 503") && answer.ends_with("starting\n"));
        health.set_ready(true);
        assert!(ask(address, "/readyz").await.starts_with("HTTP/1.1 200"));
        health.set_unready("no directory");
        assert!(ask(address, "/readyz").await.ends_with("no directory\n"));
        health.set_dead("it stands still");
        for probe in ["/livez", "/readyz"] {
            let answer = ask(address, probe).await;
            assert!(answer.starts_with("HTTP/1.1 503"), "{probe}: {answer}");
            assert!(answer.ends_with("it stands still\n"), "{probe}: {answer}");
        }
        assert!(ask(address, "/metrics").await.contains("asked_total 3"));
        stop.cancel();
        server.await.unwrap().unwrap();
    }
}
