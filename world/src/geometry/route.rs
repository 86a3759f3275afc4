//! Routes over static ground: the straight one if it is free, else the shortest, else one to the
//! nearest tile that it can reach. A goal that is not free means the free tile near it.
//!
//! Always: each tile of a way is one free step from the one before; a way has at most
//! [`PATH_TILES_MAX`] tiles. A search looks at no more than the square around its start; the
//! straight way costs no search.

use super::generate::index;
use super::terrain::{STEPS, StepGrid, Terrain};
use super::tile::{Region, Tile};
use crate::refusal::Refusal;

/// Greatest distance of a goal, in steps, and greatest length of a way.
pub const PATH_TILES_MAX: u32 = 200;
/// Tiles that a search looks to each side: as far as a goal may be.
pub const SEARCH_TILES: i32 = PATH_TILES_MAX as i32;
/// Most tiles that a search visits: those of a square of 128 to each side.
pub const SEARCH_VISITS_MAX: u64 = 257 * 257;
/// Steps around a blocked goal within which a free tile counts as the goal.
pub const GOAL_RINGS: i32 = 5;

/// Steps around a goal amid much blocked ground within which to find the nearest free tile.
const SHORE_RINGS: i32 = 48;

const SIDE: i32 = 2 * SEARCH_TILES + 1;
const CELLS: usize = (SIDE * SIDE) as usize;
const START: u8 = 8;
/// One step changes the estimated length of a way by 0, 1 or 2 steps.
const BUCKETS: usize = 3;

/// Finder of routes; keeps its memory from one search to the next.
#[derive(Debug, Default)]
pub struct Router {
    seen: Vec<Seen>,
    search: u32,
    /// Cells to look at next and their distance from the start, by the estimated length of the
    /// whole way, modulo the number of buckets.
    open: [Vec<(u32, u16)>; BUCKETS],
    visited: u64,
}

/// Knowledge of a cell by the search of that number.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    search: u32,
    /// Steps from the start.
    far: u16,
    /// Step that leads there.
    step: u8,
}

impl Router {
    /// Returns how many tiles all searches so far have visited: their cost.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// Puts the way from `from` to `to`, or as near as there is one, into `path`; empty if that is
    /// `from` itself. A search visits no more than `most` tiles.
    ///
    /// # Errors
    /// `TooFar`: the goal is more than 200 steps away. `Unreachable`: no step leads nearer. `Busy`:
    /// the search would visit more tiles than `most`.
    pub fn find(
        &mut self,
        terrain: &Terrain,
        from: Tile,
        to: Tile,
        most: u64,
        path: &mut Vec<Tile>,
    ) -> Result<(), Refusal> {
        path.clear();
        if from.steps_to(to) > PATH_TILES_MAX {
            return Err(Refusal::TooFar);
        }
        if from == to {
            return Ok(());
        }
        let goal = terrain
            .free_near(to, from, GOAL_RINGS)
            .or_else(|| terrain.free_near(to, to, SHORE_RINGS))
            .unwrap_or(to);
        if goal == from {
            return Ok(());
        }
        if !straight(terrain, from, goal, path) {
            path.clear();
            self.search(terrain, most, from, goal, path)?;
        }
        path.truncate(PATH_TILES_MAX as usize);
        if path.is_empty() {
            Err(Refusal::Unreachable)
        } else {
            Ok(())
        }
    }

    /// Finds the shortest way within the square around `from`, by A*. Of two tiles, it first looks
    /// at the one that may lie on a shorter way. Fails if it has to visit more than `most` tiles.
    fn search(
        &mut self,
        terrain: &Terrain,
        most: u64,
        from: Tile,
        goal: Tile,
        path: &mut Vec<Tile>,
    ) -> Result<(), Refusal> {
        if most == 0 {
            return Err(Refusal::Busy);
        }
        self.begin();
        let mut ground = Ground::default();
        let start = cell(SEARCH_TILES, SEARCH_TILES);
        let mut estimate = from.steps_to(goal) as usize;
        let mut nearest = (from.manhattan_to(goal), start);
        self.see(start, 0, START, estimate);
        let mut empty = 0;
        let end = self.visited + SEARCH_VISITS_MAX.min(most);
        while empty < BUCKETS && self.visited < end {
            let Some((at, far)) = self.open[estimate % BUCKETS].pop() else {
                estimate += 1;
                empty += 1;
                continue;
            };
            empty = 0;
            if self.seen[at as usize].far != far {
                continue;
            }
            self.visited += 1;
            let tile = tile_of(at, from);
            let distance = tile.manhattan_to(goal);
            if distance < nearest.0 {
                nearest = (distance, at);
            }
            if distance == 0 {
                break;
            }
            self.spread(at, far + 1, ground.steps(terrain, tile), from, goal);
        }
        let cut = nearest.0 > 0 && self.visited >= end;
        if cut && most < SEARCH_VISITS_MAX {
            return Err(Refusal::Busy);
        }
        self.trace(nearest.1, from, path);
        Ok(())
    }

