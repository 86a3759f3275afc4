//! Areas of the world: what a gateway, or one task of it, shows to most of those who are there. Pure.

use std::hash::{DefaultHasher, Hash, Hasher};

use world::{Region, Tile, geometry::tile::REGION_TILES};

/// Regions on a side of an area: a town and the land around it.
const SIDE_REGIONS: i32 = 2;
/// Tiles on a side of an area.
const SIDE_TILES: i32 = SIDE_REGIONS * REGION_TILES;
/// Tiles beyond the border of its area from which a session goes on to the next one.
const BEYOND_TILES: i32 = 24;

/// A square of the world. The origin of the world, around which players begin, is in the middle of
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Area {
    /// Number of the column, from west to east.
    pub x: i32,
    /// Number of the row, from south to north.
    pub z: i32,
}

impl Area {
    /// Returns the area of a tile.
    pub fn of(tile: Tile) -> Self {
        let number = |at: i32| {
            let (whole, rest) = (at.div_euclid(SIDE_TILES), at.rem_euclid(SIDE_TILES));
            whole + i32::from(rest >= SIDE_TILES / 2)
        };
        Self {
            x: number(tile.x),
            z: number(tile.z),
        }
    }

    /// Returns the area of a region.
    pub fn of_region(region: Region) -> Self {
        Self::of(Tile {
            x: region.x.saturating_mul(REGION_TILES),
            z: region.z.saturating_mul(REGION_TILES),
        })
    }

    /// Returns whether a session of this area that stands on a tile stays in the area.
    pub fn keeps(self, tile: Tile) -> bool {
        let reach = i64::from(SIDE_TILES / 2 + BEYOND_TILES);
        let keeps = |number: i32, at: i32| {
            let middle = i64::from(number) * i64::from(SIDE_TILES);
            (middle - reach..middle + reach).contains(&i64::from(at))
        };
        keeps(self.x, tile.x) && keeps(self.z, tile.z)
    }
}

/// Returns the weight of a gateway for an area, the same at all gateways. Each area belongs to the
/// gateway with the highest one, so that few areas change their gateway when one comes or goes
/// (rendezvous hashing).
pub fn weight(gateway: &str, area: Area) -> u64 {
    let mut hasher = DefaultHasher::new();
    (gateway, area.x, area.z).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(x: i32) -> Tile {
        Tile { x, z: 0 }
    }

    #[test]
    fn the_origin_is_in_the_middle_of_an_area() {
        let area = |x| Area::of(tile(x)).x;
        assert_eq!([-65, -64, 0, 63, 64].map(area), [-1, 0, 0, 0, 1]);
        let far = [i32::MIN, i32::MAX].map(|x| Area::of(tile(x)).keeps(tile(x)));
        assert_eq!(far, [true, true]);
    }
}
