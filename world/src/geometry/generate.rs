//! Generation of the tiles of one region from a plan. Pure: the same plan gives the same tiles.

use super::ground::Ground;
use super::noise;
use super::plan::{Biome, Building, Paint, Plan, Zone};
use super::tile::{REGION_TILES, Region, Tile};

/// Tiles in a region.
pub(crate) const REGION_AREA: usize = (REGION_TILES * REGION_TILES) as usize;
/// Tiles by which the border between two biomes wanders.
const WARP_TILES: i32 = 7;
/// Tiles over which the heights of biomes blend.
const RELIEF_TILES: i32 = 16;
const RELIEF_POINTS: usize = (REGION_TILES / RELIEF_TILES) as usize + 1;

/// Tiles of one region, row by row from the south-west.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) kinds: [Ground; REGION_AREA],
    pub(crate) heights: [u8; REGION_AREA],
    pub(crate) walkable: [bool; REGION_AREA],
}

/// Returns the index of a tile in its region's grid.
pub(crate) const fn index(tile: Tile) -> usize {
    ((tile.z & (REGION_TILES - 1)) * REGION_TILES + (tile.x & (REGION_TILES - 1))) as usize
}

/// Generates the tiles of `region`.
pub(crate) fn grid(plan: &Plan, region: Region) -> Box<Grid> {
    let local = Local::new(plan, region);
    let mut grid = Box::new(Grid {
        kinds: [Ground::Grass; REGION_AREA],
        heights: [0; REGION_AREA],
        walkable: [false; REGION_AREA],
    });
    let bounds = region.bounds();
    for z in bounds.min_z..bounds.max_z {
        for x in bounds.min_x..bounds.max_x {
            let tile = Tile::new(x, z);
            let kind = local.kind(tile);
            let i = index(tile);
            grid.kinds[i] = kind;
            grid.heights[i] = local.height(tile, kind);
            grid.walkable[i] = kind.walkable() && !plan.blocked.contains(&tile);
        }
    }
    grid
}

/// Parts of a plan that matter to one region.
struct Local<'a> {
    plan: &'a Plan,
    zones: Vec<&'a Zone>,
    paints: Vec<(u64, &'a Paint)>,
    buildings: Vec<&'a Building>,
    low: Tile,
    relief: [[(i32, i32); RELIEF_POINTS]; RELIEF_POINTS],
}

impl<'a> Local<'a> {
    fn new(plan: &'a Plan, region: Region) -> Local<'a> {
        let bounds = region.bounds();
        let reach = bounds.grown(WARP_TILES + 1);
        let zones: Vec<&Zone> = plan
            .zones
            .iter()
            .filter(|z| z.bounds.meets(reach))
            .collect();
        let paints = plan.paints.iter().enumerate();
        let paints = paints
            .filter(|(_, p)| p.shape.bounds(p.rough).meets(bounds))
            .map(|(i, p)| (plan.seed ^ ((i as u64 + 1) << 20), p))
            .collect();
        let buildings = plan
            .buildings
            .iter()
            .filter(|b| b.bounds.meets(bounds))
            .collect();
        let low = Tile::new(bounds.min_x, bounds.min_z);
        let mut local = Local {
            plan,
            zones,
            paints,
            buildings,
            low,
            relief: Default::default(),
        };
        for (row, line) in (0..).zip(0..RELIEF_POINTS) {
            for (column, point) in (0..).zip(0..RELIEF_POINTS) {
                let at = low.moved(column * RELIEF_TILES, row * RELIEF_TILES);
                local.relief[line][point] = local.biome(at).heights;
            }
        }
        local
    }

    fn biome(&self, tile: Tile) -> &'a Biome {
        let zone = self.zones.iter().find(|z| z.bounds.contains(tile));
        &self.plan.biomes[zone.map_or(self.plan.default_biome, |z| z.biome)]
    }

    fn kind(&self, tile: Tile) -> Ground {
        if let Some(kind) = self.buildings.iter().rev().find_map(|b| b.at(tile)) {
            return kind;
        }
        let mut paints = self.paints.iter().rev();
        match paints.find(|(seed, p)| p.shape.covers(tile, p.rough, *seed)) {
            Some((_, paint)) => paint.ground,
            None => self.grown(tile),
        }
    }

