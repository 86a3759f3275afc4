//! The state of this gateway, all from memory.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use content_loader::Source;
use schemars::JsonSchema;
use serde::Serialize;
use service_runtime::health::scraped;

use super::{
    problem::Code,
    route::{Policy, Route},
    values::Time,
};
use crate::app::App;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn routes() -> Vec<Route> {
    let public = Policy::Public;
    let probes = vec![
        public.get("/health", "Whether the process serves", health),
        public
            .get("/status", "State of the process", status)
            .about("200 while the process serves, whatever else is ill."),
        public
            .get("/livez", "Whether the process lives", livez)
            .text("text/plain"),
        public
            .get("/readyz", "Whether the gateway can take players", readyz)
            .text("text/plain")
            .problems(&[Code::NotReady]),
        public
            .get(
                "/metrics",
                "Measurements, as Prometheus reads them",
                metrics,
            )
            .about("In production on a port of its own, and not here. As OpenMetrics, with exemplars, for whoever accepts that.")
            .text("text/plain")
            .problems(&[Code::NotFound]),
    ];
    // The limits never refuse a monitor.
    probes.into_iter().map(Route::uncounted).collect()
}

/// All is well, as far as this process can say.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Well {
    Ok,
}

/// Whether the process serves.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    status: Well,
    timestamp: Time,
    #[schemars(example = VERSION)]
    version: &'static str,
}

async fn health() -> Json<Health> {
    Json(Health {
        status: Well::Ok,
        timestamp: Time::now(),
        version: VERSION,
    })
}

/// The version of the content.
#[derive(Debug, Serialize, JsonSchema)]
struct ContentStatus {
    version: String,
    /// Source of the content.
    #[schemars(extend("enum" = Source::NAMES))]
    source: &'static str,
    /// Versions that zones play.
    zones: BTreeSet<String>,
}

impl ContentStatus {
    fn of(app: &App) -> Self {
        let (shown, view) = (app.served.shown.version(), app.zones.directory());
        Self {
            version: shown.content.hash().to_owned(),
            source: shown.source.name(),
            zones: view.runs().map(|run| run.content.clone()).collect(),
        }
    }
}

/// State of the process.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Status {
    status: Well,
    /// Seconds since the process began.
    #[schemars(example = 3600)]
    uptime: u64,
    #[schemars(example = VERSION)]
    version: &'static str,
    ready: bool,
    /// Players of this gateway.
    players: usize,
    content: ContentStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    commit_hash: Option<String>,
}

async fn status(State(app): State<Arc<App>>) -> Json<Status> {
    Json(Status {
        status: Well::Ok,
        uptime: app.started.elapsed().as_secs(),
        version: VERSION,
        ready: app.health.ready(),
        players: app.sessions.registry.players(),
        content: ContentStatus::of(&app),
        commit_hash: app.config.commit_hash.clone(),
    })
}

async fn livez() -> Response {
    "ok\n".into_response()
}

async fn readyz(State(app): State<Arc<App>>) -> Response {
    if app.health.ready() {
        return "ok\n".into_response();
    }
    let reason = format!("{}\n", app.health.reason());
    (StatusCode::SERVICE_UNAVAILABLE, reason).into_response()
}

async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    scraped(&app.telemetry, &headers).into_response()
}
