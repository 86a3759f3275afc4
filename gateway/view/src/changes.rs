//! What became of the replica between two flushes: per chunk, and per thing only its end result.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde_json::value::RawValue;
use world::Chunk;

use super::entity::FieldMap;

/// What became of one thing.
#[derive(Debug, Default)]
pub struct Touched {
    /// Where it was at the last flush.
    pub before: Option<Chunk>,
    /// It was published anew: the deltas below do not tell all.
    pub replaced: bool,
    /// Its position changed.
    pub moved: bool,
    /// Fields that changed; null: removed.
    pub fields: FieldMap,
}

/// What changed in one chunk.
#[derive(Debug, Default)]
pub struct ChunkChange {
    /// New in it, or to be replaced.
    pub enter: Vec<Arc<str>>,
    /// Still in it: whether its position changed, and the fields that did.
    pub update: Vec<(Arc<str>, bool, FieldMap)>,
    /// No longer in it.
    pub leave: Vec<Arc<str>>,
    /// Shown once.
    pub hits: Vec<Box<RawValue>>,
    /// The change as written, by format.
    written: [OnceLock<Bytes>; 2],
}

impl ChunkChange {
    /// The change in a format, or what `write` makes of it now.
    pub fn written(&self, format: usize, write: impl FnOnce() -> Bytes) -> &Bytes {
        self.written[format].get_or_init(write)
    }
}

/// What changed in the world.
#[derive(Debug, Default)]
pub struct Changes {
    /// The highest tick in it.
    pub tick: u64,
    /// By chunk.
    pub chunks: HashMap<Chunk, ChunkChange>,
}
