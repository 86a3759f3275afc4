//! The tiles that a walk from the spawn reaches, and the people and things that one meets there.

use std::collections::VecDeque;

use crate::content::{Content, Fixture, NpcPlacement};
use crate::geometry::tile::{Bounds, Tile};

/// Tiles of a cast: fishing spots lie out in the water, within a cast of the shore.
const CAST_TILES: i32 = 4;
/// Tiles from which a player can talk to people and use stations.
const BESIDE_TILES: i32 = 1;

/// Tiles that a walk from the spawn reaches.
#[derive(Debug)]
pub(super) struct Reach {
    bounds: Bounds,
    tiles: Vec<bool>,
}

impl Reach {
    /// Finds the tiles by the steps that every route takes; none if the spawn itself is not free.
    pub(super) fn from_spawn(content: &Content) -> Reach {
        let bounds = content.bounds();
        let mut reach = Reach {
            bounds,
            tiles: vec![false; usize::try_from(bounds.area()).unwrap_or(0)],
        };
        let terrain = content.terrain();
        let mut queue = VecDeque::new();
        if terrain.walkable(content.spawn()) && reach.visit(content.spawn()) {
            queue.push_back(content.spawn());
        }
        // A diagonal step is free only if two straight ones are.
        while let Some(tile) = queue.pop_front() {
            for (dx, dz) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                let next = tile.moved(dx, dz);
                if terrain.step(tile, next) && reach.visit(next) {
                    queue.push_back(next);
                }
            }
        }
        reach
    }

    fn index(&self, tile: Tile) -> Option<usize> {
        let width = self.bounds.max_x - self.bounds.min_x;
        let at = (tile.z - self.bounds.min_z) * width + tile.x - self.bounds.min_x;
        self.bounds.contains(tile).then_some(at as usize)
    }

    /// Notes a tile. Returns whether it is new.
    fn visit(&mut self, tile: Tile) -> bool {
        match self.index(tile).and_then(|at| self.tiles.get_mut(at)) {
            Some(seen) => !std::mem::replace(seen, true),
            None => false,
        }
    }

    /// Returns whether one can stand on `tile`.
    pub(super) fn on(&self, tile: Tile) -> bool {
        self.index(tile)
            .and_then(|at| self.tiles.get(at))
            .is_some_and(|seen| *seen)
    }

    /// Returns whether one can stand within so many steps of `tile`.
    pub(super) fn near(&self, tile: Tile, steps: i32) -> bool {
        (-steps..=steps).any(|dx| (-steps..=steps).any(|dz| self.on(tile.moved(dx, dz))))
    }

    /// Returns whether one can stand somewhere in `bounds`.
    pub(super) fn into(&self, bounds: Bounds) -> bool {
        (bounds.min_z..bounds.max_z)
            .any(|z| (bounds.min_x..bounds.max_x).any(|x| self.on(Tile::new(x, z))))
    }

    /// Returns whether one can meet the NPC where it lives.
    pub(super) fn meets(&self, npc: &NpcPlacement) -> bool {
        self.near(npc.tile, npc.radius.max(BESIDE_TILES))
    }

    /// Returns whether one can come near enough to use `fixture`. One must come beside it. If it
    /// grows or is dug, one must come to a side, and if it swims, within a cast.
    pub(super) fn uses(&self, fixture: &Fixture) -> bool {
        if fixture.blocks.is_empty() {
            return self.near(fixture.tile, CAST_TILES);
        }
        let c = fixture.covers;
        let rows = || c.min_z..c.max_z;
        let columns = || c.min_x..c.max_x;
        rows().any(|z| self.on(Tile::new(c.min_x - 1, z)) || self.on(Tile::new(c.max_x, z)))
            || columns()
                .any(|x| self.on(Tile::new(x, c.min_z - 1)) || self.on(Tile::new(x, c.max_z)))
    }
}

/// Returns all placed NPCs, region by region.
pub(super) fn npcs(content: &Content) -> impl Iterator<Item = &NpcPlacement> {
    let regions = content.regions().into_iter();
    regions.flat_map(|region| content.npcs_in(region))
}

/// Returns all placed resources and stations, region by region.
pub(super) fn fixtures(content: &Content) -> impl Iterator<Item = &Fixture> {
    let regions = content.regions().into_iter();
    regions.flat_map(|region| content.fixtures_in(region))
}
