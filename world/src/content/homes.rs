//! The tiles on which characters first stand, rise from the dead and come home.
//!
//! Always: each can be walked to from the spawn, and is in its region, which the store gives a new
//! character. So a crowd does not stand on one tile. If the spawn and the free tile nearest to it lie
//! in different regions, there is only that tile.

use crate::geometry::Terrain;
use crate::geometry::terrain::STEPS;
use crate::geometry::tile::{Region, Tile};

/// Maximum number of steps from the spawn to such a tile.
const STEPS_MAX: u32 = 8;

/// Returns the tiles around the spawn, the nearest first; without a free tile near it, the spawn.
pub(super) fn homes(terrain: &Terrain, spawn: Tile) -> Vec<Tile> {
    let Some(first) = terrain.settled(spawn) else {
        return vec![spawn];
    };
    let region = Region::from(spawn);
    if Region::from(first) != region {
        return vec![first];
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
