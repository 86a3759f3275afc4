//! The land, as clients draw it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use world::{Area, Bounds, Content, Ground, Region};

use super::{
    problem::Problem,
    stored::{FIVE_MINUTES, Stored},
};
use crate::app::App;

/// The land of one version of the content, as it is sent.
pub(crate) struct Land {
    overview: Stored,
    /// Made when they are first asked for; there are only as many as the content has.
    regions: Mutex<HashMap<Region, Stored>>,
}

impl Land {
    pub(crate) fn new(content: &Content) -> Self {
        let text = overview(content).to_string();
        let overview = Stored::tagged(text, "application/json", FIVE_MINUTES, content.hash());
        Self {
            overview: overview.packed(),
            regions: Mutex::default(),
        }
    }

    /// A region of the land; `None` where there is none.
    fn region(&self, region: Region, content: &Content) -> Option<Stored> {
        if !region.bounds().meets(content.bounds()) {
            return None;
        }
        // Nothing panics while it is held.
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        let made = regions.entry(region).or_insert_with(|| {
            let bytes = content.terrain().region_bytes(region);
            let kind = "application/octet-stream";
            Stored::tagged(bytes, kind, FIVE_MINUTES, content.hash()).packed()
        });
        Some(made.clone())
    }
}

/// What there is to know of the land as a whole.
fn overview(content: &Content) -> Value {
    let spawn = content.spawn();
    let grounds = Ground::ALL.iter().map(|ground| {
        json!({
            "id": ground.id(),
            "name": ground.name(),
            "color": ground.color(),
            "walkable": ground.walkable(),
        })
    });
    json!({
        "contentHash": content.hash(),
        "seed": content.terrain().seed(),
        "regionTiles": world::tile::REGION_TILES,
        "bounds": bounds(content.bounds()),
        "spawn": {"x": spawn.x, "z": spawn.z},
        "grounds": grounds.collect::<Vec<_>>(),
        "areas": content.areas().iter().map(area).collect::<Vec<_>>(),
    })
}

fn area(area: &Area) -> Value {
    json!({
        "id": area.id,
        "name": area.name,
        "difficultyLevel": area.difficulty_level,
        "safeZone": area.safe_zone,
        "bounds": bounds(area.bounds),
    })
}

fn bounds(bounds: Bounds) -> Value {
    json!({
        "minX": bounds.min_x,
        "maxX": bounds.max_x,
        "minZ": bounds.min_z,
        "maxZ": bounds.max_z,
    })
}

pub(super) async fn get_overview(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.shown.version().land.overview.answer(&headers)
}

pub(super) async fn get_region(
    State(app): State<Arc<App>>,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let named = path.map(|Path((x, z))| (x.parse(), z.parse()));
    let Ok((Ok(x), Ok(z))) = named else {
        return Problem::not_found(&uri).into_response();
    };
    let version = app.shown.version();
    match version.land.region(Region { x, z }, &version.content) {
        Some(region) => region.answer(&headers),
        None => Problem::not_found(&uri).into_response(),
    }
}
