//! The stub world: a square of regions with towns in it.

use rand::{RngExt, rngs::StdRng};
use world::{Region, Tile, geometry::tile::REGION_TILES};

/// Tiles on a side of a town.
const TOWN_TILES: i32 = 64;

/// A square of tiles, from its south-west tile up to and without `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square {
    /// South-west tile.
    pub begin: Tile,
    /// First tile beyond the north-east corner.
    pub end: Tile,
}

/// See the module.
#[derive(Debug)]
pub struct Land {
    /// Regions on a side.
    pub side: i32,
    /// Towns, each in a square of its own.
    pub towns: Vec<Square>,
}

impl Square {
    /// Returns the square whose south-west tile is (`x`, `z`) and that has `tiles` on a side.
    pub fn new(x: i32, z: i32, tiles: i32) -> Self {
        Self {
            begin: Tile { x, z },
            end: Tile {
                x: x + tiles,
                z: z + tiles,
            },
        }
    }

    /// Returns a random tile of the square.
    pub fn anywhere(self, dice: &mut StdRng) -> Tile {
        Tile {
            x: dice.random_range(self.begin.x..self.end.x),
            z: dice.random_range(self.begin.z..self.end.z),
        }
    }

    /// Returns whether a tile lies in the square.
    pub fn contains(self, tile: Tile) -> bool {
        (self.begin.x..self.end.x).contains(&tile.x) && (self.begin.z..self.end.z).contains(&tile.z)
    }
}

impl Land {
    /// Builds a world of `side` × `side` regions. The towns stand one in each field of a grid, at
    /// random, so that some lie on borders of regions.
    pub fn new(side: i32, towns: u32, dice: &mut StdRng) -> Self {
        let tiles = side * REGION_TILES;
        let fields = (1..).find(|n| n * n >= towns).unwrap_or(1).cast_signed();
        let field = (tiles / fields).max(TOWN_TILES);
        let towns = (0..towns.cast_signed()).map(|n| {
            let corner = |at: i32| at * field;
            let slack = (field - TOWN_TILES).max(1);
            let x = corner(n % fields) + dice.random_range(0..slack);
            let z = corner(n / fields) + dice.random_range(0..slack);
            Square::new(
                x.min(tiles - TOWN_TILES),
                z.min(tiles - TOWN_TILES),
                TOWN_TILES,
            )
        });
        Self {
            side,
            towns: towns.collect(),
        }
    }

    /// Returns all tiles of the world.
    pub fn all(&self) -> Square {
        Square::new(0, 0, self.side * REGION_TILES)
    }

    /// Returns all regions, row by row.
    pub fn regions(&self) -> impl Iterator<Item = Region> + use<> {
        let side = self.side;
        (0..side).flat_map(move |z| (0..side).map(move |x| Region { x, z }))
    }

    /// Returns the place of a region on the Hilbert curve through the world: regions near each other
    /// on the curve are neighbours.
    pub fn on_curve(&self, region: Region) -> u64 {
        let side = self.side.cast_unsigned().next_power_of_two();
        let (mut x, mut z) = (region.x.cast_unsigned(), region.z.cast_unsigned());
        let (mut place, mut half) = (0, side / 2);
        while half > 0 {
            let (east, north) = (u32::from(x & half > 0), u32::from(z & half > 0));
            place += u64::from(half) * u64::from(half) * u64::from((3 * east) ^ north);
            if north == 0 {
                if east == 1 {
                    (x, z) = ((side - 1).wrapping_sub(x), (side - 1).wrapping_sub(z));
                }
                (x, z) = (z, x);
            }
            half /= 2;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_curve_visits_each_region_once_and_goes_to_a_neighbour_each_time() {
        let land = Land::new(16, 4, &mut StdRng::seed_from_u64(1));
        let visited = land.regions().map(|region| (land.on_curve(region), region));
        let visited: BTreeMap<u64, Region> = visited.collect();
        assert_eq!(visited.len(), 256);
        assert_eq!(visited.keys().next_back(), Some(&255));
        let path: Vec<Region> = visited.into_values().collect();
        for pair in path.windows(2) {
            let steps = (pair[0].x - pair[1].x).abs() + (pair[0].z - pair[1].z).abs();
            assert_eq!(steps, 1, "{pair:?}");
        }
    }

    #[test]
    fn towns_lie_inside_the_world_and_apart() {
        let land = Land::new(64, 64, &mut StdRng::seed_from_u64(2));
        assert_eq!(land.towns.len(), 64);
        for (n, town) in land.towns.iter().enumerate() {
            assert!(land.all().contains(town.begin));
            assert!(land.all().contains(town.end.moved(-1, -1)));
            for other in &land.towns[..n] {
                assert!(!other.contains(town.begin) && !town.contains(other.begin));
            }
        }
    }
}
