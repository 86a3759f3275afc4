//! The world's ground as a gateway serves it, and routes over it, by which a bot chooses its walks.
//! Pure but for [`Terrain::fetch`].

use std::collections::{HashMap, HashSet, VecDeque};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::Method;
use serde::Deserialize;

use crate::{areas, http};

/// Tiles along a region's side.
const REGION: i32 = 64;

/// Coordinates of a tile.
pub type Tile = (i32, i32);

/// Corners of the world in tiles; the maximum is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bounds {
    /// West.
    pub min_x: i32,
    /// East.
    pub max_x: i32,
    /// South.
    pub min_z: i32,
    /// North.
    pub max_z: i32,
}

#[derive(Deserialize)]
struct Spot {
    x: i32,
    z: i32,
}

#[derive(Deserialize)]
struct Ground {
    id: u8,
    walkable: bool,
}

#[derive(Deserialize)]
struct Index {
    bounds: Bounds,
    spawn: Spot,
    grounds: Vec<Ground>,
}

/// Tiles on which one can walk.
#[derive(Debug, Clone)]
pub struct Terrain {
    bounds: Bounds,
    spawn: Tile,
    walkable: Vec<bool>,
}

impl Terrain {
    /// Reads `/world/terrain.json`, every region's ground and what stands on it from a gateway.
    pub async fn fetch(authority: &str) -> Result<Self> {
        let answer = http::get(authority, "/world/terrain.json").await?;
        ensure!(answer.status == 200, "terrain: {}", answer.status);
        let index: Index = serde_json::from_slice(&answer.body).context("terrain.json")?;
        let Bounds {
            min_x,
            max_x,
            min_z,
            max_z,
        } = index.bounds;
        ensure!(max_x > min_x && max_z > min_z, "an empty world");
        let ok: HashSet<u8> = index
            .grounds
            .iter()
            .filter(|ground| ground.walkable)
            .map(|ground| ground.id)
            .collect();
        let mut terrain = Self::empty(index.bounds, (index.spawn.x, index.spawn.z));
        for rz in min_z.div_euclid(REGION)..=(max_z - 1).div_euclid(REGION) {
            for rx in min_x.div_euclid(REGION)..=(max_x - 1).div_euclid(REGION) {
                let path = format!("/world/terrain/{rx}/{rz}");
                // A gateway that trusts this caller counts each row for another client.
                let client = format!("10.255.0.{}", rz.rem_euclid(256));
                let headers = [("x-forwarded-for", &*client)];
                let asked = http::send(authority, Method::GET, &path, &headers, Bytes::new());
                let answer = asked.await?;
                ensure!(answer.status == 200, "{path}: {}", answer.status);
                ensure!(answer.body.len() == 64 * 64 * 2, "{path}: size");
                for (i, pair) in (0i32..).zip(answer.body.chunks_exact(2)) {
                    let tile = (rx * REGION + i % REGION, rz * REGION + i / REGION);
                    terrain.set(tile, ok.contains(&pair[0]));
                }
            }
        }
        for tile in areas::taken(&areas::areas(authority).await?) {
            terrain.set(tile, false);
        }
        Ok(terrain)
    }

    /// Returns a world without a walkable tile.
    pub fn empty(bounds: Bounds, spawn: Tile) -> Self {
        let width = usize::try_from(bounds.max_x - bounds.min_x).unwrap_or(0);
        let depth = usize::try_from(bounds.max_z - bounds.min_z).unwrap_or(0);
        Self {
            bounds,
            spawn,
            walkable: vec![false; width * depth],
        }
    }

    /// Makes a tile walkable or not; does nothing beyond the world's edge.
    pub fn set(&mut self, tile: Tile, walkable: bool) {
        if let Some(index) = self.index(tile) {
            self.walkable[index] = walkable;
        }
    }

    /// Returns whether one can walk on a tile.
    pub fn walkable(&self, tile: Tile) -> bool {
        self.index(tile).is_some_and(|index| self.walkable[index])
    }

    /// Returns the tile of new characters.
    pub fn spawn(&self) -> Tile {
        self.spawn
    }

    /// Returns the world's corners.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns the routes to `target` from all of the world. They use four directions only, so that
    /// a walker that may also go slantwise can follow them.
    pub fn ways_to(&self, target: Tile) -> Ways {
        let mut far = vec![u16::MAX; self.walkable.len()];
        let mut queue = VecDeque::new();
        if let Some(index) = self.index(target).filter(|_| self.walkable(target)) {
            far[index] = 0;
            queue.push_back(target);
        }
        while let Some(tile) = queue.pop_front() {
            let Some(here) = self.index(tile).map(|index| far[index]) else {
                continue;
            };
            for next in beside(tile) {
                let Some(index) = self.index(next) else {
                    continue;
                };
                if self.walkable[index] && far[index] == u16::MAX && here < u16::MAX - 1 {
                    far[index] = here + 1;
                    queue.push_back(next);
                }
            }
        }
        Ways {
            bounds: self.bounds,
            far,
        }
    }

