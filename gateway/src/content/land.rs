//! The land, as clients draw it, ready to send.

use std::{
    collections::HashMap,
    sync::{Mutex, OnceLock, PoisonError},
};

use schemars::JsonSchema;
use serde::Serialize;
use world::{Bounds, Content, Ground, Region, Tile};

use crate::http::{
    shapes::Rectangle,
    stored::{FIVE_MINUTES, Stored},
};

/// Most cells of the map from one side to the other.
const MAP_CELLS_MAX: i32 = 1024;

/// The land of one version of the content, ready to send.
pub(crate) struct Land {
    pub(crate) overview: Stored,
    /// The map, once a client has requested it.
    map: OnceLock<Stored>,
    /// Regions that clients have requested; at most as many as the content has.
    regions: Mutex<HashMap<Region, Stored>>,
}

impl Land {
    pub(crate) fn new(content: &Content) -> Self {
        let text = proto::encode::json(&Overview::of(content));
        let overview = Stored::tagged(text, "application/json", FIVE_MINUTES, content.hash());
        Self {
            overview: overview.packed(),
            map: OnceLock::new(),
            regions: Mutex::default(),
        }
    }

    /// Returns the whole land as one picture. The first request makes it, and all land with it: run
    /// that where it holds up nobody.
    pub(crate) fn map(&self, content: &Content) -> Stored {
        let made = self.map.get_or_init(|| {
            let kind = "application/octet-stream";
            Stored::tagged(map_bytes(content), kind, FIVE_MINUTES, content.hash()).packed()
        });
        made.clone()
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

/// Returns ground id and height of each cell of the map, row by row, the southernmost row first.
fn map_bytes(content: &Content) -> Vec<u8> {
    let (bounds, terrain) = (content.bounds(), content.terrain());
    let MapShape {
        tiles,
        columns,
        rows,
    } = MapShape::of(bounds);
    let tile = |column: i32, row: i32| Tile {
        x: bounds.min_x + column * tiles + tiles / 2,
        z: bounds.min_z + row * tiles + tiles / 2,
    };
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| tile(column, row)));
    cells
        .flat_map(|tile| [terrain.kind(tile).id(), terrain.height(tile)])
        .collect()
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
    map: MapShape,
    spawn: Spawn,
    grounds: Vec<GroundKind>,
    areas: Vec<Place>,
}

/// Shape of the map: two bytes for each cell, its ground id and its height.
#[derive(Debug, Serialize, JsonSchema)]
struct MapShape {
    /// Length of a cell's side, in tiles; the cell shows the tile in its middle.
    tiles: i32,
    columns: i32,
    rows: i32,
}

impl MapShape {
    /// Returns the finest shape that has no more cells than a map may have.
    fn of(bounds: Bounds) -> Self {
        let (width, depth) = (bounds.max_x - bounds.min_x, bounds.max_z - bounds.min_z);
        let mut tiles = 1;
        while width.max(depth) > MAP_CELLS_MAX * tiles {
            tiles *= 2;
        }
        Self {
            tiles,
            columns: width / tiles,
            rows: depth / tiles,
        }
    }
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
            map: MapShape::of(content.bounds()),
            spawn: Spawn {
                x: spawn.x,
                z: spawn.z,
            },
            grounds: grounds.collect(),
            areas: areas.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(side: i32) -> MapShape {
        MapShape::of(Bounds {
            min_x: -side / 2,
            max_x: side / 2,
            min_z: -side / 2,
            max_z: side / 2,
        })
    }

    #[test]
    fn a_map_shows_each_tile_until_that_would_be_too_many_cells() {
        let shapes = [640, 1024, 1088, 4096].map(|side| {
            let MapShape { tiles, columns, .. } = square(side);
            (tiles, columns)
        });
        assert_eq!(shapes, [(1, 640), (1, 1024), (2, 544), (4, 1024)]);
    }

    #[test]
    fn the_map_shows_the_same_land_as_the_regions() {
        let content = Content::embedded();
        let (bounds, shape) = (content.bounds(), MapShape::of(content.bounds()));
        let map = map_bytes(&content);
        assert_eq!(
            map.len(),
            usize::try_from(shape.columns * shape.rows * 2).unwrap()
        );
        let spawn = content.spawn();
        let cell = (spawn.z - bounds.min_z) * shape.columns + spawn.x - bounds.min_x;
        let region = content.terrain().region_bytes(Region::from(spawn));
        let tile = (spawn.z & 63) * 64 + (spawn.x & 63);
        let at = |n: i32| usize::try_from(n * 2).unwrap();
        assert_eq!(map[at(cell)..at(cell) + 2], region[at(tile)..at(tile) + 2]);
    }
}
