//! How it is with this gateway. All from memory.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{app::App, clock};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) async fn health() -> Response {
    Json(json!({"status": "ok", "timestamp": clock::now_iso(), "version": VERSION})).into_response()
}

pub(super) async fn status(State(app): State<Arc<App>>) -> Response {
    let mut status = json!({
        "status": "ok",
        "uptime": app.started.elapsed().as_secs(),
        "version": VERSION,
        "ready": app.health.ready(),
        "players": app.registry.players(),
    });
    status["content"] = app.content_status();
    if let Some(hash) = &app.config.commit_hash {
        status["commitHash"] = hash.as_str().into();
    }
    Json(status).into_response()
}

pub(super) async fn livez() -> &'static str {
    "ok\n"
}

pub(super) async fn readyz(State(app): State<Arc<App>>) -> (StatusCode, String) {
    if app.health.ready() {
        return (StatusCode::OK, "ok\n".to_owned());
    }
    (
        StatusCode::SERVICE_UNAVAILABLE,
        format!("{}\n", app.health.reason()),
    )
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = HeaderValue::from_static(chassis::health::METRICS_CONTENT_TYPE);
    ([(CONTENT_TYPE, kind)], app.telemetry.render_metrics()).into_response()
}
