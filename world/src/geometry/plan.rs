//! What the land is to be: all that content says about it, resolved and in whole numbers.

use std::collections::BTreeSet;

use super::ground::Ground;
use super::shape::Shape;
use super::tile::{Bounds, Tile};

/// Everything from which terrain is generated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Of the noise.
    pub(crate) seed: u64,
    /// The whole land; multiples of a region.
    pub(crate) bounds: Bounds,
    /// What grows where.
    pub(crate) biomes: Vec<Biome>,
    /// Where each biome is, the smallest area first.
    pub(crate) zones: Vec<Zone>,
    /// The biome outside all zones.
    pub(crate) default_biome: usize,
    /// Painted over the biomes, in order.
    pub(crate) paints: Vec<Paint>,
    /// Built over the paints, in order.
    pub(crate) buildings: Vec<Building>,
    /// Tiles on which something stands that cannot be walked through.
    pub(crate) blocked: BTreeSet<Tile>,
    /// Nobody steps over the edges of these.
    pub(crate) fences: Vec<Bounds>,
    /// Tiles that must not be scattered with obstacles.
    pub(crate) clear: BTreeSet<Tile>,
}

/// How a biome looks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Biome {
    /// Grounds and their weights.
    pub(crate) grounds: Vec<(Ground, u32)>,
    /// Obstacles and their chance per mille of tiles.
    pub(crate) scatter: Vec<(Ground, u32)>,
    /// The lowest and the highest ground, in quarters of a tile.
    pub(crate) heights: (i32, i32),
}

/// A rectangle of one biome.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    pub(crate) bounds: Bounds,
    pub(crate) biome: usize,
}

/// One stroke of a brush.
#[derive(Debug, Clone)]
pub(crate) struct Paint {
    pub(crate) ground: Ground,
    pub(crate) shape: Shape,
    /// How many tiles the edge wanders.
    pub(crate) rough: i32,
}

/// A house: a wall around a floor, open at its doors.
#[derive(Debug, Clone)]
pub(crate) struct Building {
    pub(crate) bounds: Bounds,
    pub(crate) wall: Ground,
    pub(crate) floor: Ground,
    pub(crate) doors: Vec<Tile>,
}

impl Building {
    /// What the building makes of `tile`.
    pub(crate) fn at(&self, tile: Tile) -> Option<Ground> {
        let b = self.bounds;
        if !b.contains(tile) {
            return None;
        }
        let edge = tile.x == b.min_x
            || tile.x == b.max_x - 1
            || tile.z == b.min_z
            || tile.z == b.max_z - 1;
        Some(if edge && !self.doors.contains(&tile) {
            self.wall
        } else {
            self.floor
        })
    }
}
