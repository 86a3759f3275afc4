//! The land as everybody reads it: the first use of a region generates it, and keeps it then.
//!
//! Always: a tile has the same kind, height and steps at any time and for any reader. A tile
//! outside the bounds is deep water, and nobody can step there.

use std::sync::OnceLock;

use super::generate::{self, Grid, REGION_AREA, index};
use super::ground::Ground;
use super::plan::Plan;
use super::tile::{Bounds, REGION_TILES, Region, Tile};

/// Steps around a place that is not free within which one looks for a free tile.
const SETTLE_RINGS: i32 = 24;

/// The eight steps, in the order in which a search tries them.
pub(crate) const STEPS: [(i32, i32); 8] = [
    (-1, 0),
    (1, 0),
    (0, -1),
    (0, 1),
    (-1, -1),
    (1, -1),
    (-1, 1),
    (1, 1),
];

/// The free ones of [`STEPS`] from each tile of a region, one bit each.
pub(crate) type StepGrid = [u8; REGION_AREA];

/// Static terrain and collision.
#[derive(Debug)]
pub struct Terrain {
    plan: Plan,
    columns: i32,
    low: Region,
    cells: Vec<Cell>,
}

#[derive(Debug, Default)]
struct Cell {
    grid: OnceLock<Box<Grid>>,
    steps: OnceLock<Box<StepGrid>>,
}

impl Terrain {
    pub(crate) fn new(plan: Plan) -> Terrain {
        let bounds = plan.bounds;
        let columns = (bounds.max_x - bounds.min_x) / REGION_TILES;
        let rows = (bounds.max_z - bounds.min_z) / REGION_TILES;
        let cells = (0..columns * rows).map(|_| Cell::default()).collect();
        Terrain {
            low: Region::from(Tile::new(bounds.min_x, bounds.min_z)),
            columns,
            cells,
            plan,
        }
    }

    /// Returns the seed of its noise.
    pub fn seed(&self) -> u64 {
        self.plan.seed
    }

    /// Returns the land's outer edge.
    pub fn bounds(&self) -> Bounds {
        self.plan.bounds
    }

    /// Returns the ground of the tile; deep water outside the bounds.
    pub fn kind(&self, tile: Tile) -> Ground {
        self.grid(tile)
            .map_or(Ground::DeepWater, |g| g.kinds[index(tile)])
    }

    /// Returns the height of the tile, in quarters of a tile; 0 outside the bounds.
    pub fn height(&self, tile: Tile) -> u8 {
        self.grid(tile).map_or(0, |g| g.heights[index(tile)])
    }

    /// Returns whether anybody can stand there: the ground bears and nothing fixed is in the way.
    pub fn walkable(&self, tile: Tile) -> bool {
        self.grid(tile).is_some_and(|g| g.walkable[index(tile)])
    }

    /// Returns whether one step leads from `from` to `to`. Both are free, they touch, no fence is
    /// between them, and past a corner both neighbours are free too.
    pub fn step(&self, from: Tile, to: Tile) -> bool {
        if from.steps_to(to) != 1 || !self.walkable(from) {
            return false;
        }
        let mut fences = self.plan.fences.iter();
        if fences.any(|fence| fence.contains(from) != fence.contains(to)) {
            return false;
        }
        let (dx, dz) = (to.x - from.x, to.z - from.z);
        self.walkable(to)
            && (dx == 0
                || dz == 0
                || (self.walkable(from.moved(dx, 0)) && self.walkable(from.moved(0, dz))))
    }

    /// Returns kind and height of all tiles of `region`. Each has two bytes, [ground id, height],
    /// at `((z & 63) * 64 + (x & 63)) * 2`.
    pub fn region_bytes(&self, region: Region) -> Vec<u8> {
        let corner = Tile::new(region.bounds().min_x, region.bounds().min_z);
        match self.grid(corner) {
            Some(grid) => grid
                .kinds
                .iter()
                .zip(&grid.heights)
                .flat_map(|(k, h)| [k.id(), *h])
                .collect(),
            None => [Ground::DeepWater.id(), 0].repeat(REGION_AREA),
        }
    }

    /// Returns the walkable tile nearest to `tile`, no more than `rings` steps away, the tile
    /// itself first. In a ring, it takes the one nearest to `toward`.
    pub(crate) fn free_near(&self, tile: Tile, toward: Tile, rings: i32) -> Option<Tile> {
        (0..=rings).find_map(|ring| {
            ring_tiles(tile, ring)
                .filter(|t| self.walkable(*t))
                .min_by_key(|t| (t.manhattan_to(toward), *t))
        })
    }

    /// Returns the tile nearest to `wanted` on which one can stand, if there is one near.
    pub(crate) fn settled(&self, wanted: Tile) -> Option<Tile> {
        self.free_near(wanted, wanted, SETTLE_RINGS)
    }

    /// Returns the free steps from all tiles of the region, or `None` outside the bounds.
    pub(crate) fn steps(&self, region: Region) -> Option<&StepGrid> {
        let cell = self.cell(region)?;
        Some(cell.steps.get_or_init(|| self.find_steps(region)))
    }

    fn find_steps(&self, region: Region) -> Box<StepGrid> {
        let mut steps = Box::new([0; REGION_AREA]);
        let bounds = region.bounds();
        for z in bounds.min_z..bounds.max_z {
            for x in bounds.min_x..bounds.max_x {
                let from = Tile::new(x, z);
                let free = |(bit, &(dx, dz)): (usize, &(i32, i32))| {
                    u8::from(self.step(from, from.moved(dx, dz))) << bit
                };
                steps[index(from)] = STEPS.iter().enumerate().map(free).sum();
            }
        }
        steps
    }

    fn grid(&self, tile: Tile) -> Option<&Grid> {
        let region = Region::from(tile);
        let cell = self.cell(region)?;
        Some(cell.grid.get_or_init(|| generate::grid(&self.plan, region)))
    }

    fn cell(&self, region: Region) -> Option<&Cell> {
        let column = region.x.checked_sub(self.low.x)?;
        let row = region.z.checked_sub(self.low.z)?;
        if column < 0 || column >= self.columns || row < 0 {
            return None;
        }
        let at = usize::try_from(row).ok()? * usize::try_from(self.columns).ok()?;
        self.cells.get(at + usize::try_from(column).ok()?)
    }
}

/// Returns the tiles exactly `ring` steps from `center`.
fn ring_tiles(center: Tile, ring: i32) -> impl Iterator<Item = Tile> {
    (-ring..=ring).flat_map(move |dz| {
        let inner = dz.abs() < ring;
        let stride = if inner { (2 * ring).max(1) } else { 1 };
        (-ring..=ring)
            .step_by(stride as usize)
            .map(move |dx| center.moved(dx, dz))
    })
}
