//! The plan of the land: all that content says about it, resolved and in whole numbers.

use std::collections::BTreeSet;

use super::ground::Ground;
use super::shape::Shape;
use super::tile::{Bounds, Tile};

/// Everything from which the generator makes terrain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Seed of the noise.
    pub(crate) seed: u64,
    /// The whole land; multiples of a region.
    pub(crate) bounds: Bounds,
    /// Biomes, with their grounds and obstacles.
    pub(crate) biomes: Vec<Biome>,
    /// Rectangles of biomes, the smallest area first.
    pub(crate) zones: Vec<Zone>,
    /// Biome outside all zones.
    pub(crate) default_biome: usize,
    /// Paints over the biomes, in order.
    pub(crate) paints: Vec<Paint>,
    /// Buildings over the paints, in order.
    pub(crate) buildings: Vec<Building>,
    /// Tiles on which something stands that nobody can walk through.
    pub(crate) blocked: BTreeSet<Tile>,
    /// Bounds over whose edges nobody steps.
    pub(crate) fences: Vec<Bounds>,
    /// Tiles on which the generator scatters no obstacles.
    pub(crate) clear: BTreeSet<Tile>,
}

/// Look of a biome.
#[derive(Debug, Clone, Default)]
pub(crate) struct Biome {
    /// Grounds and their weights.
    pub(crate) grounds: Vec<(Ground, u32)>,
    /// Obstacles and their chance per mille of tiles.
    pub(crate) scatter: Vec<(Ground, u32)>,
    /// Lowest and highest ground, in quarters of a tile.
    pub(crate) heights: (i32, i32),
}

/// Rectangle of one biome.
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
    /// Tiles by which the edge wanders.
    pub(crate) rough: i32,
}

/// House: a wall around a floor, open at its doors.
#[derive(Debug, Clone)]
pub(crate) struct Building {
    pub(crate) bounds: Bounds,
    pub(crate) wall: Ground,
    pub(crate) floor: Ground,
    pub(crate) doors: Vec<Tile>,
}

impl Building {
    /// Returns the ground that the building gives `tile`, or `None` outside.
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
