//! Squares: tiles of 1, chunks of 8 and regions of 64 tiles on a side.
//!
//! Always: chunk = floor(tile / 8) and region = floor(tile / 64), below zero too.

use serde::{Deserialize, Serialize};

/// Tiles on a side of a chunk.
pub const CHUNK_TILES: i32 = 8;
/// Tiles on a side of a region.
pub const REGION_TILES: i32 = 64;

/// One square of ground; +x is east, +z is north.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// East.
    pub x: i32,
    /// North.
    pub z: i32,
}

impl Tile {
    /// Returns the tile at `x`, `z`.
    pub const fn new(x: i32, z: i32) -> Tile {
        Tile { x, z }
    }

    /// Returns this tile moved by `dx`, `dz`; it stays inside the number range.
    pub const fn moved(self, dx: i32, dz: i32) -> Tile {
        Tile {
            x: self.x.saturating_add(dx),
            z: self.z.saturating_add(dz),
        }
    }

    /// Returns the steps of a king on an empty board: the greater of the two differences.
    pub fn steps_to(self, other: Tile) -> u32 {
        self.x.abs_diff(other.x).max(self.z.abs_diff(other.z))
    }

    /// Returns the sum of the two differences.
    pub fn manhattan_to(self, other: Tile) -> u64 {
        u64::from(self.x.abs_diff(other.x)) + u64::from(self.z.abs_diff(other.z))
    }
}

/// A square of 8 x 8 tiles: the unit of visibility.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Chunk {
    /// East.
    pub x: i32,
    /// North.
    pub z: i32,
}

impl From<Tile> for Chunk {
    fn from(tile: Tile) -> Chunk {
        Chunk {
            x: tile.x.div_euclid(CHUNK_TILES),
            z: tile.z.div_euclid(CHUNK_TILES),
        }
    }
}

/// A square of 64 x 64 tiles: the unit of ownership.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Region {
    /// East.
    pub x: i32,
    /// North.
    pub z: i32,
}

impl From<Tile> for Region {
    fn from(tile: Tile) -> Region {
        Region {
            x: tile.x.div_euclid(REGION_TILES),
            z: tile.z.div_euclid(REGION_TILES),
        }
    }
}

impl From<Chunk> for Region {
    fn from(chunk: Chunk) -> Region {
        const CHUNKS: i32 = REGION_TILES / CHUNK_TILES;
        Region {
            x: chunk.x.div_euclid(CHUNKS),
            z: chunk.z.div_euclid(CHUNKS),
        }
    }
}

impl Region {
    /// Returns the tiles of the region.
    pub const fn bounds(self) -> Bounds {
        let min_x = self.x.saturating_mul(REGION_TILES);
        let min_z = self.z.saturating_mul(REGION_TILES);
        Bounds {
            min_x,
            max_x: min_x.saturating_add(REGION_TILES),
            min_z,
            max_z: min_z.saturating_add(REGION_TILES),
        }
    }

    /// Returns how far outside the region `tile` is, in steps; 0 inside.
    pub fn tiles_past(self, tile: Tile) -> u32 {
        self.bounds().tiles_past(tile)
    }
}

/// An upright rectangle of tiles; the maxima are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bounds {
    /// The westernmost column.
    pub min_x: i32,
    /// One past the easternmost column.
    pub max_x: i32,
    /// The southernmost row.
    pub min_z: i32,
    /// One past the northernmost row.
    pub max_z: i32,
}

impl Bounds {
    /// Returns the rectangle of these sides around `tile`; for an even side, `tile` is the upper
    /// half of the middle.
    pub(crate) const fn around(tile: Tile, width: i32, depth: i32) -> Bounds {
        let low = tile.moved(-(width / 2), -(depth / 2));
        Bounds {
            min_x: low.x,
            max_x: low.x + width,
            min_z: low.z,
            max_z: low.z + depth,
        }
    }

    /// Returns whether `tile` lies inside.
    pub const fn contains(self, tile: Tile) -> bool {
        tile.x >= self.min_x && tile.x < self.max_x && tile.z >= self.min_z && tile.z < self.max_z
    }

    /// Returns whether the two share a tile.
    pub const fn meets(self, other: Bounds) -> bool {
        self.min_x < other.max_x
            && other.min_x < self.max_x
            && self.min_z < other.max_z
            && other.min_z < self.max_z
    }

