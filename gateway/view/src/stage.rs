//! One flush as sessions look at it: the chunks in sight around each chunk in which somebody
//! stands. The stage resolves them once for all who stand in the same chunk.

use std::cell::Cell;

use bytes::Bytes;
use foldhash::HashMap;
use world::Chunk;

use super::{
    changes::{Changes, ChunkChange, Numbered},
    crowd::Crowd,
    encode::{self, Encoding},
    replica::{ChunkState, Replica},
    scene::{Scene, Sight},
    square::around,
};

/// See the module.
pub struct Stage<'a> {
    replica: &'a Replica,
    changes: &'a Changes,
    /// Number of bytes encoded anew.
    encoded: &'a Cell<u64>,
    scenes: HashMap<(Chunk, Encoding), Scene<Spot<'a>>>,
    crowd: Crowd,
}

/// A chunk in an encoding.
pub struct Spot<'a> {
    chunk: Chunk,
    encoding: Encoding,
    state: Option<&'a ChunkState>,
    change: Option<&'a ChunkChange>,
    replica: &'a Replica,
    encoded: &'a Cell<u64>,
}

impl<'a> Stage<'a> {
    /// Returns a stage on which `changes` have just happened to `replica`; `encoded` counts the
    /// bytes encoded anew.
    pub fn new(replica: &'a Replica, changes: &'a Changes, encoded: &'a Cell<u64>) -> Self {
        Self {
            replica,
            changes,
            encoded,
            scenes: HashMap::default(),
            crowd: Crowd::default(),
        }
    }

    /// Returns the chunks in sight from a chunk.
    pub fn from(&mut self, center: Chunk, encoding: Encoding) -> &Scene<Spot<'a>> {
        let (replica, changes, encoded) = (self.replica, self.changes, self.encoded);
        self.scenes.entry((center, encoding)).or_insert_with(|| {
            let spot = |chunk| Spot {
                chunk,
                encoding,
                state: replica.chunk(chunk),
                change: changes.chunks.get(&chunk),
                replica,
                encoded,
            };
            Scene::new(around(center).map(spot))
        })
    }

    /// Returns the players around a chunk, and others.
    pub fn crowd(&mut self, center: Chunk) -> &Crowd {
        self.crowd.gather(self.replica, center);
        &self.crowd
    }
}

impl Spot<'_> {
    fn count(&self, bytes: Bytes) -> Bytes {
        self.encoded.set(self.encoded.get() + bytes.len() as u64);
        bytes
    }
}

impl Sight for Spot<'_> {
    fn chunk(&self) -> Chunk {
        self.chunk
    }

    fn joins(&self) -> bool {
        self.encoding.numbers()
    }

    fn ready(&self) -> bool {
        self.state.is_some_and(ChunkState::ready)
    }

    fn changed(&self) -> bool {
        self.change.is_some()
    }

    fn change(&self) -> Option<&Bytes> {
        let change = self.change?;
        let write = || encode::change(self.encoding, self.chunk, change, self.replica);
        Some(change.written(self.encoding, || self.count(write())))
    }

    fn whole(&self) -> Option<(&Bytes, bool)> {
        let state = self.state?;
        let (bytes, complete) = state.snapshot(self.encoding, || {
            let (bytes, complete) =
                encode::snapshot(self.encoding, self.chunk, state, self.replica);
            (self.count(bytes), complete)
        });
        Some((bytes, *complete))
    }

    fn arrivals(&self, whole: bool, arrivals: &mut Vec<u32>) {
        let counts = |thing: &Numbered| match self.encoding {
            Encoding::Compact => true,
            Encoding::CompactWithoutPlayers => !thing.player,
            Encoding::Json | Encoding::MessagePack => false,
        };
        if !self.encoding.numbers() {
            return;
        }
        if whole {
            let things = self.state.into_iter().flat_map(ChunkState::numbered);
            arrivals.extend(things.filter(counts).map(|thing| thing.number));
        } else {
            let things = self.change.into_iter().flat_map(|change| &change.arrivals);
            arrivals.extend(
                things
                    .filter(|thing| counts(thing))
                    .map(|thing| thing.number),
            );
        }
    }
}