    fn begin(&mut self) {
        if self.seen.is_empty() {
            self.seen = vec![Seen::default(); CELLS];
        }
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.seen.fill(Seen::default());
            self.search = 1;
        }
        self.open.iter_mut().for_each(Vec::clear);
    }

    /// Opens all neighbours of `at` with a free step. The straight ones come last, so that the
    /// search looks at them first: routes keep straight if that costs nothing.
    fn spread(&mut self, at: u32, far: u16, free: u8, from: Tile, goal: Tile) {
        let (x, z) = (at as i32 % SIDE, at as i32 / SIDE);
        let mut left = free;
        while left != 0 {
            let step = (u8::BITS - 1 - left.leading_zeros()) as u8;
            left ^= 1 << step;
            let (dx, dz) = STEPS[usize::from(step)];
            let (nx, nz) = (x + dx, z + dz);
            if (0..SIDE).contains(&nx) && (0..SIDE).contains(&nz) {
                let next = cell(nx, nz);
                let ahead = tile_of(next, from).steps_to(goal) as usize;
                self.see(next, far, step, usize::from(far) + ahead);
            }
        }
    }

    fn see(&mut self, at: u32, far: u16, step: u8, estimate: usize) {
        let seen = &mut self.seen[at as usize];
        if seen.search != self.search || far < seen.far {
            *seen = Seen {
                search: self.search,
                far,
                step,
            };
            self.open[estimate % BUCKETS].push((at, far));
        }
    }

    /// Puts the way from the start to `at` into `path`, by tracing it back.
    fn trace(&self, mut at: u32, from: Tile, path: &mut Vec<Tile>) {
        loop {
            let step = self.seen[at as usize].step;
            let Some(&(dx, dz)) = STEPS.get(usize::from(step)) else {
                break;
            };
            path.push(tile_of(at, from));
            at = cell(at as i32 % SIDE - dx, at as i32 / SIDE - dz);
        }
        path.reverse();
    }
}

fn cell(x: i32, z: i32) -> u32 {
    (z * SIDE + x).cast_unsigned()
}

fn tile_of(at: u32, from: Tile) -> Tile {
    from.moved(
        at as i32 % SIDE - SEARCH_TILES,
        at as i32 / SIDE - SEARCH_TILES,
    )
}

/// Steps of the region of the last look: neighbours are mostly in the same one.
#[derive(Default)]
struct Ground<'a> {
    last: Option<(Region, Option<&'a StepGrid>)>,
}

impl<'a> Ground<'a> {
    fn steps(&mut self, terrain: &'a Terrain, tile: Tile) -> u8 {
        let region = Region::from(tile);
        let grid = match self.last {
            Some((last, grid)) if last == region => grid,
            _ => {
                let grid = terrain.steps(region);
                self.last = Some((region, grid));
                grid
            }
        };
        grid.map_or(0, |g| g[index(tile)])
    }
}

/// Puts the straight way into `path`: diagonally until aligned, then straight. If a diagonal is
/// blocked, it goes along the longer axis, else along the other. Returns false if something is in
/// the way.
pub(crate) fn straight(terrain: &Terrain, from: Tile, goal: Tile, path: &mut Vec<Tile>) -> bool {
    let mut at = from;
    while at != goal {
        match toward(at, goal, |to| terrain.step(at, to)) {
            Some(next) if path.len() < PATH_TILES_MAX as usize => at = next,
            Some(_) => return true,
            None => return false,
        }
        path.push(at);
    }
    true
}