    /// Returns the rectangle with `by` more tiles on each side.
    pub const fn grown(self, by: i32) -> Bounds {
        Bounds {
            min_x: self.min_x.saturating_sub(by),
            max_x: self.max_x.saturating_add(by),
            min_z: self.min_z.saturating_sub(by),
            max_z: self.max_z.saturating_add(by),
        }
    }

    /// Returns the rectangle moved by so many tiles, east and north.
    pub const fn moved(self, east: i32, north: i32) -> Bounds {
        Bounds {
            min_x: self.min_x.saturating_add(east),
            max_x: self.max_x.saturating_add(east),
            min_z: self.min_z.saturating_add(north),
            max_z: self.max_z.saturating_add(north),
        }
    }

    /// Returns the tile in the middle.
    pub const fn middle(self) -> Tile {
        Tile {
            x: i32::midpoint(self.min_x, self.max_x),
            z: i32::midpoint(self.min_z, self.max_z),
        }
    }

    /// Returns the number of tiles inside.
    pub fn area(self) -> u64 {
        let side = |min: i32, max: i32| {
            if max > min {
                u64::from(max.abs_diff(min))
            } else {
                0
            }
        };
        side(self.min_x, self.max_x) * side(self.min_z, self.max_z)
    }

    /// Returns how far outside `tile` is, in steps; 0 inside.
    pub fn tiles_past(self, tile: Tile) -> u32 {
        let past = |v: i32, min: i32, max: i32| {
            if v < min {
                v.abs_diff(min)
            } else if v >= max {
                v.abs_diff(max).saturating_add(1)
            } else {
                0
            }
        };
        past(tile.x, self.min_x, self.max_x).max(past(tile.z, self.min_z, self.max_z))
    }

    /// Returns the regions that the rectangle touches, by column and row.
    pub fn regions(self) -> Vec<Region> {
        if self.area() == 0 {
            return Vec::new();
        }
        let low = Region::from(Tile::new(self.min_x, self.min_z));
        let high = Region::from(Tile::new(self.max_x - 1, self.max_z - 1));
        let rows = low.z..=high.z;
        (low.x..=high.x)
            .flat_map(|x| rows.clone().map(move |z| Region { x, z }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_regions_are_floors_also_below_zero() {
        for (tile, chunk, region) in [
            (0, 0, 0),
            (7, 0, 0),
            (8, 1, 0),
            (63, 7, 0),
            (64, 8, 1),
            (-1, -1, -1),
            (-8, -1, -1),
            (-9, -2, -1),
            (-64, -8, -1),
            (-65, -9, -2),
            (i32::MAX, 268_435_455, 33_554_431),
            (i32::MIN, -268_435_456, -33_554_432),
        ] {
            let at = Tile::new(tile, tile);
            assert_eq!(
                Chunk::from(at),
                Chunk { x: chunk, z: chunk },
                "chunk of {tile}"
            );
            assert_eq!(
                Region::from(at),
                Region {
                    x: region,
                    z: region
                },
                "region of {tile}"
            );
            assert_eq!(
                Region::from(Chunk::from(at)),
                Region::from(at),
                "by chunk, {tile}"
            );
        }
    }

    #[test]
    fn tiles_past_counts_from_the_first_tile_outside() {
        let region = Region { x: 0, z: 0 };
        for (x, z, past) in [
            (0, 0, 0),
            (63, 63, 0),
            (64, 0, 1),
            (67, 0, 4),
            (-1, 0, 1),
            (-4, 70, 7),
            (i32::MIN, 0, 2_147_483_648),
            (i32::MAX, 0, 2_147_483_584),
        ] {
            assert_eq!(region.tiles_past(Tile::new(x, z)), past, "{x},{z}");
        }
    }

    #[test]
    fn bounds_list_their_regions() {
        let bounds = Bounds {
            min_x: -64,
            max_x: 65,
            min_z: 0,
            max_z: 64,
        };
        let regions = bounds.regions();
        assert_eq!(
            regions,
            [-1, 0, 1].map(|x| Region { x, z: 0 }),
            "a region touched by one column counts"
        );
        assert!(Bounds::default().regions().is_empty());
        assert_eq!(bounds.area(), 129 * 64);
    }

    #[test]
    fn distances_do_not_overflow() {
        let far = Tile::new(i32::MIN, i32::MAX);
        assert_eq!(far.steps_to(Tile::new(i32::MAX, i32::MIN)), u32::MAX);
        assert_eq!(
            far.manhattan_to(Tile::new(i32::MAX, i32::MIN)),
            2 * u64::from(u32::MAX)
        );
        assert_eq!(far.moved(-1, 1), far);
    }
}
