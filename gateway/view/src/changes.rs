//! Changes of the replica between two flushes: per chunk, and per thing only its end result.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use foldhash::HashMap;
use world::Chunk;

use super::{
    encode::Encoding,
    entity::{FieldChanges, FieldMap},
};

/// Change of one thing.
#[derive(Debug, Default)]
pub struct Touched {
    /// Chunk where it was at the last flush, and its number then.
    pub before: Option<(Chunk, Numbered)>,
    /// Whether its owner published it anew: the deltas below do not tell all.
    pub replaced: bool,
    /// Kind and fields that it had before its owner published it anew.
    pub looked: Option<(Box<str>, FieldMap)>,
    /// Whether its position changed.
    pub moved: bool,
    /// Fields that changed; `None`: removed.
    pub fields: FieldChanges,
}

/// A thing as the compact encoding speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    /// Number of the thing.
    pub number: u32,
    /// Whether it is somebody's avatar.
    pub player: bool,
}

/// A thing whose name, as the compact encoding says it, is no longer what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renamed {
    /// Number of the thing.
    pub number: u32,
    /// Chunk in which it is.
    pub chunk: Chunk,
    /// Whether the change of the chunk says what is new.
    pub told: bool,
}

/// Change of one chunk.
#[derive(Debug, Default)]
pub struct ChunkChange {
    /// Things that are new in it, or to replace.
    pub enter: Vec<Arc<str>>,
    /// The same by number.
    pub arrivals: Vec<Numbered>,
    /// Things still in it: whether the position changed, and the changed fields.
    pub update: Vec<(Arc<str>, bool, FieldChanges)>,
    /// Things no longer in it.
    pub leave: Vec<(Arc<str>, Numbered)>,
    /// Hits, shown once.
    pub hits: Vec<FieldMap>,
    /// The change as written, by encoding.
    written: [OnceLock<Bytes>; Encoding::COUNT],
}

impl ChunkChange {
    /// Returns the change in an encoding; on the first call `write` makes it.
    pub fn written(&self, encoding: Encoding, write: impl FnOnce() -> Bytes) -> &Bytes {
        self.written[encoding.index()].get_or_init(write)
    }
}

/// Changes of the world.
#[derive(Debug, Default)]
pub struct Changes {
    /// Number of the flush; grows by one.
    pub serial: u64,
    /// The highest tick in it.
    pub tick: u64,
    /// Changes by chunk.
    pub chunks: HashMap<Chunk, ChunkChange>,
    /// Numbers that stand for nothing any more.
    pub freed: Vec<u32>,
    /// Things that look different now.
    pub renamed: Vec<Renamed>,
}
