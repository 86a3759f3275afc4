//! The content's manifests.
//!
//! Always: the gateway serves all of them from memory, so that no path of a client is ever a path
//! on the disk.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use delivery::Files;

use super::{
    problem::{Code, Problem},
    route::{Policy, Route},
    stored::{FIVE_MINUTES, Stored},
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

/// All manifests, by path.
pub(crate) struct Manifests(BTreeMap<String, Stored>);

impl Manifests {
    pub(crate) fn new(files: &Files) -> Self {
        let stored = files.iter().map(|(path, text)| {
            let stored = Stored::new(text.clone(), "application/json", FIVE_MINUTES);
            (path.clone(), stored.packed())
        });
        Self(stored.collect())
    }

    /// Returns the manifest at a path.
    pub(crate) fn stored(&self, path: &str) -> Option<&Stored> {
        self.0.get(path)
    }
}

async fn get(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let version = app.served.shown.version();
    match path.map(|Path(path)| version.manifests.0.get(&path)) {
        Ok(Some(stored)) => stored.answer(&headers),
        _ => Problem::not_found(&uri).into_response(),
    }
}
