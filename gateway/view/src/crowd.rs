//! The players of one flush by place, for the lists of the nearest. Pure.
//!
//! The crowd sorts the players of a chunk by tile once for all clients. So a client in a crowd looks
//! at those near it, and not at all who are in its chunks.

use std::ops::Range;

use foldhash::HashMap;
use proto::client::{compact::write::Near, limits::VIEW_CHUNKS};
use world::{Chunk, Tile, geometry::tile::CHUNK_TILES};

use super::{
    replica::Replica,
    square::{SLOTS, around},
};

/// Tiles of a chunk.
const TILES: usize = (CHUNK_TILES * CHUNK_TILES) as usize;
/// Chunks on a side of what is in sight.
const SIDE_CHUNKS: i32 = 2 * VIEW_CHUNKS + 1;
/// Tiles on a side of what is in sight.
const SIDE_TILES: i32 = SIDE_CHUNKS * CHUNK_TILES;

/// The largest distance of two tiles in sight of which one is in the middle chunk, in tiles.
pub(crate) const DISTANCE_MAX: i32 = (VIEW_CHUNKS + 1) * CHUNK_TILES - 1;

/// The players of one chunk, row by row from the south-west. One whose tile is beside its chunk counts
/// to the tile at the edge.
#[derive(Debug)]
struct Block {
    chunk: Chunk,
    players: Vec<Near>,
    /// For each tile the index behind its last player.
    ends: [usize; TILES],
}

impl Block {
    fn new(chunk: Chunk, mut players: Vec<Near>) -> Self {
        let index = |near: &Near| index_in(chunk, near.tile);
        players.sort_unstable_by_key(|near| (index(near), near.number));
        let mut ends = [0; TILES];
        for near in &players {
            ends[index(near)] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            end += *count;
            *count = end;
        }
        Self {
            chunk,
            players,
            ends,
        }
    }

    /// Returns the players on neighbouring tiles of one row.
    fn row(&self, z: i32, x: Range<i32>) -> &[Near] {
        let index = |x: i32| usize::try_from(z * CHUNK_TILES + x).unwrap_or(0);
        let begin = index(x.start).checked_sub(1);
        let begin = begin.map_or(0, |before| self.ends[before]);
        &self.players[begin..self.ends[index(x.end - 1)]]
    }
}

/// Returns the index of a tile in its chunk, or of the tile at the edge that is next to it.
fn index_in(chunk: Chunk, tile: Tile) -> usize {
    let inside = |at: i32, chunk: i32| {
        let from = chunk.saturating_mul(CHUNK_TILES);
        at.saturating_sub(from).clamp(0, CHUNK_TILES - 1)
    };
    let (x, z) = (inside(tile.x, chunk.x), inside(tile.z, chunk.z));
    usize::try_from(z * CHUNK_TILES + x).unwrap_or(0)
}

/// See the module.
#[derive(Debug, Default)]
pub struct Crowd {
    blocks: Vec<Block>,
    by_chunk: HashMap<Chunk, usize>,
    /// Tile and block of each player, by number.
    tiles: Vec<Option<(Tile, usize)>>,
    /// The blocks in sight of a chunk, nearer ones first.
    in_sight: HashMap<Chunk, Vec<usize>>,
}

impl Crowd {
    /// Takes in the players around a chunk.
    pub(crate) fn gather(&mut self, replica: &Replica, center: Chunk) {
        if self.in_sight.contains_key(&center) {
            return;
        }
        for chunk in around(center) {
            if !self.by_chunk.contains_key(&chunk) {
                self.put(chunk, in_chunk(replica, chunk));
            }
        }
        self.see_from(center);
    }

    /// Takes in the players of a chunk.
    fn put(&mut self, chunk: Chunk, players: Vec<Near>) {
        let block = self.blocks.len();
        for near in &players {
            let number = near.number as usize;
            if self.tiles.len() <= number {
                self.tiles.resize(number + 1, None);
            }
            self.tiles[number] = Some((near.tile, block));
        }
        self.blocks.push(Block::new(chunk, players));
        self.by_chunk.insert(chunk, block);
    }

    /// Notes which blocks are in sight of a chunk around which the players are taken in.
    fn see_from(&mut self, center: Chunk) {
        let blocks = around(center).filter_map(|chunk| self.by_chunk.get(&chunk).copied());
        self.in_sight.insert(center, blocks.collect());
    }