    /// Returns the ground that the biome gives the tile.
    fn grown(&self, tile: Tile) -> Ground {
        let seed = self.plan.seed;
        let shift = |seed| {
            let n = noise::hills(seed, tile.x, tile.z, 24);
            ((n - noise::ONE / 2) * 2 * WARP_TILES).div_euclid(noise::ONE)
        };
        let biome = self.biome(tile.moved(shift(seed ^ 0x01), shift(seed ^ 0x02)));
        let kind = mixed(
            &biome.grounds,
            noise::ease(noise::hills(seed ^ 3, tile.x, tile.z, 28)),
        );
        if !kind.walkable() || self.plan.clear.contains(&tile) {
            return kind;
        }
        // Obstacles stand in loose groups: twice as many where the noise is highest, else fewer.
        let thick = noise::smooth(seed ^ 4, tile.x, tile.z, 12).cast_unsigned();
        let mut roll = noise::hash(seed ^ 5, tile.x, tile.z) % 1_000_000;
        for &(obstacle, per_mille) in &biome.scatter {
            let chance = per_mille * (thick * 1_000 / 32_768);
            if roll < chance {
                return obstacle;
            }
            roll -= chance;
        }
        kind
    }

    fn height(&self, tile: Tile, kind: Ground) -> u8 {
        let (dx, dz) = (tile.x - self.low.x, tile.z - self.low.z);
        let (column, row) = ((dx / RELIEF_TILES) as usize, (dz / RELIEF_TILES) as usize);
        let fraction = |v: i32| (v % RELIEF_TILES) * 65_536 / RELIEF_TILES;
        let (fx, fz) = (fraction(dx), fraction(dz));
        let blended = |pick: fn((i32, i32)) -> i32| {
            let point = |r: usize, c: usize| pick(self.relief[r][c]);
            let south = noise::blend(point(row, column), point(row, column + 1), fx);
            let north = noise::blend(point(row + 1, column), point(row + 1, column + 1), fx);
            noise::blend(south, north, fz)
        };
        let (low, high) = (blended(|h| h.0), blended(|h| h.1));
        let hill = if kind.flat() {
            0
        } else {
            noise::hills(self.plan.seed ^ 6, tile.x, tile.z, 72)
        };
        noise::blend(low, high, hill).clamp(0, 255) as u8
    }
}

/// Returns the ground at `at` of 0..=65535 along the grounds laid end to end by weight.
fn mixed(grounds: &[(Ground, u32)], at: i32) -> Ground {
    let total: u64 = grounds.iter().map(|(_, w)| u64::from(*w)).sum();
    let mut left = total * u64::from(at.cast_unsigned()) / 65_536;
    for &(ground, weight) in grounds {
        if left < u64::from(weight) {
            return ground;
        }
        left -= u64::from(weight);
    }
    Ground::Grass
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grounds_are_mixed_by_weight() {
        let grounds = [(Ground::Grass, 1), (Ground::Dirt, 3)];
        for (at, ground) in [
            (0, Ground::Grass),
            (16_383, Ground::Grass),
            (16_384, Ground::Dirt),
            (65_535, Ground::Dirt),
        ] {
            assert_eq!(mixed(&grounds, at), ground, "{at}");
        }
        assert_eq!(mixed(&[], 5), Ground::Grass);
    }

    #[test]
    fn obstacles_are_scattered_as_thickly_as_told() {
        let biome = Biome {
            grounds: vec![(Ground::Grass, 1)],
            scatter: vec![(Ground::Rock, 30), (Ground::Hedge, 10)],
            heights: (0, 0),
        };
        let clear = (0..64).map(|x| Tile::new(x, 5)).collect();
        let plan = Plan {
            seed: 3,
            biomes: vec![biome],
            clear,
            ..Plan::default()
        };
        let mut rocks = 0;
        let mut hedges = 0;
        for region in (0..16).map(|n| Region { x: n % 4, z: n / 4 }) {
            let grid = grid(&plan, region);
            rocks += grid.kinds.iter().filter(|k| **k == Ground::Rock).count();
            hedges += grid.kinds.iter().filter(|k| **k == Ground::Hedge).count();
            if region == (Region { x: 0, z: 0 }) {
                let kept = |x| grid.kinds[index(Tile::new(x, 5))] == Ground::Grass;
                assert!((0..64).all(kept), "what is to be clear is clear");
            }
        }
        let per_mille = |n: usize| n * 1_000 / (16 * REGION_AREA);
        assert!(
            (27..=33).contains(&per_mille(rocks)),
            "{} of 1000",
            per_mille(rocks)
        );
        assert!(
            (8..=12).contains(&per_mille(hedges)),
            "{} of 1000",
            per_mille(hedges)
        );
    }

    #[test]
    fn grid_indexes_are_per_region_also_below_zero() {
        for (x, z, at) in [
            (0, 0, 0),
            (63, 63, 4095),
            (64, 65, 64),
            (-64, -64, 0),
            (-1, -1, 4095),
        ] {
            assert_eq!(index(Tile::new(x, z)), at, "{x},{z}");
        }
    }
}
