//! The players that a client sees that asked for at most so many: the nearest. Pure.
//!
//! Always: the list is what the client has, tile for tile. The own character and those with whom it
//! has to do are in it. A listed player stays for two tiles longer than others would, so that the
//! list does not flicker.

use std::cell::OnceCell;

use bytes::{Bytes, BytesMut};
use foldhash::{HashMap, HashMapExt};
use proto::client::{
    compact::write::{self, Near},
    limits::VIEW_CHUNKS,
};
use world::{Chunk, Tile, geometry::tile::CHUNK_TILES};

use super::{numbers::NumberSet, square::around};

/// Tiles for which a listed player stays in the list beyond the others.
const STAYS_TILES: i32 = 2;
/// Tiles by which the square of a near section begins before the chunks in sight.
const MARGIN_TILES: i32 = 4;
/// The largest distance that counts, in tiles.
const DISTANCE_MAX: i32 = 63;
const RANKS: usize = DISTANCE_MAX as usize + 2;

/// Number in the place of a listed player that is gone.
const NOBODY: u32 = u32::MAX;

/// The list of one client.
#[derive(Debug, Default)]
pub struct NearList {
    list: Vec<Near>,
    listed: NumberSet,
    /// Whether the client has the list; else the next section begins it anew.
    begun: bool,
}

/// A client's next list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NearPlan {
    /// The section; empty: nothing to say.
    pub piece: Bytes,
    list: Vec<Near>,
    /// The numbers of the list in order, once somebody asked for one.
    numbers: OnceCell<Vec<u32>>,
}

impl NearPlan {
    /// Returns the numbers of all in the next list.
    pub fn listed(&self) -> impl Iterator<Item = u32> {
        self.list.iter().map(|near| near.number)
    }

    /// Returns whether a player is in the next list.
    pub fn lists(&self, number: u32) -> bool {
        let numbers = self.numbers.get_or_init(|| {
            let mut numbers: Vec<u32> = self.listed().collect();
            numbers.sort_unstable();
            numbers
        });
        numbers.binary_search(&number).is_ok()
    }
}

impl NearList {
    /// Forgets everything, as the client has or soon will.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns whether a player is in the client's list.
    pub fn lists(&self, number: u32) -> bool {
        self.listed.has(number)
    }

    /// Notes that numbers stand for nothing any more: their players go with the next section.
    pub fn free(&mut self, numbers: &[u32]) {
        for number in numbers.iter().filter(|number| self.listed.has(**number)) {
            for near in self.list.iter_mut().filter(|near| near.number == *number) {
                near.number = NOBODY;
            }
        }
        for number in numbers {
            self.listed.remove(*number);
        }
    }

