//! The players that a client sees that asked for at most so many: the nearest. Pure.
//!
//! Always: the list is what the client has, tile for tile. The own character and those with whom it
//! has to do are in it. A listed player stays for two tiles longer than others would, so that the
//! list does not flicker.

use std::cell::OnceCell;

use bytes::{Bytes, BytesMut};
use proto::client::{
    compact::write::{self, Near},
    limits::VIEW_CHUNKS,
};
use world::{Chunk, Tile, geometry::tile::CHUNK_TILES};

use super::{
    crowd::{DISTANCE_MAX, Seen},
    numbers::NumberSet,
};

/// Tiles for which a listed player stays in the list beyond the others.
const STAYS_TILES: i32 = 2;
/// Tiles by which the square of a near section begins before the chunks in sight.
const MARGIN_TILES: i32 = 4;
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

    /// Returns the next list of a client: at most `most` of the players that it sees. `always` go before
    /// all others.
    pub(crate) fn plan(&self, most: usize, always: &[u32], seen: &Seen<'_>) -> NearPlan {
        if seen.count() <= most {
            let stays = |near: &Near| (*near, seen.tile(near.number));
            let others = seen.all().filter(|near| !self.listed.has(near.number));
            let before = self.list.iter().map(stays).collect();
            return self.write(seen.center(), before, others.copied().collect());
        }
        let mut counts = [0_usize; RANKS];
        let mut rank = |tile: Tile, number: u32, nearer: i32| {
            let rank = match always.contains(&number) {
                true => 0,
                false => (seen.distance(tile) + 1 - nearer).max(1),
            };
            let rank = usize::try_from(rank).unwrap_or(0);
            counts[rank] += 1;
            rank
        };
        let mut before = Vec::with_capacity(self.list.len());
        let mut ranks = Vec::with_capacity(self.list.len());
        for near in &self.list {
            let tile = seen.tile(near.number);
            before.push((*near, tile));
            ranks.push(tile.map_or(RANKS, |tile| rank(tile, near.number, STAYS_TILES)));
        }
        let mut others: Vec<(usize, Near)> = Vec::with_capacity(most.min(1024));
        for number in always.iter().filter(|number| !self.listed.has(**number)) {
            let twice = others.iter().any(|(_, near)| near.number == *number);
            if let Some(tile) = seen.tile(*number).filter(|_| !twice) {
                let number = *number;
                others.push((rank(tile, number, 0), Near { number, tile }));
            }
        }
        let mut nearer = counts[0];
        for (rank, distance) in (1..).zip(0..=DISTANCE_MAX) {
            seen.ring(distance, |near| {
                if !self.listed.has(near.number) && !always.contains(&near.number) {
                    counts[rank] += 1;
                    others.push((rank, *near));
                }
            });
            // All of this rank are known by now: others are further away, and the listed ones counted.
            nearer += counts[rank];
            if nearer >= most {
                break;
            }
        }
        let (last, mut left) = last_rank(&counts, most);
        let mut comes = |rank: usize| {
            let edge = rank == last && left > 0;
            left -= usize::from(edge);
            rank < last || edge
        };
        // Of the last rank the listed ones go first.
        for ((_, now), rank) in before.iter_mut().zip(ranks) {
            *now = now.filter(|_| comes(rank));
        }
        let others = others.into_iter().filter(|(rank, _)| comes(*rank));
        let added = others.map(|(_, near)| near).collect();
        self.write(seen.center(), before, added)
    }

    /// Returns the next list: `before` has all of the list, each with its tile now unless it goes.
    fn write(
        &self,
        center: Chunk,
        before: Vec<(Near, Option<Tile>)>,
        added: Vec<Near>,
    ) -> NearPlan {
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
        let stays = |near: &Near| (*near, (near.number != NOBODY).then_some(near.tile));
        let before = self.list.iter().map(stays).collect();
        Some(self.write(center, before, Vec::new()))
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::crowd::tests::crowd;

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
        for (seed, players, side) in [(7, 900, 50), (8, 200, 56), (9, 40, 20)] {
            let mut dice = dice(seed);
            let mut list = NearList::default();
            let at = Tile { x: 27, z: 28 };
            let mut tiles: Vec<Tile> = (0..players)
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
                let always = [3, 11, 3];
                let crowd = crowd(&all, at);
                let view = crowd.seen_from(at, |_| true);
                let plan = list.plan(60, &always, &view);
                let seen: Vec<Near> = view.all().copied().collect();
                assert_eq!(plan.list.len(), seen.len().min(60));
                let rank = |near: &&Near| {
                    let distance = view.distance(near.tile);
                    match (always.contains(&near.number), list.lists(near.number)) {
                        (true, _) => 0,
                        (_, true) => (distance - 1).max(1),
                        (_, false) => distance + 1,
                    }
                };
                let (listed, others): (Vec<&Near>, Vec<&Near>) =
                    seen.iter().partition(|near| plan.lists(near.number));
                let last = listed.iter().map(rank).max();
                let next = others.iter().map(rank).min();
                assert!(next.is_none() || last <= next, "{last:?} before {next:?}");
                let there = |number: &u32| plan.lists(*number) == view.tile(*number).is_some();
                assert!(always.iter().all(there));
                let numbers: BTreeSet<u32> = plan.listed().collect();
                assert_eq!(numbers.len(), plan.list.len(), "somebody twice");
                list.took(plan);
                for tile in &mut tiles {
                    tile.x = (tile.x + dice(3) - 1).clamp(0, side - 1);
                    tile.z = (tile.z + dice(3) - 1).clamp(0, side - 1);
                }
            }
        }
    }
}
