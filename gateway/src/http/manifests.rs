//! The content's manifests.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};

use super::{
    problem::{Code, Problem},
    route::{Policy, Route},
};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    let summary = "A manifest of the content";
    vec![
        Policy::Public
            .get("/manifests/{*path}", summary, get)
            .path("Its path, with folders.", "npcs.json")
            .json::<serde_json::Value>()
            .tagged()
            .problems(&[Code::NotFound]),
    ]
}

async fn get(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let version = app.served.shown.version();
    match path.map(|Path(path)| version.manifests.stored(&path)) {
        Ok(Some(stored)) => stored.answer(&headers),
        _ => Problem::not_found(&uri).into_response(),
    }
}