    /// Returns the crowd as a client at `at` sees it, around which it was gathered. `shows` says
    /// whether the client sees a chunk.
    pub(crate) fn seen_from(&self, at: Tile, shows: impl Fn(Chunk) -> bool) -> Seen<'_> {
        let center = Chunk::from(at);
        let mut seen = Seen {
            crowd: self,
            at: (0, 0),
            center,
            blocks: [None; SLOTS],
            count: 0,
        };
        let inside = |at: i32| VIEW_CHUNKS * CHUNK_TILES + at.rem_euclid(CHUNK_TILES);
        seen.at = (inside(at.x), inside(at.z));
        let Some(blocks) = self.in_sight.get(&center) else {
            return seen;
        };
        for block in blocks {
            let block = &self.blocks[*block];
            if shows(block.chunk)
                && let Some(slot) = seen.slot(block.chunk)
            {
                seen.blocks[slot] = Some(block);
                seen.count += block.players.len();
            }
        }
        seen
    }
}

/// The part of a crowd that one client sees.
pub(crate) struct Seen<'a> {
    crowd: &'a Crowd,
    /// Place of the client in its square.
    at: (i32, i32),
    center: Chunk,
    /// Row by row from the south-west; `None`: not shown.
    blocks: [Option<&'a Block>; SLOTS],
    count: usize,
}

impl<'a> Seen<'a> {
    fn slot(&self, chunk: Chunk) -> Option<usize> {
        let side = |at: i32, center: i32| {
            let side = at.checked_sub(center)?.checked_add(VIEW_CHUNKS)?;
            (0..SIDE_CHUNKS).contains(&side).then_some(side)
        };
        let (x, z) = (side(chunk.x, self.center.x)?, side(chunk.z, self.center.z)?);
        usize::try_from(z * SIDE_CHUNKS + x).ok()
    }

    /// Returns the client's chunk.
    pub(crate) fn center(&self) -> Chunk {
        self.center
    }

