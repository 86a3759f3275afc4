//! Ways over static ground: the straight way if it is free, else the shortest, else as near as
//! there is a way.
//!
//! Always: each tile of a way is one free step from the one before; a way has at most
//! [`PATH_TILES_MAX`] tiles; a search looks at no more than the square around its start.

use crate::map::generate::index;
use crate::map::terrain::{STEPS, StepGrid, Terrain};
use crate::refusal::Refusal;
use crate::tile::{Region, Tile};

/// How far away a goal may be, in steps, and how long a way.
pub const PATH_TILES_MAX: u32 = 200;
/// A search looks this far to each side.
pub const SEARCH_TILES: i32 = 128;
/// How far around a blocked goal a free tile is looked for.
pub const GOAL_RINGS: i32 = 5;

const SIDE: i32 = 2 * SEARCH_TILES + 1;
const CELLS: usize = (SIDE * SIDE) as usize;
const START: u8 = 8;

/// Finds ways; keeps its memory from one search to the next.
#[derive(Debug, Default)]
pub struct Router {
    /// The number of the search that last saw each cell, and the step that led there.
    seen: Vec<(u32, u8)>,
    search: u32,
    queue: Vec<u32>,
    visited: u64,
}

impl Router {
    /// How many tiles all searches so far have visited: what they have cost.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// Puts the way from `from` to `to`, or as near as there is one, into `path`; empty when
    /// that is `from` itself.
    ///
    /// # Errors
    /// `TooFar`: the goal is more than 200 steps away. `Unreachable`: no step brings anybody
    /// nearer.
    pub fn find(
        &mut self,
        terrain: &Terrain,
        from: Tile,
        to: Tile,
        path: &mut Vec<Tile>,
    ) -> Result<(), Refusal> {
        path.clear();
        if from.steps_to(to) > PATH_TILES_MAX {
            return Err(Refusal::TooFar);
        }
        if from == to {
            return Ok(());
        }
        let goal = terrain.free_near(to, from, GOAL_RINGS).unwrap_or(to);
        if goal == from {
            return Ok(());
        }
        if !straight(terrain, from, goal, path) {
            path.clear();
            self.search(terrain, from, goal, path);
        }
        path.truncate(PATH_TILES_MAX as usize);
        if path.is_empty() {
            Err(Refusal::Unreachable)
        } else {
            Ok(())
        }
    }

    /// Breadth first over the square around `from`.
    fn search(&mut self, terrain: &Terrain, from: Tile, goal: Tile, path: &mut Vec<Tile>) {
        self.begin();
        let mut ground = Ground::default();
        let start = cell(SEARCH_TILES, SEARCH_TILES);
        self.see(start, START);
        let mut nearest = (from.manhattan_to(goal), start);
        let mut head = 0;
        while let Some(&at) = self.queue.get(head) {
            head += 1;
            let tile = tile_of(at, from);
            let distance = tile.manhattan_to(goal);
            if distance < nearest.0 {
                nearest = (distance, at);
            }
            if distance == 0 {
                break;
            }
            self.spread(at, ground.steps(terrain, tile));
        }
        self.visited += head as u64;
        self.trace(nearest.1, from, path);
    }

    fn begin(&mut self) {
        if self.seen.is_empty() {
            self.seen = vec![(0, 0); CELLS];
        }
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.seen.fill((0, 0));
            self.search = 1;
        }
        self.queue.clear();
    }

    /// Queues all unseen neighbours of `at` to which there is a free step.
    fn spread(&mut self, at: u32, free: u8) {
        let (x, z) = (at as i32 % SIDE, at as i32 / SIDE);
        let mut left = free;
        while left != 0 {
            let step = left.trailing_zeros() as u8;
            left &= left - 1;
            let (dx, dz) = STEPS[usize::from(step)];
            let (nx, nz) = (x + dx, z + dz);
            if (0..SIDE).contains(&nx) && (0..SIDE).contains(&nz) {
                self.see(cell(nx, nz), step);
            }
        }
    }

    fn see(&mut self, at: u32, step: u8) {
        let seen = &mut self.seen[at as usize];
        if seen.0 != self.search {
            *seen = (self.search, step);
            self.queue.push(at);
        }
    }

    /// The way back from `at` to the start, turned round.
    fn trace(&self, mut at: u32, from: Tile, path: &mut Vec<Tile>) {
        loop {
            let step = self.seen[at as usize].1;
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

/// The steps of the region looked at last: neighbours are mostly in the same one.
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

/// Puts the straight way into `path`: diagonally until aligned, then straight; where a diagonal
/// is blocked along the longer axis, else along the other. False: something is in the way.
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

/// The greedy step from `at` toward `goal` that `free` allows; each step brings nearer.
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
