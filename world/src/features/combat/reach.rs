//! Reach: from where a fighter reaches a target.
//!
//! Always: nobody reaches a target on the same tile. Weapons of one tile reach along the axes only,
//! and only where the fighter could step. Walls stop blows over more than one tile.

use std::collections::VecDeque;

use super::HitKind;
use crate::geometry::tile::Tile;
use crate::geometry::{Ground, Terrain};

/// Furthest reach, in tiles.
pub(crate) const RANGE_MAX: u32 = 10;
/// Furthest distance over which a fighter runs after a target.
pub(crate) const CHASE_TILES: u32 = 32;
/// Sides on which a fighter may stand beside a target, in the order of the tries.
const SIDES: [(i32, i32); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];

/// Sort of a blow, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) kind: HitKind,
    pub(crate) tiles: u32,
}

/// Returns whether a blow of that sort from `from` reaches `to`.
pub(crate) fn reaches(terrain: &Terrain, blow: Range, from: Tile, to: Tile) -> bool {
    if from == to || from.steps_to(to) > blow.tiles.max(1) {
        return false;
    }
    match blow.kind {
        HitKind::Melee if blow.tiles <= 1 => from.manhattan_to(to) == 1 && terrain.step(from, to),
        HitKind::Melee | HitKind::Ranged | HitKind::Magic => sees(terrain, from, to),
    }
}

/// Returns whether no wall stands between the two tiles.
fn sees(terrain: &Terrain, from: Tile, to: Tile) -> bool {
    let (dx, dz) = (to.x - from.x, to.z - from.z);
    let steps = dx.abs().max(dz.abs());
    // The middle of the line, rounded to the nearer tile.
    let along = |d: i32, n: i32| (2 * d * n + steps * d.signum()) / (2 * steps);
    (1..steps).all(|n| {
        let tile = from.moved(along(dx, n), along(dz, n));
        terrain.kind(tile) != Ground::Wall
    })
}

/// Returns the best tile beside `to` for a melee blow of one tile; `None` for other blows.
pub(crate) fn beside(terrain: &Terrain, blow: Range, from: Tile, to: Tile) -> Option<Tile> {
    if blow.kind != HitKind::Melee || blow.tiles > 1 {
        return None;
    }
    let sides = SIDES.into_iter().map(|(dx, dz)| to.moved(dx, dz));
    let free = sides.filter(|side| reaches(terrain, blow, *side, to));
    free.min_by_key(|side| (from.steps_to(*side), from.manhattan_to(*side)))
}

/// Returns as much of a way as a fighter needs to reach `to`.
pub(crate) fn shortened(
    terrain: &Terrain,
    blow: Range,
    path: VecDeque<Tile>,
    to: Tile,
) -> VecDeque<Tile> {
    let reached = path.iter().position(|at| reaches(terrain, blow, *at, to));
    let mut path = path;
    if let Some(reached) = reached {
        path.truncate(reached + 1);
    }
    path
}

/// Returns the tile to step to, for a fighter that stands on the same tile as its target.
pub(crate) fn aside(terrain: &Terrain, from: Tile, free: impl Fn(Tile) -> bool) -> Option<Tile> {
    let sides = SIDES.into_iter().map(|(dx, dz)| from.moved(dx, dz));
    let mut sides = sides.filter(|to| terrain.step(from, *to));
    sides.find(|to| free(*to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::plan::{Biome, Plan};
    use crate::geometry::tile::Bounds;

    fn terrain() -> Terrain {
        let biome = Biome {
            grounds: vec![(Ground::Grass, 1)],
            ..Biome::default()
        };
        Terrain::new(Plan {
            bounds: Bounds {
                min_x: 0,
                max_x: 64,
                min_z: 0,
                max_z: 64,
            },
            biomes: vec![biome],
            blocked: [Tile::new(20, 21)].into_iter().collect(),
            ..Plan::default()
        })
    }

    fn blow(kind: HitKind, tiles: u32) -> Range {
        Range { kind, tiles }
    }

    #[test]
    fn one_tile_reaches_along_the_axes_and_two_reach_around() {
        let terrain = terrain();
        let from = Tile::new(10, 10);
        let count = |range| {
            let near = (-3..=3).flat_map(|dx| (-3..=3).map(move |dz| from.moved(dx, dz)));
            let sword = blow(HitKind::Melee, range);
            near.filter(|to| reaches(&terrain, sword, from, *to))
                .count()
        };
        assert_eq!((count(0), count(1), count(2)), (4, 4, 24));
        let shot = blow(HitKind::Ranged, 7);
        assert!(reaches(&terrain, shot, from, Tile::new(17, 3)));
        assert!(!reaches(&terrain, shot, from, Tile::new(18, 10)));
        assert!(!reaches(&terrain, shot, from, from));
        // The thing on that tile is in the way of a sword.
        let beside = (Tile::new(20, 20), Tile::new(20, 21));
        assert!(!reaches(
            &terrain,
            blow(HitKind::Melee, 1),
            beside.0,
            beside.1
        ));
    }

    #[test]
    fn one_goes_no_further_than_needed() {
        let terrain = terrain();
        let path: VecDeque<Tile> = (1..6).map(|x| Tile::new(x, 5)).collect();
        let to = Tile::new(5, 5);
        let sword = shortened(&terrain, blow(HitKind::Melee, 1), path.clone(), to);
        assert_eq!(sword.back(), Some(&Tile::new(4, 5)));
        let bow = shortened(&terrain, blow(HitKind::Ranged, 3), path.clone(), to);
        assert_eq!(bow.back(), Some(&Tile::new(2, 5)));
        let far = shortened(&terrain, blow(HitKind::Melee, 1), path, Tile::new(40, 5));
        assert_eq!(far.len(), 5);
    }

    #[test]
    fn one_steps_aside_to_the_west_first() {
        let terrain = terrain();
        let at = Tile::new(10, 10);
        assert_eq!(aside(&terrain, at, |_| true), Some(Tile::new(9, 10)));
        let east = |to: Tile| to.x >= 10;
        assert_eq!(aside(&terrain, at, east), Some(Tile::new(11, 10)));
        assert_eq!(aside(&terrain, at, |_| false), None);
    }
}