/// Returns the greedy step from `at` toward `goal` that `free` allows; each step leads nearer.
pub(crate) fn toward(at: Tile, goal: Tile, free: impl Fn(Tile) -> bool) -> Option<Tile> {
    let (dx, dz) = (goal.x.cmp(&at.x) as i32, goal.z.cmp(&at.z) as i32);
    let (along_x, along_z) = (at.moved(dx, 0), at.moved(0, dz));
    let x_first = goal.x.abs_diff(at.x) >= goal.z.abs_diff(at.z);
    let (first, second) = if x_first {
        (along_x, along_z)
    } else {
        (along_z, along_x)
    };
    [at.moved(dx, dz), first, second]
        .into_iter()
        .find(|to| *to != at && free(*to))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::*;
    use crate::geometry::plan::{Biome, Paint, Plan};
    use crate::geometry::shape::Shape;
    use crate::geometry::tile::Bounds;
    use crate::geometry::{Ground as Kind, noise};

    fn terrain(paints: Vec<(Kind, Bounds)>, rocks: bool) -> Terrain {
        let paint = |(ground, b)| Paint {
            ground,
            shape: Shape::Rect(b),
            rough: 0,
        };
        let side = |min, max| Bounds {
            min_x: min,
            max_x: max,
            min_z: min,
            max_z: max,
        };
        let scatter = if rocks {
            vec![(Kind::Rock, 250)]
        } else {
            Vec::new()
        };
        Terrain::new(Plan {
            seed: 9,
            bounds: side(-192, 192),
            biomes: vec![Biome {
                grounds: vec![(Kind::Grass, 1)],
                scatter,
                heights: (0, 1),
            }],
            paints: paints.into_iter().map(paint).collect(),
            ..Plan::default()
        })
    }

    /// Returns the number of steps to each tile, the slow and simple way.
    fn distances(terrain: &Terrain, from: Tile) -> BTreeMap<Tile, usize> {
        let mut far = BTreeMap::from([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for (dx, dz) in STEPS {
                let next = at.moved(dx, dz);
                if terrain.step(at, next) && !far.contains_key(&next) {
                    far.insert(next, far[&at] + 1);
                    queue.push_back(next);
                }
            }
        }
        far
    }

    #[test]
    fn ways_are_free_and_the_shortest() {
        let terrain = terrain(Vec::new(), true);
        let from = terrain
            .free_near(Tile::new(0, 0), Tile::new(0, 0), 9)
            .unwrap();
        let far = distances(&terrain, from);
        let (mut router, mut path, mut searched) = (Router::default(), Vec::new(), 0);
        for i in 0..300 {
            let n = |seed| (noise::hash(seed, i, 0) % 160).cast_signed() - 80;
            let to = Tile::new(n(1), n(2));
            let Some(&steps) = far.get(&to).filter(|steps| **steps > 0) else {
                continue;
            };
            let before = router.visited();
            assert_eq!(
                router.find(&terrain, from, to, u64::MAX, &mut path),
                Ok(()),
                "{to:?}"
            );
            assert_eq!(path.last(), Some(&to));
            let all = [&[from], path.as_slice()].concat();
            assert!(
                all.windows(2).all(|w| terrain.step(w[0], w[1])),
                "{to:?}: {path:?}"
            );
            if router.visited() > before {
                searched += 1;
                assert_eq!(path.len(), steps, "{to:?}");
            }
        }
        assert!(
            searched > 50,
            "the straight way is not always free: {searched}"
        );
    }

    #[test]
    fn a_goal_out_on_the_water_is_its_nearest_shore() {
        let lake = Bounds {
            min_x: 10,
            max_x: 60,
            min_z: -25,
            max_z: 25,
        };
        let terrain = terrain(vec![(Kind::Water, lake)], false);
        let mut path = Vec::new();
        let mut router = Router::default();
        let found = router.find(
            &terrain,
            Tile::new(0, 0),
            Tile::new(20, 3),
            u64::MAX,
            &mut path,
        );
        assert_eq!((found, path.last()), (Ok(()), Some(&Tile::new(9, 3))));
        assert!(
            router.visited() < 2_000,
            "{} tiles for a click on water",
            router.visited()
        );
    }

    #[test]
    fn who_is_locked_in_goes_as_near_as_the_walls_let_it() {
        let outer = Bounds {
            min_x: -4,
            max_x: 5,
            min_z: -4,
            max_z: 5,
        };
        let walls = vec![(Kind::Wall, outer), (Kind::Floor, outer.grown(-1))];
        let terrain = terrain(walls, false);
        let mut path = Vec::new();
        let mut router = Router::default();
        let found = router.find(
            &terrain,
            Tile::new(0, 0),
            Tile::new(50, 1),
            u64::MAX,
            &mut path,
        );
        assert_eq!((found, path.last()), (Ok(()), Some(&Tile::new(3, 1))));
        let found = router.find(
            &terrain,
            Tile::new(3, 1),
            Tile::new(50, 1),
            u64::MAX,
            &mut path,
        );
        assert_eq!(found, Err(Refusal::Unreachable));
    }

    #[test]
    fn a_search_ends_where_its_budget_does_and_the_straight_way_costs_nothing() {
        let wall = Bounds {
            min_x: 5,
            max_x: 6,
            min_z: -60,
            max_z: 60,
        };
        let terrain = terrain(vec![(Kind::Wall, wall)], false);
        let (mut router, mut path) = (Router::default(), Vec::new());
        let from = Tile::new(0, 0);
        let mut find = |to, most| {
            let found = router.find(&terrain, from, to, most, &mut path);
            (found, router.visited())
        };
        assert_eq!(find(Tile::new(9, 0), 0), (Err(Refusal::Busy), 0));
        assert_eq!(find(Tile::new(9, 0), 100), (Err(Refusal::Busy), 100));
        assert_eq!(find(Tile::new(4, 90), 0), (Ok(()), 100));
        let (found, visited) = find(Tile::new(9, 0), SEARCH_VISITS_MAX);
        assert_eq!(found, Ok(()));
        assert!(visited > 1_000, "{visited}");
    }

    #[test]
    fn goals_at_the_ends_of_the_numbers_are_refused() {
        let terrain = terrain(Vec::new(), false);
        let mut path = Vec::new();
        let ends = [i32::MIN, -201, 201, i32::MAX];
        for to in ends.iter().flat_map(|x| ends.map(|z| Tile::new(*x, z))) {
            let found = Router::default().find(&terrain, Tile::new(0, 0), to, u64::MAX, &mut path);
            assert_eq!(found, Err(Refusal::TooFar), "{to:?}");
        }
    }
}