    /// Returns the next list of a client at `at`: at most `most` players. `chunks` are the players of
    /// each chunk in sight, in the order of [`around`](super::square::around). `always` go before
    /// all others.
    pub fn plan<'a>(
        &self,
        most: usize,
        at: Tile,
        always: &[u32],
        chunks: impl Iterator<Item = &'a [Near]>,
    ) -> NearPlan {
        let mut chunks = chunks.zip(around(Chunk::from(at)));
        let mut candidates: Vec<(usize, Near)> = Vec::with_capacity(4 * most.min(1024));
        let mut counts = [0_usize; RANKS];
        // Those of a higher rank cannot be listed any more.
        let mut limit = RANKS;
        let mut skipped: Vec<&[Near]> = Vec::new();
        for ring in 0..=VIEW_CHUNKS {
            let nearer: usize = counts[..first_rank(ring)].iter().sum();
            if nearer >= most {
                break;
            }
            let in_ring = if ring == 0 { 1 } else { 8 * ring };
            let in_ring = usize::try_from(in_ring).unwrap_or(0);
            for (players, chunk) in chunks.by_ref().take(in_ring) {
                if least_rank(chunk, at) > limit {
                    skipped.push(players);
                    continue;
                }
                for near in players {
                    let rank = self.rank(near, at, always);
                    counts[rank] += 1;
                    if rank <= limit {
                        candidates.push((rank, *near));
                    }
                }
                limit = last_rank(&counts, most).0;
            }
        }
        if counts[0] < always.len() {
            let rest = chunks.map(|(players, _)| players);
            let rest = skipped.into_iter().chain(rest).flatten();
            for near in rest.filter(|near| always.contains(&near.number)) {
                counts[0] += 1;
                candidates.push((0, *near));
            }
        }
        let (last, left) = last_rank(&counts, most);
        let chosen = self.choose(candidates, last, left);
        self.write(Chunk::from(at), chosen)
    }

    /// Returns the rank of a player; those of lower ranks are listed first.
    fn rank(&self, near: &Near, at: Tile, always: &[u32]) -> usize {
        let distance = near.tile.steps_to(at).min(DISTANCE_MAX.cast_unsigned());
        let distance = distance.cast_signed();
        let rank = if always.contains(&near.number) {
            0
        } else if self.listed.has(near.number) {
            (distance + 1 - STAYS_TILES).max(1)
        } else {
            distance + 1
        };
        usize::try_from(rank).unwrap_or(0)
    }

    /// Returns those of the candidates that come before rank `last`, and `left` of that rank, the
    /// listed ones first.
    fn choose(&self, candidates: Vec<(usize, Near)>, last: usize, mut left: usize) -> Vec<Near> {
        let mut chosen = Vec::with_capacity(candidates.len().min(256));
        let mut edge = Vec::new();
        for (rank, near) in candidates {
            if rank < last {
                chosen.push(near);
            } else if rank == last && left > 0 {
                if self.listed.has(near.number) {
                    left -= 1;
                    chosen.push(near);
                } else {
                    edge.push(near);
                }
            }
        }
        chosen.extend(edge.into_iter().take(left));
        chosen
    }

    fn write(&self, center: Chunk, chosen: Vec<Near>) -> NearPlan {
        let mut listed: HashMap<u32, Tile> = HashMap::with_capacity(chosen.len());
        let mut added = Vec::new();
        for near in chosen {
            if self.begun && self.listed.has(near.number) {
                listed.insert(near.number, near.tile);
            } else {
                added.push(near);
            }
        }
        let before = if self.begun { &*self.list } else { &[] };
        let before: Vec<(Near, Option<Tile>)> = before
            .iter()
            .map(|near| (*near, listed.get(&near.number).copied()))
            .collect();
        let rests = before.iter().all(|(near, now)| *now == Some(near.tile));
        if self.begun && rests && added.is_empty() {
            return NearPlan {
                list: self.list.clone(),
                ..NearPlan::default()
            };
        }
        let mut out = BytesMut::with_capacity(32 + before.len() / 2 + added.len() * 4);
        let list = write::near(&mut out, origin(center), !self.begun, &before, &added);
        NearPlan {
            piece: out.freeze(),
            list,
            numbers: OnceCell::new(),
        }
    }

    /// Returns the list without those whose numbers stand for nothing any more; `None`: all do. So
    /// news between two ticks cannot give such a number to something else at a client that has not
    /// yet heard of it. `center` is that of the client's view.
    pub fn plan_extra(&self, center: Chunk) -> Option<NearPlan> {
        if self.list.iter().all(|near| near.number != NOBODY) {
            return None;
        }
        let stays = self.list.iter().filter(|near| near.number != NOBODY);
        Some(self.write(center, stays.copied().collect()))
    }

    /// Notes that the client's socket took the update.
    pub fn took(&mut self, plan: NearPlan) {
        for near in self.list.iter().filter(|near| near.number != NOBODY) {
            self.listed.remove(near.number);
        }
        for near in &plan.list {
            self.listed.insert(near.number);
        }
        self.list = plan.list;
        self.begun = true;
    }
}

/// Returns the south-west tile of the square around a client's chunks in sight.
fn origin(center: Chunk) -> Tile {
    let from = |at: i32| {
        let chunk = at.saturating_sub(VIEW_CHUNKS);
        chunk
            .saturating_mul(CHUNK_TILES)
            .saturating_sub(MARGIN_TILES)
    };
    Tile {
        x: from(center.x),
        z: from(center.z),
    }
}

