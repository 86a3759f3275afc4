//! One flush as sessions look at it: the chunks in sight around each chunk in which somebody
//! stands. The stage resolves them once for all who stand in the same chunk.

use std::{cell::Cell, collections::HashMap};

use bytes::Bytes;
use proto::client::Format;
use world::Chunk;

use super::{
    changes::{Changes, ChunkChange},
    encode,
    interest::{Sight, around},
    replica::{ChunkState, Replica},
};

/// See the module.
pub struct Stage<'a> {
    replica: &'a Replica,
    changes: &'a Changes,
    /// Number of bytes encoded anew.
    encoded: &'a Cell<u64>,
    sights: HashMap<(Chunk, Format), Vec<Spot<'a>>>,
}

/// A chunk in a format.
pub struct Spot<'a> {
    chunk: Chunk,
    format: Format,
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
            sights: HashMap::new(),
        }
    }

    /// Returns the chunks in sight from a chunk, in the order of [`around`].
    pub fn from(&mut self, center: Chunk, format: Format) -> &[Spot<'a>] {
        let (replica, changes, encoded) = (self.replica, self.changes, self.encoded);
        self.sights.entry((center, format)).or_insert_with(|| {
            let spot = |chunk| Spot {
                chunk,
                format,
                state: replica.chunk(chunk),
                change: changes.chunks.get(&chunk),
                replica,
                encoded,
            };
            around(center).map(spot).collect()
        })
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

    fn ready(&self) -> bool {
        self.state.is_some_and(ChunkState::ready)
    }

    fn changed(&self) -> bool {
        self.change.is_some()
    }

    fn change(&self) -> Option<&Bytes> {
        let change = self.change?;
        Some(change.written(encode::index(self.format), || {
            self.count(encode::change(
                self.format,
                self.chunk,
                change,
                self.replica,
            ))
        }))
    }

    fn whole(&self) -> Option<&Bytes> {
        let state = self.state?;
        Some(state.snapshot(encode::index(self.format), || {
            self.count(encode::snapshot(
                self.format,
                self.chunk,
                state,
                self.replica,
            ))
        }))
    }
}
