//! Reads updates, as a client does: numbers in, [`WorldUpdate`]s with ids out.
//!
//! Always: a fault leaves the decoder as it was before the frame, and allocates no more than the
//! frame's own length asks for. What has no name yet is kept and not shown; it enters when its name
//! comes.

mod apply;
mod finder;
mod parse;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use thiserror::Error;
use world::{Chunk, Tile};

use super::super::update::WorldUpdate;

pub use finder::{Finder, Found};

/// A frame that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// It ends within a value.
    #[error("the frame ends too early")]
    Short,
    /// A number is larger than its kind allows.
    #[error("a number is too large")]
    Large,
    /// The first byte, a section, a flag, a value or a word is none that this version knows.
    #[error("{0} {1} is unknown")]
    Unknown(&'static str, u64),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    Text,
}

/// The thing for which a number stands.
#[derive(Debug, Clone, PartialEq)]
struct Named {
    id: String,
    kind: String,
    fields: Map<String, Value>,
}

/// A number's place in the client's world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    /// The chunk whose section placed it, or in which a near section has it.
    chunk: Chunk,
    tile: Tile,
}

/// Reads the updates of one connection. See the module.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    names: BTreeMap<u32, Named>,
    placed: BTreeMap<u32, Placed>,
    /// Numbers that chunk sections placed, by chunk.
    chunks: BTreeMap<Chunk, BTreeSet<u32>>,
    /// Players of near sections, in the order of the list.
    near: Vec<u32>,
}

impl Decoder {
    /// Returns whether a frame holds an update; all others are MessagePack.
    pub fn is_update(frame: &[u8]) -> bool {
        frame.first() == Some(&super::UPDATE)
    }

    /// Reads a frame. Returns its `seq` and the update.
    ///
    /// # Errors
    /// Says what makes no sense; nothing changed.
    pub fn read(&mut self, frame: &[u8]) -> Result<(u64, WorldUpdate), Fault> {
        let (seq, parsed) = parse::frame(frame, self.near.len())?;
        Ok((seq, self.apply(parsed)))
    }

    /// Returns how many things are placed and have no name yet.
    pub fn unnamed(&self) -> usize {
        let placed = self.placed.keys();
        placed
            .filter(|number| !self.names.contains_key(number))
            .count()
    }
}