/// Returns the lowest rank that a player in this ring of chunks can have, but for those who are
/// always listed. A chunk of the first ring may begin at the next tile.
fn first_rank(ring: i32) -> usize {
    let tiles = (ring - 1).max(0) * CHUNK_TILES + 1;
    let rank = (tiles + 1 - STAYS_TILES).max(1);
    usize::try_from(rank).unwrap_or(0)
}

/// Returns the lowest rank that a player in a chunk can have, but for those who are always listed.
fn least_rank(chunk: Chunk, at: Tile) -> usize {
    let beyond = |chunk: i32, at: i32| {
        let from = chunk.saturating_mul(CHUNK_TILES);
        let to = from.saturating_add(CHUNK_TILES - 1);
        from.saturating_sub(at).max(at.saturating_sub(to)).max(0)
    };
    let tiles = beyond(chunk.x, at.x).max(beyond(chunk.z, at.z));
    let rank = tiles.min(DISTANCE_MAX) + 1 - STAYS_TILES;
    usize::try_from(rank.max(1)).unwrap_or(0)
}

/// Returns the rank in which `most` are reached, and how many of that rank still have room.
fn last_rank(counts: &[usize], most: usize) -> (usize, usize) {
    let mut left = most;
    for (rank, count) in counts.iter().enumerate() {
        if *count > left {
            return (rank, left);
        }
        left -= count;
    }
    (counts.len(), 0)
}

/// Returns the players of some chunks, for [`NearList::plan`].
pub fn in_chunk(replica: &super::replica::Replica, chunk: Chunk) -> Vec<Near> {
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
mod tests {
    use super::*;

    /// Numbers without a pattern, from a seed (xorshift).
    fn dice(mut state: u64) -> impl FnMut(i32) -> i32 {
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            i32::try_from(state % u64::from(below.unsigned_abs())).unwrap_or(0)
        }
    }

    /// Lists the nearest of a crowd again and again while all walk. Nobody outside the list goes
    /// before anybody in it, and those who are always listed are.
    #[test]
    fn the_list_has_the_nearest_of_a_crowd_and_those_who_are_always_in_it() {
        for (seed, crowd, side) in [(7, 900, 50), (8, 200, 56), (9, 40, 20)] {
            let mut dice = dice(seed);
            let mut list = NearList::default();
            let at = Tile { x: 27, z: 28 };
            let mut tiles: Vec<Tile> = (0..crowd)
                .map(|_| Tile {
                    x: dice(side),
                    z: dice(side),
                })
                .collect();
            for _ in 0..20 {
                let all: Vec<Near> = (0..)
                    .zip(&tiles)
                    .map(|(number, tile)| Near {
                        number,
                        tile: *tile,
                    })
                    .collect();
                let always = [3, 11];
                let in_chunk = |chunk| {
                    let there = all.iter().filter(|near| Chunk::from(near.tile) == chunk);
                    there.copied().collect::<Vec<Near>>()
                };
                let chunks: Vec<Vec<Near>> = around(Chunk::from(at)).map(in_chunk).collect();
                let plan = list.plan(60, at, &always, chunks.iter().map(Vec::as_slice));
                let seen: Vec<Near> = chunks.iter().flatten().copied().collect();
                assert_eq!(plan.list.len(), seen.len().min(60));
                let rank = |near: &&Near| list.rank(near, at, &always);
                let (listed, others): (Vec<&Near>, Vec<&Near>) =
                    seen.iter().partition(|near| plan.lists(near.number));
                let last = listed.iter().map(rank).max();
                let next = others.iter().map(rank).min();
                assert!(next.is_none() || last <= next, "{last:?} before {next:?}");
                list.took(plan);
                for tile in &mut tiles {
                    tile.x = (tile.x + dice(3) - 1).clamp(0, side - 1);
                    tile.z = (tile.z + dice(3) - 1).clamp(0, side - 1);
                }
            }
        }
    }
}
