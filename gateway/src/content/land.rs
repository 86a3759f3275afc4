//! The land, as clients draw it, ready to send.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::Serialize;
use world::{Content, Ground, Region};

use crate::http::{
    shapes::Rectangle,
    stored::{FIVE_MINUTES, Stored},
};

/// The land of one version of the content, ready to send.
pub(crate) struct Land {
    pub(crate) overview: Stored,
    /// Regions that clients have requested; at most as many as the content has.
    regions: Mutex<HashMap<Region, Stored>>,
}

impl Land {
    pub(crate) fn new(content: &Content) -> Self {
        let text = proto::encode::json(&Overview::of(content));
        let overview = Stored::tagged(text, "application/json", FIVE_MINUTES, content.hash());
        Self {
            overview: overview.packed(),
            regions: Mutex::default(),
        }
    }

    /// Returns a region of the land; `None` where there is none. Makes it at the first request.
    pub(crate) fn region(&self, region: Region, content: &Content) -> Option<Stored> {
        if !region.bounds().meets(content.bounds()) {
            return None;
        }
        // No holder of the lock panics.
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        let made = regions.entry(region).or_insert_with(|| {
            let bytes = content.terrain().region_bytes(region);
            let kind = "application/octet-stream";
            Stored::tagged(bytes, kind, FIVE_MINUTES, content.hash()).packed()
        });
        Some(made.clone())
    }
}

/// The land as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    content_hash: String,
    seed: u64,
    /// Length of a region's side, in tiles.
    region_tiles: i32,
    bounds: Rectangle,
    spawn: Spawn,
    grounds: Vec<GroundKind>,
    areas: Vec<Place>,
}

/// The tile where new characters begin.
#[derive(Debug, Serialize, JsonSchema)]
struct Spawn {
    x: i32,
    z: i32,
}

/// A kind of ground.
#[derive(Debug, Serialize, JsonSchema)]
struct GroundKind {
    id: u8,
    name: &'static str,
    color: &'static str,
    walkable: bool,
}

/// A named part of the land.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Place {
    id: String,
    name: String,
    difficulty_level: u32,
    safe_zone: bool,
    bounds: Rectangle,
}

impl Overview {
    fn of(content: &Content) -> Self {
        let spawn = content.spawn();
        let grounds = Ground::ALL.iter().map(|ground| GroundKind {
            id: ground.id(),
            name: ground.name(),
            color: ground.color(),
            walkable: ground.walkable(),
        });
        let areas = content.areas().iter().map(|area| Place {
            id: area.id.clone(),
            name: area.name.clone(),
            difficulty_level: area.difficulty_level,
            safe_zone: area.safe_zone,
            bounds: area.bounds.into(),
        });
        Self {
            content_hash: content.hash().to_owned(),
            seed: content.terrain().seed(),
            region_tiles: world::geometry::tile::REGION_TILES,
            bounds: content.bounds().into(),
            spawn: Spawn {
                x: spawn.x,
                z: spawn.z,
            },
            grounds: grounds.collect(),
            areas: areas.collect(),
        }
    }
}