    /// Returns the number of all players in it.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns all players in it.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a Near> {
        let blocks = self.blocks.iter().copied().flatten();
        blocks.flat_map(|block| &block.players)
    }

    /// Returns the tile of a player in it.
    pub(crate) fn tile(&self, number: u32) -> Option<Tile> {
        let (tile, block) = (*self.crowd.tiles.get(number as usize)?)?;
        let slot = self.slot(self.crowd.blocks[block].chunk)?;
        self.blocks[slot].map(|_| tile)
    }

    /// Returns the distance of a tile from the client, in tiles.
    pub(crate) fn distance(&self, tile: Tile) -> i32 {
        let side = |at: i32, center: i32, own: i32| {
            let from = center.wrapping_sub(VIEW_CHUNKS).wrapping_mul(CHUNK_TILES);
            at.wrapping_sub(from).wrapping_sub(own).saturating_abs()
        };
        let x = side(tile.x, self.center.x, self.at.0);
        let z = side(tile.z, self.center.z, self.at.1);
        x.max(z).min(DISTANCE_MAX)
    }

    /// Takes in the players at one distance from the client, in tiles.
    pub(crate) fn ring(&self, distance: i32, mut take: impl FnMut(&'a Near)) {
        let (x, z) = self.at;
        let (west, east) = (x - distance, x + distance);
        self.row(z - distance, west..east + 1, &mut take);
        for z in z - distance + 1..z + distance {
            self.row(z, west..west + 1, &mut take);
            self.row(z, east..east + 1, &mut take);
        }
        if distance > 0 {
            self.row(z + distance, west..east + 1, &mut take);
        }
    }

    /// Takes in the players of one row of tiles, as far as it is in the square.
    fn row(&self, z: i32, x: Range<i32>, take: &mut impl FnMut(&'a Near)) {
        if !(0..SIDE_TILES).contains(&z) {
            return;
        }
        let (mut x, end) = (x.start.max(0), x.end.min(SIDE_TILES));
        while x < end {
            let west = x / CHUNK_TILES * CHUNK_TILES;
            let to = end.min(west + CHUNK_TILES);
            let slot = z / CHUNK_TILES * SIDE_CHUNKS + x / CHUNK_TILES;
            let block = usize::try_from(slot).ok().and_then(|at| self.blocks[at]);
            if let Some(block) = block {
                let row = block.row(z % CHUNK_TILES, x - west..to - west);
                row.iter().for_each(&mut *take);
            }
            x = to;
        }
    }
}

fn in_chunk(replica: &Replica, chunk: Chunk) -> Vec<Near> {
    let Some(state) = replica.chunk(chunk) else {
        return Vec::new();
    };
    let players = state.numbered().filter(|thing| thing.player);
    let near = players.filter_map(|thing| {
        let entity = replica.numbered(thing.number)?;
        Some(Near {
            number: thing.number,
            tile: Tile {
                x: entity.x,
                z: entity.z,
            },
        })
    });
    near.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a crowd of players on tiles, as a client at `at` gathers it.
    pub(crate) fn crowd(players: &[Near], at: Tile) -> Crowd {
        let mut crowd = Crowd::default();
        for chunk in around(Chunk::from(at)) {
            let there = players
                .iter()
                .filter(|near| Chunk::from(near.tile) == chunk);
            crowd.put(chunk, there.copied().collect());
        }
        crowd.see_from(Chunk::from(at));
        crowd
    }

    /// A player on each tile of what is in sight and beyond, but for one row.
    fn on_each_tile(at: Tile) -> Vec<Near> {
        let tiles = (-40..40).flat_map(|x| (-40..40).map(move |z| (x, z)));
        let tiles = tiles.filter(|(_, z)| *z != 5);
        let player = |(number, (x, z)): (u32, (i32, i32))| Near {
            number,
            tile: Tile {
                x: at.x + x,
                z: at.z + z,
            },
        };
        (0..).zip(tiles).map(player).collect()
    }

    #[test]
    fn the_rings_have_each_player_in_sight_once_at_its_distance() {
        for at in [Tile { x: 27, z: 31 }, Tile { x: -32, z: -1 }] {
            let players = on_each_tile(at);
            let crowd = crowd(&players, at);
            let seen = crowd.seen_from(at, |_| true);
            let mut found = Vec::new();
            for distance in 0..=DISTANCE_MAX {
                seen.ring(distance, |near| {
                    assert_eq!(near.tile.steps_to(at), distance.cast_unsigned());
                    assert_eq!(seen.distance(near.tile), distance);
                    found.push(near.number);
                });
            }
            found.sort_unstable();
            let mut all: Vec<u32> = seen.all().map(|near| near.number).collect();
            all.sort_unstable();
            assert_eq!(found, all);
            assert_eq!(seen.count(), all.len());
            assert_eq!(
                all.len(),
                usize::try_from(SIDE_TILES * (SIDE_TILES - 1)).unwrap()
            );
            let tile = |near: &Near| (seen.tile(near.number), near.tile);
            let (inside, outside): (Vec<&Near>, Vec<&Near>) =
                players.iter().partition(|near| all.contains(&near.number));
            assert!(
                inside
                    .into_iter()
                    .map(tile)
                    .all(|(found, at)| found == Some(at))
            );
            assert!(
                outside
                    .into_iter()
                    .map(tile)
                    .all(|(found, _)| found.is_none())
            );
        }
    }

    #[test]
    fn a_chunk_that_is_not_shown_has_nobody() {
        let at = Tile { x: 3, z: 3 };
        let players = on_each_tile(at);
        let crowd = crowd(&players, at);
        let seen = crowd.seen_from(at, |chunk| chunk != Chunk { x: 1, z: 0 });
        let hidden = |near: &Near| Chunk::from(near.tile) == Chunk { x: 1, z: 0 };
        let mut rings = 0;
        for distance in 0..=DISTANCE_MAX {
            seen.ring(distance, |near| {
                assert!(!hidden(near));
                rings += 1;
            });
        }
        assert_eq!((rings, seen.all().count()), (seen.count(), seen.count()));
        let hidden = players.iter().filter(|near| hidden(near));
        assert!(
            hidden
                .map(|near| near.number)
                .all(|number| seen.tile(number).is_none())
        );
    }

    #[test]
    fn who_stands_beside_its_chunk_counts_at_the_edge() {
        let chunk = Chunk { x: 0, z: 0 };
        let near = Near {
            number: 4,
            tile: Tile { x: 9, z: 2 },
        };
        let block = Block::new(chunk, vec![near]);
        assert_eq!(block.row(2, 7..8), [near]);
    }
}
