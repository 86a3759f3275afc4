//! Fishing spots that an area wants on its shores without a place for them.
//!
//! Always: the same land and area give the same spots. Each lies in the water, next to a tile on
//! which one can stand. No two of an area are nearer than [`APART_TILES`] steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::areas::Area;
use super::catalog::Catalog;
use super::gathering::ResourceKind;
use super::placement::{Fixture, ID_BYTES_MAX};
use crate::entity::ids::EntityId;
use crate::entity::look::Kind;
use crate::geometry::tile::{Bounds, Tile};
use crate::geometry::{Ground, Terrain};
use crate::rng;

/// Least distance between the spots of an area, in steps.
const APART_TILES: u32 = 4;

/// Returns the spots of all areas that ask for some; `taken` are the tiles of placed things.
pub(crate) fn spots(
    areas: &[Area],
    kinds: &Catalog<ResourceKind>,
    terrain: &Terrain,
    taken: &BTreeSet<Tile>,
) -> Vec<Fixture> {
    let mut spots = Vec::new();
    for area in areas {
        let Some(fishing) = &area.fishing else {
            continue;
        };
        let known: Vec<&Arc<ResourceKind>> = fishing
            .kinds
            .iter()
            .filter_map(|id| kinds.get(id))
            .collect();
        if known.is_empty() {
            continue;
        }
        let places = places(area, terrain, taken, fishing.spots as usize);
        let kinds = known.iter().cycle();
        spots.extend(
            places
                .into_iter()
                .zip(kinds)
                .map(|(at, kind)| spot(at, kind)),
        );
    }
    spots
}

/// Returns up to `count` tiles on the shores of `area`, strewn by the names of area and tile.
fn places(area: &Area, terrain: &Terrain, taken: &BTreeSet<Tile>, count: usize) -> Vec<Tile> {
    let mut shore: Vec<(u64, Tile)> = tiles(area.bounds)
        .filter(|tile| !taken.contains(tile) && is_shore(terrain, *tile))
        .map(|tile| {
            (
                rng::key(&format!("{}:{},{}", area.id, tile.x, tile.z)),
                tile,
            )
        })
        .collect();
    shore.sort_unstable();
    let mut chosen: Vec<Tile> = Vec::new();
    for (_, tile) in shore {
        if chosen.len() == count {
            break;
        }
        if chosen
            .iter()
            .all(|other| other.steps_to(tile) >= APART_TILES)
        {
            chosen.push(tile);
        }
    }
    chosen
}

fn is_shore(terrain: &Terrain, tile: Tile) -> bool {
    let sides = [(-1, 0), (1, 0), (0, -1), (0, 1)];
    terrain.kind(tile) == Ground::Water
        && sides
            .iter()
            .any(|(dx, dz)| terrain.walkable(tile.moved(*dx, *dz)))
}

fn tiles(bounds: Bounds) -> impl Iterator<Item = Tile> {
    let rows = bounds.min_z..bounds.max_z;
    rows.flat_map(move |z| (bounds.min_x..bounds.max_x).map(move |x| Tile::new(x, z)))
}

fn spot(tile: Tile, kind: &ResourceKind) -> Fixture {
    let id = format!("res:{}:{},{}", kind.id, tile.x, tile.z);
    Fixture {
        id: EntityId::from(if id.len() > ID_BYTES_MAX {
            format!("res~{:016x}", rng::key(&id))
        } else {
            id
        }),
        kind: Kind::Resource,
        name: Arc::clone(&kind.name),
        sort: Arc::clone(&kind.kind),
        of: Arc::clone(&kind.id),
        examine: Arc::clone(&kind.examine),
        level: kind.level,
        tile,
        covers: Bounds {
            min_x: tile.x,
            max_x: tile.x + 1,
            min_z: tile.z,
            max_z: tile.z + 1,
        },
        blocks: Vec::new(),
        respawn_ticks: None,
        rune_type: "".into(),
    }
}
