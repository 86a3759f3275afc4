//! The names that one client of the compact encoding knows. Pure.
//!
//! A client hears the places of things at once, and their names as there is room, the nearest
//! first. Always: a name that a client shows says what the thing is now. If a thing changes and the
//! client does not hear of it, its name there is stale: it hears the new one when it sees the thing
//! again, or at least that it must forget the old one.

use std::collections::VecDeque;

use bytes::Bytes;
use world::Chunk;

use super::{
    changes::{Changes, Renamed},
    encode,
    numbers::NumberSet,
};

/// See the module.
#[derive(Debug, Default)]
pub struct Names {
    known: NumberSet,
    /// Numbers for which the client may have a name that is no longer true.
    stale: NumberSet,
    /// Numbers whose names the client is owed: the ones in `queue`.
    owed: NumberSet,
    queue: VecDeque<u32>,
}

/// Part of an update that names things.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Sections that name things, or say which names to forget.
    pub pieces: Vec<Bytes>,
    /// Things that the client knows if the socket takes the update: those that the pieces name, and
    /// those of which the change of their chunk says what is new.
    known: Vec<u32>,
    /// Things that the client is owed if the socket takes the update.
    owed: Vec<u32>,
    /// Those of them whose old names the client forgets.
    forgotten: Vec<u32>,
    /// Bytes of the pieces.
    pub bytes: usize,
}

impl Names {
    /// Forgets everything, as the client has.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the number of names that the client is owed.
    pub fn owed(&self) -> usize {
        self.queue.len()
    }

    /// Takes a flush into account. `tells` says whether the update holds the change of a chunk.
    /// Returns the things that the client goes on to know if the socket takes the update.
    fn hear(&mut self, changes: &Changes, tells: impl Fn(Chunk) -> bool) -> Vec<u32> {
        for number in &changes.freed {
            self.outdate(*number);
            self.owed.remove(*number);
        }
        let mut known = Vec::new();
        for Renamed {
            number,
            chunk,
            told,
        } in &changes.renamed
        {
            if self.known.has(*number) {
                self.outdate(*number);
                if *told && tells(*chunk) {
                    known.push(*number);
                }
            }
        }
        known
    }

    fn outdate(&mut self, number: u32) {
        if self.known.has(number) {
            self.known.remove(number);
            self.stale.insert(number);
        }
    }

    /// Chooses the names for an update in which `arrivals` come, the nearest first. `name` returns a
    /// thing's name section; `None`: the client does not see the thing. At least one name goes along
    /// if any can, so that a long one does not wait for ever.
    pub fn choose(
        &mut self,
        changes: &Changes,
        tells: impl Fn(Chunk) -> bool,
        arrivals: &[u32],
        mut room: usize,
        name: impl Fn(u32) -> Option<Bytes>,
    ) -> Naming {
        let known = self.hear(changes, tells);
        let mut naming = Naming::default();
        // Things that wait come before those that arrive, since a client saw them first.
        let mut full = false;
        let mut offer = |number: u32, naming: &mut Naming| {
            if full {
                naming.owed.push(number);
                return;
            }
            let Some(piece) = name(number) else {
                return;
            };
            if piece.len() > room && !naming.pieces.is_empty() {
                full = true;
                naming.owed.push(number);
                return;
            }
            room = room.saturating_sub(piece.len());
            naming.bytes += piece.len();
            naming.pieces.push(piece);
            naming.known.push(number);
        };
        for number in &self.queue {
            if self.owed.has(*number) && !self.known.has(*number) {
                offer(*number, &mut naming);
            }
        }
        let unknown = |number: &&u32| {
            !self.known.has(**number) && !self.owed.has(**number) && !known.contains(number)
        };
        for number in arrivals.iter().filter(unknown) {
            offer(*number, &mut naming);
        }
        naming.known.extend(known);
        let stale = naming.owed.iter().filter(|number| self.stale.has(**number));
        naming.forgotten = stale.copied().collect();
        if !naming.forgotten.is_empty() {
            let piece = encode::forget(&naming.forgotten);
            naming.bytes += piece.len();
            naming.pieces.push(piece);
        }
        naming
    }

    /// Notes that the client's socket took the update.
    pub fn took(&mut self, naming: &Naming) {
        for number in std::mem::take(&mut self.queue) {
            self.owed.remove(number);
        }
        for number in &naming.known {
            self.known.insert(*number);
            self.stale.remove(*number);
        }
        for number in &naming.forgotten {
            self.stale.remove(*number);
        }
        for number in &naming.owed {
            if !self.owed.has(*number) {
                self.owed.insert(*number);
                self.queue.push_back(*number);
            }
        }
    }
}
