//! Subscriptions to chunks: those around all sessions, at every run that owns a region near them.
//! Pure.
//!
//! Always: if some session may see a chunk, the gateway asks for it every run that owns a region
//! within 32 tiles of it. It asks nobody for a chunk that no session has been near for some ticks.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet, HashSetExt};
use proto::client::limits::VIEW_CHUNKS;
use world::{
    Chunk, Region, Tile,
    geometry::tile::{CHUNK_TILES, REGION_TILES},
};

/// Chunks from a session to the edge of its subscription: one more than it sees, so that chunks are
/// known before they come into sight.
const MARGIN_CHUNKS: i32 = VIEW_CHUNKS + 1;
/// Distance from its regions within which a run may have something, in tiles.
const REACH_TILES: i32 = 32;
/// Ticks for which a chunk stays without a session near it.
const LINGER_TICKS: u64 = 10;

/// Owners of regions, as far as this module needs to know.
pub trait Owners {
    /// Returns the run that owns the region.
    fn owner(&self, region: Region) -> Option<u64>;
    /// Returns whether the world has the region.
    fn exists(&self, region: Region) -> bool;
}

/// The runs that may have something in a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The chunk.
    pub chunk: Chunk,
    /// In order, each once.
    pub runs: Vec<u64>,
    /// Whether every region near it has an owner.
    pub complete: bool,
}

/// Changes for the replica.
#[derive(Debug, Default)]
pub struct Change {
    /// Chunks that are new, or that have other runs around them.
    pub set: Vec<Around>,
    /// Chunks that nobody is near any more.
    pub dropped: Vec<Chunk>,
}

/// Message to one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Chunks to subscribe.
    pub add: Vec<Chunk>,
    /// Chunks to unsubscribe.
    pub remove: Vec<Chunk>,
}

#[derive(Debug)]
struct Wanted {
    /// The last tick at which somebody was near it.
    near: u64,
    around: Around,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Subscriptions {
    wanted: HashMap<Chunk, Wanted>,
    /// Chunks for which the gateway asked each linked run.
    told: BTreeMap<u64, HashSet<Chunk>>,
}

/// Returns the runs around a chunk by the owners now.
pub fn around(chunk: Chunk, owners: &impl Owners) -> Around {
    let reach = |at: i32| {
        let from = at.saturating_mul(CHUNK_TILES);
        let low = from.saturating_sub(REACH_TILES);
        let high = from.saturating_add(CHUNK_TILES - 1 + REACH_TILES);
        low.div_euclid(REGION_TILES)..=high.div_euclid(REGION_TILES)
    };
    let mut runs = BTreeSet::new();
    let mut complete = true;
    for x in reach(chunk.x) {
        for z in reach(chunk.z) {
            let region = Region { x, z };
            match owners.owner(region) {
                Some(run) => {
                    runs.insert(run);
                }
                None => complete &= !owners.exists(region),
            }
        }
    }
    Around {
        chunk,
        runs: runs.into_iter().collect(),
        complete,
    }
}

impl Subscriptions {
    /// Takes the sessions' tiles and the regions' owners at a tick. Returns the changes for the
    /// replica.
    pub fn reconcile(&mut self, positions: &[Tile], owners: &impl Owners, tick: u64) -> Change {
        let centers: HashSet<Chunk> = positions.iter().map(|tile| Chunk::from(*tile)).collect();
        let mut change = Change::default();
        let mut near = HashSet::with_capacity(centers.len() * 16);
        for center in centers {
            for dx in -MARGIN_CHUNKS..=MARGIN_CHUNKS {
                for dz in -MARGIN_CHUNKS..=MARGIN_CHUNKS {
                    let x = center.x.saturating_add(dx);
                    near.insert(Chunk {
                        x,
                        z: center.z.saturating_add(dz),
                    });
                }
            }
        }
        for chunk in near {
            let now = around(chunk, owners);
            match self.wanted.get_mut(&chunk) {
                Some(wanted) => {
                    wanted.near = tick;
                    if wanted.around != now {
                        wanted.around = now.clone();
                        change.set.push(now);
                    }
                }
                None => {
                    self.wanted.insert(
                        chunk,
                        Wanted {
                            near: tick,
                            around: now.clone(),
                        },
                    );
                    change.set.push(now);
                }
            }
        }
        self.wanted.retain(|chunk, wanted| {
            let stays = wanted.near.saturating_add(LINGER_TICKS) >= tick;
            if !stays {
                change.dropped.push(*chunk);
                return false;
            }
            if wanted.near != tick {
                let now = around(*chunk, owners);
                if wanted.around != now {
                    wanted.around = now.clone();
                    change.set.push(now);
                }
            }
            true
        });
        change
    }

    /// Notes that a run's streams are open: nobody has asked it for anything.
    pub fn link_up(&mut self, run: u64) {
        self.told.insert(run, HashSet::default());
    }

    /// Notes that a run's streams have ended.
    pub fn link_down(&mut self, run: u64) {
        self.told.remove(&run);
    }

    /// Returns whether the gateway asked the run for something.
    pub fn asked(&self, run: u64) -> bool {
        self.told.get(&run).is_some_and(|told| !told.is_empty())
    }

    /// Returns the messages that bring each linked run's subscription up to date.
    pub fn asks(&self) -> BTreeMap<u64, Ask> {
        let mut asks: BTreeMap<u64, Ask> = BTreeMap::new();
        for (chunk, wanted) in &self.wanted {
            for run in &wanted.around.runs {
                if self.told.get(run).is_some_and(|told| !told.contains(chunk)) {
                    asks.entry(*run).or_default().add.push(*chunk);
                }
            }
        }
        for (run, told) in &self.told {
            for chunk in told {
                let wanted = self.wanted.get(chunk);
                if wanted.is_none_or(|wanted| !wanted.around.runs.contains(run)) {
                    asks.entry(*run).or_default().remove.push(*chunk);
                }
            }
        }
        asks
    }

    /// Notes that the gateway sent the message to the run.
    pub fn tell(&mut self, run: u64, ask: &Ask) {
        let Some(told) = self.told.get_mut(&run) else {
            return;
        };
        for chunk in &ask.remove {
            told.remove(chunk);
        }
        told.extend(&ask.add);
    }
}
