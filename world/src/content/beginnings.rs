//! The tiles on which new characters first stand.
//!
//! Always: each can be walked to from the spawn, and is in its region, which the store gives a new
//! character. So a crowd of newcomers does not stand on one tile.

use crate::geometry::Terrain;
use crate::geometry::terrain::STEPS;
use crate::geometry::tile::{Region, Tile};

/// Steps from the spawn within which new characters stand.
const STEPS_MAX: u32 = 8;

/// Returns the tiles around the spawn, the nearest first. Without a free tile near it, only the spawn.
pub(super) fn beginnings(terrain: &Terrain, spawn: Tile) -> Vec<Tile> {
    let Some(first) = terrain.settled(spawn) else {
        return vec![spawn];
    };
    let region = Region::from(spawn);
    if Region::from(first) != region {
        return vec![spawn];
    }
    let mut tiles = vec![first];
    let mut at = 0;
    while let Some(from) = tiles.get(at).copied() {
        at += 1;
        for (dx, dz) in STEPS {
            let next = from.moved(dx, dz);
            let fits = next.steps_to(spawn) <= STEPS_MAX && Region::from(next) == region;
            if fits && !tiles.contains(&next) && terrain.step(from, next) {
                tiles.push(next);
            }
        }
    }
    tiles
}
