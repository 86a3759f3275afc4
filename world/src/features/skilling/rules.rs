//! Places to stand for work.
//!
//! Always: one works at a tree or a rock from straight beside it, and at a shoal from up to four
//! tiles away. One works at a fire or a station from the next tile, and with people within two
//! tiles.

use crate::geometry::Terrain;
use crate::geometry::tile::{Bounds, Tile};

/// Steps within which one sets out for work.
pub(crate) const SET_OUT_TILES: u32 = 32;
/// Most routes that a player tries, to as many places beside a thing.
pub(crate) const ROUTES_MAX: usize = 4;

/// Reach of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Straight beside it.
    Beside,
    /// So many steps away at most.
    Within(i32),
}

impl Reach {
    /// Returns whether one who stands at `from` can work at something that covers `covers`.
    pub(crate) fn reaches(self, covers: Bounds, from: Tile) -> bool {
        let (east, north) = past(covers, from);
        match self {
            Reach::Beside => east.saturating_add(north) == 1,
            Reach::Within(steps) => east.max(north) <= steps,
        }
    }

    /// Returns the tiles from which one can work at something that covers `covers`, the nearest to
    /// `from` first.
    pub(crate) fn places(self, terrain: &Terrain, covers: Bounds, from: Tile) -> Vec<Tile> {
        let far = match self {
            Reach::Beside => 1,
            Reach::Within(steps) => steps,
        };
        let rows = covers.min_z - far..covers.max_z + far;
        let columns = covers.min_x - far..covers.max_x + far;
        let tiles = rows.flat_map(|z| columns.clone().map(move |x| Tile::new(x, z)));
        let mut places: Vec<Tile> = tiles
            .filter(|tile| self.reaches(covers, *tile) && terrain.walkable(*tile))
            .collect();
        places.sort_by_key(|tile| {
            let apart = tile.x.abs_diff(from.x) + tile.z.abs_diff(from.z);
            (from.steps_to(*tile), apart, *tile)
        });
        places
    }
}

/// Returns how far `from` is outside of `covers`, east or west and north or south.
pub(crate) fn past(covers: Bounds, from: Tile) -> (i32, i32) {
    let past = |at: i32, min: i32, max: i32| {
        let (before, behind) = (min.saturating_sub(at), at.saturating_sub(max - 1));
        before.max(behind).max(0)
    };
    let east = past(from.x, covers.min_x, covers.max_x);
    (east, past(from.z, covers.min_z, covers.max_z))
}

/// Returns the bounds of something that covers one tile only.
pub(crate) fn only(tile: Tile) -> Bounds {
    Bounds {
        min_x: tile.x,
        max_x: tile.x + 1,
        min_z: tile.z,
        max_z: tile.z + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stands_straight_beside_what_one_cuts() {
        let rock = Bounds {
            min_x: 0,
            max_x: 2,
            min_z: 0,
            max_z: 1,
        };
        let reached = |reach: Reach| {
            let all = (-2..4).flat_map(|x| (-2..4).map(move |z| Tile::new(x, z)));
            all.filter(|tile| reach.reaches(rock, *tile)).count()
        };
        assert_eq!(reached(Reach::Beside), 6);
        assert_eq!(reached(Reach::Within(1)), 12, "its own tiles among them");
        assert!(Reach::Within(4).reaches(rock, Tile::new(5, -4)));
        assert!(!Reach::Within(4).reaches(rock, Tile::new(6, 0)));
        let far = Tile::new(i32::MIN, i32::MAX);
        assert!(!Reach::Beside.reaches(rock, far) && !Reach::Within(4).reaches(rock, far));
    }
}
