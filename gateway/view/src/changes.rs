//! Changes of the replica between two flushes: per chunk, and per thing only its end result.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde_json::value::RawValue;
use world::Chunk;

use super::entity::FieldMap;

/// Change of one thing.
#[derive(Debug, Default)]
pub struct Touched {
    /// Chunk where it was at the last flush.
    pub before: Option<Chunk>,
    /// Whether its owner published it anew: the deltas below do not tell all.
    pub replaced: bool,
    /// Whether its position changed.
    pub moved: bool,
    /// Fields that changed; null: removed.
    pub fields: FieldMap,
}

/// Change of one chunk.
#[derive(Debug, Default)]
pub struct ChunkChange {
    /// Things that are new in it, or to replace.
    pub enter: Vec<Arc<str>>,
    /// Things still in it: whether the position changed, and the changed fields.
    pub update: Vec<(Arc<str>, bool, FieldMap)>,
    /// Things no longer in it.
    pub leave: Vec<Arc<str>>,
    /// Hits, shown once.
    pub hits: Vec<Box<RawValue>>,
    /// The change as written, by format.
    written: [OnceLock<Bytes>; 2],
}

impl ChunkChange {
    /// Returns the change in a format; on the first call `write` makes it.
    pub fn written(&self, format: usize, write: impl FnOnce() -> Bytes) -> &Bytes {
        self.written[format].get_or_init(write)
    }
}

/// Changes of the world.
#[derive(Debug, Default)]
pub struct Changes {
    /// The highest tick in it.
    pub tick: u64,
    /// Changes by chunk.
    pub chunks: HashMap<Chunk, ChunkChange>,
}
