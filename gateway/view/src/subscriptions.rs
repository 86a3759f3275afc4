//! Subscriptions to chunks: those around all sessions, at every run that owns a region near them.
//! Pure.
//!
//! Always: if some session may see a chunk, the gateway asks for it every run that owns a region
//! within 32 tiles of it. It asks nobody for a chunk that no session has been near for some ticks.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};
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
    /// Number of chunks near it in which somebody stands.
    centers: u32,
    /// Tick at which nobody was near it any more, if there are no centers.
    left: u64,
    around: Around,
}

/// Owner of a region, and whether the world has the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owned {
    owner: Option<u64>,
    exists: bool,
}

/// See the module. The cost of a call follows what has changed: chunks in which somebody stands now
/// or no longer, and regions with another owner.
#[derive(Debug, Default)]
pub struct Subscriptions {
    /// Chunks in which somebody stands.
    centers: HashSet<Chunk>,
    wanted: HashMap<Chunk, Wanted>,
    /// Chunks of `wanted` that have no centers, or had none.
    idle: HashSet<Chunk>,
    /// Regions within reach of wanted chunks; at most those of the world and around its edge.
    regions: HashMap<Region, Owned>,
    /// Chunks for which the gateway asked each linked run.
    told: BTreeMap<u64, HashSet<Chunk>>,
    /// Chunks of which some run may not know whether the gateway wants them.
    unsaid: HashSet<Chunk>,
}

impl Owned {
    fn of(region: Region, owners: &impl Owners) -> Self {
        Self {
            owner: owners.owner(region),
            exists: owners.exists(region),
        }
    }
}

/// Returns the regions that have something within reach of a chunk.
fn regions_around(chunk: Chunk) -> impl Iterator<Item = Region> {
    let reach = |at: i32| {
        let from = at.saturating_mul(CHUNK_TILES);
        let low = from.saturating_sub(REACH_TILES);
        let high = from.saturating_add(CHUNK_TILES - 1 + REACH_TILES);
        low.div_euclid(REGION_TILES)..=high.div_euclid(REGION_TILES)
    };
    let rows = reach(chunk.z);
    reach(chunk.x).flat_map(move |x| rows.clone().map(move |z| Region { x, z }))
}

/// Returns the chunks within whose reach a region may be, and some more.
fn chunks_around(region: Region) -> impl Iterator<Item = Chunk> {
    let reach = |at: i32| {
        let from = at.saturating_mul(REGION_TILES);
        let low = from.saturating_sub(REACH_TILES + CHUNK_TILES);
        let high = from.saturating_add(REGION_TILES + REACH_TILES);
        low.div_euclid(CHUNK_TILES)..=high.div_euclid(CHUNK_TILES)
    };
    let rows = reach(region.z);
    reach(region.x).flat_map(move |x| rows.clone().map(move |z| Chunk { x, z }))
}

/// Returns the chunks to know of for sessions in a chunk.
fn near(center: Chunk) -> impl Iterator<Item = Chunk> {
    let side = -MARGIN_CHUNKS..=MARGIN_CHUNKS;
    let rows = side.clone();
    side.flat_map(move |dx| {
        rows.clone().map(move |dz| Chunk {
            x: center.x.saturating_add(dx),
            z: center.z.saturating_add(dz),
        })
    })
}

/// Returns the runs around a chunk by the owners now.
pub fn around(chunk: Chunk, owners: &impl Owners) -> Around {
    let mut runs = BTreeSet::new();
    let mut complete = true;
    for region in regions_around(chunk) {
        match owners.owner(region) {
            Some(run) => {
                runs.insert(run);
            }
            None => complete &= !owners.exists(region),
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
        let mut change = Change::default();
        self.follow_owners(owners, &mut change);
        let centers: HashSet<Chunk> = positions.iter().map(|tile| Chunk::from(*tile)).collect();
        let before = std::mem::take(&mut self.centers);
        for center in centers.difference(&before) {
            for chunk in near(*center) {
                self.come_near(chunk, owners, &mut change);
            }
        }
        for center in before.difference(&centers) {
            for chunk in near(*center) {
                self.leave(chunk, tick);
            }
        }
        self.centers = centers;
        self.drop_idle(tick, &mut change);
        change
    }

    /// Finds the wanted chunks that have other runs around them now.
    fn follow_owners(&mut self, owners: &impl Owners, change: &mut Change) {
        let mut touched = HashSet::default();
        for (region, owned) in &mut self.regions {
            let now = Owned::of(*region, owners);
            if *owned != now {
                *owned = now;
                touched.extend(chunks_around(*region));
            }
        }
        for chunk in touched {
            let Some(wanted) = self.wanted.get_mut(&chunk) else {
                continue;
            };
            let now = around(chunk, owners);
            if wanted.around != now {
                wanted.around = now.clone();
                change.set.push(now);
                self.unsaid.insert(chunk);
            }
        }
    }

    /// Notes that somebody stands near a chunk who did not before.
    fn come_near(&mut self, chunk: Chunk, owners: &impl Owners, change: &mut Change) {
        if let Some(wanted) = self.wanted.get_mut(&chunk) {
            wanted.centers += 1;
            return;
        }
        for region in regions_around(chunk) {
            let owned = || Owned::of(region, owners);
            self.regions.entry(region).or_insert_with(owned);
        }
        let around = around(chunk, owners);
        change.set.push(around.clone());
        self.unsaid.insert(chunk);
        let wanted = Wanted {
            centers: 1,
            left: 0,
            around,
        };
        self.wanted.insert(chunk, wanted);
    }

    /// Notes that somebody no longer stands near a chunk.
    fn leave(&mut self, chunk: Chunk, tick: u64) {
        if let Some(wanted) = self.wanted.get_mut(&chunk) {
            wanted.centers = wanted.centers.saturating_sub(1);
            if wanted.centers == 0 {
                wanted.left = tick;
                self.idle.insert(chunk);
            }
        }
    }

    /// Drops the chunks that nobody has been near for some ticks.
    fn drop_idle(&mut self, tick: u64, change: &mut Change) {
        let (wanted, unsaid) = (&mut self.wanted, &mut self.unsaid);
        self.idle.retain(|chunk| {
            let idle = wanted.get(chunk).filter(|wanted| wanted.centers == 0);
            let Some(idle) = idle else {
                return false;
            };
            if idle.left.saturating_add(LINGER_TICKS) >= tick {
                return true;
            }
            wanted.remove(chunk);
            unsaid.insert(*chunk);
            change.dropped.push(*chunk);
            false
        });
    }

    /// Notes that a run's streams are open: nobody has asked it for anything.
    pub fn link_up(&mut self, run: u64) {
        self.told.insert(run, HashSet::default());
        let wanted = self.wanted.iter();
        let of_run = wanted.filter(|(_, wanted)| wanted.around.runs.contains(&run));
        self.unsaid.extend(of_run.map(|(chunk, _)| *chunk));
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
    pub fn asks(&mut self) -> BTreeMap<u64, Ask> {
        let mut asks: BTreeMap<u64, Ask> = BTreeMap::new();
        let (wanted, told) = (&self.wanted, &self.told);
        self.unsaid.retain(|chunk| {
            let runs = wanted.get(chunk).map(|wanted| &wanted.around.runs);
            let mut open = false;
            for (run, told) in told {
                let wants = runs.is_some_and(|runs| runs.contains(run));
                if wants == told.contains(chunk) {
                    continue;
                }
                open = true;
                let ask = asks.entry(*run).or_default();
                let list = if wants { &mut ask.add } else { &mut ask.remove };
                list.push(*chunk);
            }
            open
        });
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
