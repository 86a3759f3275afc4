//! The ground on which all bots of a run walk, and the places to which they go. Pure.

use std::{
    collections::HashSet,
    sync::{Mutex, OnceLock, PoisonError},
};

use crate::terrain::{Crossing, Terrain, Tile, Ways};

/// Distance from the middle up to which those go who take one step a second, in tiles: the square
/// has 41 × 41.
pub(super) const SQUARE_TILES: i32 = 20;
/// Number of places of bots that spread out.
const PLACES: usize = 12;
/// Distance from each of these places to the next, in tiles.
const PLACES_APART: i32 = 3 * SQUARE_TILES;
/// Distance of these places from where new characters stand, at most.
const PLACES_WITHIN: i32 = 220;

/// Middle of a square, and the ways to it.
struct Place {
    middle: Tile,
    ways: OnceLock<Ways>,
}

/// Knowledge of the world that all bots of a run share.
pub struct Ground {
    pub(super) terrain: Terrain,
    /// Ways to where new characters stand.
    pub(super) home: Ways,
    places: Vec<Place>,
    crossings: Vec<(Crossing, OnceLock<Ways>)>,
    /// Tiles on which a bot stood. The terrain does not say how far large things reach.
    trodden: Mutex<HashSet<Tile>>,
}

impl Ground {
    /// Makes the ground; `crossings` are the walks over borders, for bots that go over them.
    pub fn new(terrain: Terrain, crossings: Vec<Crossing>) -> Self {
        let home = terrain.ways_to(terrain.spawn());
        let places = places(&terrain, &home).into_iter().map(|middle| Place {
            middle,
            ways: OnceLock::new(),
        });
        Self {
            places: places.collect(),
            home,
            crossings: crossings
                .into_iter()
                .map(|g| (g, OnceLock::new()))
                .collect(),
            terrain,
            trodden: Mutex::default(),
        }
    }

    /// Notes that a bot stood on a tile.
    pub(super) fn tread(&self, at: Tile) {
        let mut trodden = self.trodden.lock().unwrap_or_else(PoisonError::into_inner);
        trodden.insert(at);
    }

    /// Returns whether a bot stood on a tile.
    pub(super) fn is_trodden(&self, at: Tile) -> bool {
        let trodden = self.trodden.lock().unwrap_or_else(PoisonError::into_inner);
        trodden.contains(&at)
    }

    /// Returns the world's terrain.
    pub fn terrain(&self) -> &Terrain {
        &self.terrain
    }

    /// Returns the middle of a bot's square, and the ways to it: where new characters stand, or one
    /// of several places far `apart`.
    pub(super) fn square(&self, apart: bool, index: usize) -> (Tile, &Ways) {
        match self.places.get(index % self.places.len().max(1)) {
            Some(place) if apart => {
                let ways = || self.terrain.ways_to(place.middle);
                (place.middle, place.ways.get_or_init(ways))
            }
            _ => (self.terrain.spawn(), &self.home),
        }
    }

    /// Returns a bot's walk over a border, and the ways to it.
    pub(super) fn crossing(&self, index: usize) -> Option<(Crossing, &Ways)> {
        let (crossing, ways) = self.crossings.get(index % self.crossings.len().max(1))?;
        Some((
            *crossing,
            ways.get_or_init(|| self.terrain.ways_to(crossing.low)),
        ))
    }
}

/// Returns the places of bots that spread out: middles of squares of which most can be walked on, the
/// nearest to where new characters stand first.
fn places(terrain: &Terrain, home: &Ways) -> Vec<Tile> {
    const GRID: i32 = SQUARE_TILES / 2;
    let (sx, sz) = terrain.spawn();
    let reach = PLACES_WITHIN / GRID;
    let grid = (-reach..=reach).flat_map(|z| (-reach..=reach).map(move |x| (x * GRID, z * GRID)));
    let mut found: Vec<Tile> = grid.map(|(x, z)| (sx + x, sz + z)).collect();
    found.retain(|at| home.far(*at).is_some() && is_open(home, *at));
    found.sort_by_key(|at| (home.far(*at), *at));
    let mut taken: Vec<Tile> = Vec::new();
    for at in found {
        if taken.len() < PLACES && taken.iter().all(|other| far(at, *other) >= PLACES_APART) {
            taken.push(at);
        }
    }
    taken
}

/// Returns whether at least two thirds of the square around a tile can be reached.
fn is_open(home: &Ways, (x, z): Tile) -> bool {
    let square = -SQUARE_TILES..=SQUARE_TILES;
    let tiles = square
        .clone()
        .flat_map(|dz| square.clone().map(move |dx| (x + dx, z + dz)));
    let (mut open, mut all) = (0, 0);
    for tile in tiles {
        all += 1;
        open += u32::from(home.far(tile).is_some());
    }
    open * 3 >= all * 2
}

/// Returns at most `count` crossings, none within `apart` tiles of another, the first ones first.
pub fn spread(crossings: Vec<Crossing>, count: usize, apart: i32) -> Vec<Crossing> {
    let mut taken: Vec<Crossing> = Vec::new();
    for crossing in crossings {
        let near = |other: &Crossing| {
            let (a, b) = (crossing.low, other.low);
            (a.0 - b.0).abs().max((a.1 - b.1).abs()) < apart
        };
        if taken.len() < count && !taken.iter().any(near) {
            taken.push(crossing);
        }
    }
    taken
}

/// Returns the distance of two tiles in steps.
pub(super) fn far(a: Tile, b: Tile) -> i32 {
    (a.0 - b.0).abs().max((a.1 - b.1).abs())
}
