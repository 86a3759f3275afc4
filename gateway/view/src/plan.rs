//! One update of one client, before its socket takes it. Pure.

use bytes::Bytes;
use world::Chunk;

use super::{names::Naming, near::NearPlan, scene::Sight};

/// Bytes of one chunk for one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) piece: &'a Bytes,
    /// Whether the piece is all of the chunk, and not a change.
    pub(crate) whole: bool,
    /// Whether the client is up to date with it.
    pub(crate) complete: bool,
}

/// One update, ready to send.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The chunks' bytes, nearest first.
    pub pieces: Vec<Bytes>,
    /// Chunks out of sight.
    pub gone: Vec<Chunk>,
    /// Slots whose chunks are in it, so that they are clean.
    pub(crate) sent: Vec<usize>,
    /// Slots of which it has only a part.
    pub(crate) partly: Vec<usize>,
    /// Slots of which it has the change, as bits.
    pub(crate) changed: u64,
    /// Whether it has all the news of a scene, and nothing else of chunks.
    pub(crate) joined: bool,
    /// Things that come with it, the nearest first.
    pub(crate) arrivals: Vec<u32>,
    /// Names for things.
    pub(crate) naming: Naming,
    /// The nearest players, for a client that asked for at most so many.
    pub(crate) near: Option<NearPlan>,
    /// The tick that it shows.
    pub tick: u64,
    /// Bytes of its chunks.
    pub(crate) bytes: usize,
    /// Whether it shows only news between two ticks, and no owed chunk.
    pub(crate) extra: bool,
}

impl Plan {
    /// Returns the pieces of the update: names, chunks, the nearest players.
    pub fn take_pieces(&mut self) -> Vec<Bytes> {
        let names = std::mem::take(&mut self.naming.piece);
        let near = self.near.as_ref().map(|near| near.piece.clone());
        let pieces = [names].into_iter().chain(self.pieces.drain(..)).chain(near);
        pieces.filter(|piece| !piece.is_empty()).collect()
    }

    pub(crate) fn push(&mut self, index: usize, offer: &Offer<'_>, sight: &impl Sight) {
        self.add(offer.piece.clone());
        if offer.complete {
            self.sent.push(index);
        } else {
            self.partly.push(index);
        }
        if !offer.whole {
            self.changed |= 1 << index;
        }
        sight.arrivals(offer.whole, &mut self.arrivals);
    }

    pub(crate) fn add(&mut self, piece: Bytes) {
        self.bytes += piece.len();
        self.pieces.push(piece);
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.has_all_of(index) || self.partly.contains(&index)
    }

    /// Returns whether the client is up to date with a slot if its socket takes the plan.
    pub(crate) fn has_all_of(&self, index: usize) -> bool {
        let joined = self.joined && self.changed & 1 << index != 0;
        joined || self.sent.contains(&index)
    }
}