    /// Returns straight lines of `2 * reach + 1` walkable tiles over region borders, the nearest
    /// first. Their middle is at most `radius` tiles from the spawn, and reachable from it.
    pub fn crossings(&self, reach: i32, radius: i32) -> Vec<Crossing> {
        let ways = self.ways_to(self.spawn);
        let (sx, sz) = self.spawn;
        let mut crossings: HashMap<Crossing, u16> = HashMap::new();
        for z in (sz - radius)..=(sz + radius) {
            for x in (sx - radius)..=(sx + radius) {
                for (on_border, dx, dz) in [
                    (x.rem_euclid(REGION) == 0, 1, 0),
                    (z.rem_euclid(REGION) == 0, 0, 1),
                ] {
                    if !on_border {
                        continue;
                    }
                    let line = |i: i32| (x + i * dx, z + i * dz);
                    if (-reach..=reach).all(|i| self.walkable(line(i)))
                        && let Some(far) = ways.far((x, z))
                    {
                        let crossing = Crossing {
                            low: line(-reach),
                            high: line(reach),
                        };
                        crossings.insert(crossing, far);
                    }
                }
            }
        }
        let mut sorted: Vec<(u16, Crossing)> =
            crossings.into_iter().map(|(g, far)| (far, g)).collect();
        sorted.sort_unstable_by_key(|(far, crossing)| (*far, crossing.low, crossing.high));
        sorted.into_iter().map(|(_, crossing)| crossing).collect()
    }

    fn index(&self, (x, z): Tile) -> Option<usize> {
        let Bounds {
            min_x,
            max_x,
            min_z,
            max_z,
        } = self.bounds;
        if x < min_x || x >= max_x || z < min_z || z >= max_z {
            return None;
        }
        let width = usize::try_from(max_x - min_x).ok()?;
        let (dx, dz) = (usize::try_from(x - min_x), usize::try_from(z - min_z));
        Some(dz.ok()? * width + dx.ok()?)
    }
}

fn beside((x, z): Tile) -> [Tile; 4] {
    [(x + 1, z), (x - 1, z), (x, z + 1), (x, z - 1)]
}

/// A straight walk over a region border and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Crossing {
    /// The western or southern end.
    pub low: Tile,
    /// The eastern or northern end.
    pub high: Tile,
}

/// Steps from each tile to one target.
#[derive(Debug, Clone)]
pub struct Ways {
    bounds: Bounds,
    far: Vec<u16>,
}

impl Ways {
    /// Returns steps to the target; none: there is no way.
    pub fn far(&self, (x, z): Tile) -> Option<u16> {
        let b = self.bounds;
        if x < b.min_x || x >= b.max_x || z < b.min_z || z >= b.max_z {
            return None;
        }
        let width = usize::try_from(b.max_x - b.min_x).ok()?;
        let index =
            usize::try_from(z - b.min_z).ok()? * width + usize::try_from(x - b.min_x).ok()?;
        self.far.get(index).copied().filter(|far| *far != u16::MAX)
    }

    /// Returns the tile on the way that is `steps` steps nearer, or the target.
    pub fn toward(&self, from: Tile, steps: u16) -> Option<Tile> {
        let mut at = from;
        let mut far = self.far(from)?;
        let goal = far.saturating_sub(steps);
        while far > goal {
            at = beside(at)
                .into_iter()
                .find(|next| self.far(*next) == Some(far - 1))?;
            far -= 1;
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meadow() -> Terrain {
        let bounds = Bounds {
            min_x: -64,
            max_x: 64,
            min_z: -64,
            max_z: 64,
        };
        let mut terrain = Terrain::empty(bounds, (20, 20));
        for z in -64..64 {
            for x in -64..64 {
                terrain.set((x, z), true);
            }
        }
        terrain
    }

    #[test]
    fn a_way_leads_round_a_wall() {
        let mut terrain = meadow();
        for z in -64..60 {
            terrain.set((10, z), false);
        }
        let ways = terrain.ways_to((0, 0));
        assert!(ways.far((20, 0)).unwrap() >= 140);
        let mut at = (20, 0);
        for _ in 0..100 {
            at = ways.toward(at, 20).unwrap();
        }
        assert_eq!(at, (0, 0));
    }

    #[test]
    fn crossings_are_straight_walkable_and_reachable() {
        let mut terrain = meadow();
        for z in -64..64 {
            terrain.set((3, z), z == 5);
        }
        let crossings = terrain.crossings(8, 30);
        assert!(!crossings.is_empty());
        for crossing in &crossings {
            let (dx, dz) = (
                crossing.high.0 - crossing.low.0,
                crossing.high.1 - crossing.low.1,
            );
            assert_eq!((dx.max(dz), dx.min(dz)), (16, 0));
            if dx > 0 {
                assert_eq!(crossing.low.1, 5, "only the hole in the wall leads west");
            }
        }
    }

    #[test]
    fn an_island_cannot_be_reached() {
        let mut terrain = meadow();
        for x in -64..64 {
            terrain.set((x, 0), false);
        }
        assert_eq!(terrain.ways_to((5, -5)).far((5, 5)), None);
    }
}
