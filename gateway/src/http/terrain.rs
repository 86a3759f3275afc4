//! The land, as clients draw it.

use std::{panic::resume_unwind, sync::Arc};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use tokio::task::spawn_blocking;
use world::Region;

use super::{
    problem::{Code, Problem},
    route::{Policy, Route},
};
use crate::{app::App, content::land::Overview};

pub(super) fn routes() -> Vec<Route> {
    let region = "The land of a region";
    vec![
        Policy::Public
            .get("/world/terrain.json", "The land as a whole", get_overview)
            .json::<Overview>()
            .tagged(),
        Policy::Public
            .get("/world/map", "The whole land as one picture", get_map)
            .about("`map` of the land as a whole says how many cells it has.")
            .body::<serde_json::Value>("application/octet-stream")
            .tagged(),
        Policy::Public
            .get("/world/terrain/{x}/{z}", region, get_region)
            .path("East, in regions.", "0")
            .path("North, in regions.", "0")
            .body::<serde_json::Value>("application/octet-stream")
            .tagged()
            .problems(&[Code::NotFound]),
    ]
}

async fn get_overview(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.served.shown.version().land.overview.answer(&headers)
}

async fn get_map(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let version = app.served.shown.version();
    let made = spawn_blocking(move || version.land.map(&version.content)).await;
    match made {
        Ok(map) => map.answer(&headers),
        // The router answers for handlers that panic.
        Err(error) => resume_unwind(error.into_panic()),
    }
}

async fn get_region(
    State(app): State<Arc<App>>,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let named = path.map(|Path((x, z))| (x.parse(), z.parse()));
    let Ok((Ok(x), Ok(z))) = named else {
        return Problem::not_found(&uri).into_response();
    };
    let version = app.served.shown.version();
    match version.land.region(Region { x, z }, &version.content) {
        Some(region) => region.answer(&headers),
        None => Problem::not_found(&uri).into_response(),
    }
}
