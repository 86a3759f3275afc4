//! The names that one client of the compact encoding knows. Pure.
//!
//! A client hears the places of things at once, and their names as there is room, the nearest
//! first. Always: a name that a client shows says what the thing is now. If a thing changes and the
//! client does not hear of it, its name there is stale: the next update tells the new one or makes
//! the client forget the old one.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use world::Chunk;

use super::{
    changes::{Changes, Renamed},
    encode,
    numbers::NumberSet,
};

/// Room below which no more names are tried, in bytes.
const SHORT_BYTES: usize = 128;
/// Most bytes of a FORGET section without its numbers.
const FORGET_BYTES: usize = 6;

/// See the module.
#[derive(Debug, Default)]
pub struct Names {
    known: NumberSet,
    /// Numbers for which the client may have a name that is no longer true.
    stale: BTreeSet<u32>,
    /// Numbers whose names the client is owed: the ones in `queue`.
    owed: NumberSet,
    queue: VecDeque<u32>,
}

/// Part of an update that names things.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Sections that name things, and one that says which names to forget, one behind the other.
    pub piece: Bytes,
    /// Things that the client knows if the socket takes the update: those that the piece names, and
    /// those of which the change of their chunk says what is new.
    known: Vec<u32>,
    /// Things that the client is owed if the socket takes the update.
    owed: Vec<u32>,
    /// Things whose old names the client forgets.
    forgotten: Vec<u32>,
}

impl Names {
    /// Forgets everything, as the client has.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Notes that from now on numbers stand for other things. The next update makes the client
    /// forget each name that it does not replace.
    pub fn outdate_all(&mut self) {
        self.stale.extend(self.known.drain());
        self.owed = NumberSet::default();
        self.queue.clear();
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

    /// Returns the bytes that an update needs to make the client forget all stale names.
    pub fn stale_bytes(&self) -> usize {
        if self.stale.is_empty() {
            return 0;
        }
        // Seven bits a byte.
        let bytes = |number: &u32| number.checked_ilog2().unwrap_or(0) as usize / 7 + 1;
        FORGET_BYTES + self.stale.iter().map(bytes).sum::<usize>()
    }

    /// Chooses the names for an update in which `arrivals` come, the nearest first. Things of `first`
    /// go before all others. `name` returns a thing's name section, and hears whether the thing comes
    /// just now; `None`: the client does not see the thing. The update makes the client forget stale
    /// names that it does not replace; they and the names take `room` bytes at most, unless there are
    /// too many stale ones.
    pub fn choose<'a>(
        &mut self,
        changes: &Changes,
        tells: impl Fn(Chunk) -> bool,
        first: &[u32],
        arrivals: impl Iterator<Item = u32>,
        mut room: usize,
        name: impl Fn(u32, bool) -> Option<&'a Bytes>,
    ) -> Naming {
        let known = self.hear(changes, tells);
        room = room.saturating_sub(self.stale_bytes());
        let mut naming = Naming::default();
        let mut pieces: Vec<&[u8]> = Vec::new();
        // Things that wait come before those that arrive, since a client saw them first.
        let mut full = false;
        let mut offer = |number: u32, comes: bool, naming: &mut Naming| {
            if full {
                naming.owed.push(number);
                return;
            }
            let Some(piece) = name(number, comes) else {
                return;
            };
            if piece.len() > room {
                // A long name waits, and lets short ones go before it.
                full = room < SHORT_BYTES;
                naming.owed.push(number);
                return;
            }
            room -= piece.len();
            pieces.push(piece);
            naming.known.push(number);
        };
        let unknown = |number: &&u32| !self.known.has(**number) && !known.contains(number);
        for number in first.iter().filter(unknown) {
            offer(*number, false, &mut naming);
        }
        let others = |number: &&u32| unknown(number) && !first.contains(number);
        let waits = |number: &&u32| self.owed.has(**number);
        for number in self.queue.iter().filter(waits).filter(others) {
            offer(*number, false, &mut naming);
        }
        let comes = |number: &u32| !self.owed.has(*number) && others(&number);
        for number in arrivals.filter(comes) {
            offer(number, true, &mut naming);
        }
        naming.known.extend(known);
        naming.forgotten = self.forgotten(&naming.known);
        let forget = (!naming.forgotten.is_empty()).then(|| encode::forget(&naming.forgotten));
        pieces.extend(forget.as_deref());
        naming.piece = pieces.concat().into();
        naming
    }

    /// Returns the stale names that an update does not replace which tells these.
    fn forgotten(&self, told: &[u32]) -> Vec<u32> {
        if self.stale.is_empty() {
            return Vec::new();
        }
        let told: BTreeSet<u32> = told.iter().copied().collect();
        self.stale.difference(&told).copied().collect()
    }

    /// Notes that the client's socket took the update.
    pub fn took(&mut self, naming: &Naming) {
        // Most clients are owed nothing most of the time. Then the set and the queue take no memory.
        self.owed = NumberSet::default();
        self.queue = VecDeque::new();
        for number in &naming.known {
            self.known.insert(*number);
            self.stale.remove(number);
        }
        for number in &naming.forgotten {
            self.stale.remove(number);
        }
        for number in &naming.owed {
            if !self.owed.has(*number) {
                self.owed.insert(*number);
                self.queue.push_back(*number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets so many things come at once and says which have names in the update, which the socket
    /// takes. Each name has 100 bytes.
    fn come(names: &mut Names, first: &[u32], come: &[u32], room: usize) -> (Vec<u32>, usize) {
        let changes = Changes::default();
        static NAME: Bytes = Bytes::from_static(&[0; 100]);
        let name = |_, _| Some(&NAME);
        let naming = names.choose(&changes, |_| true, first, come.iter().copied(), room, name);
        let said = (naming.known.clone(), naming.piece.len());
        names.took(&naming);
        said
    }

    #[test]
    fn the_own_name_goes_before_all_that_wait_and_nobody_is_named_twice() {
        let mut names = Names::default();
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(come(&mut names, &[], &all, 300).0, [0, 1, 2]);
        assert_eq!(names.owed(), 7);
        assert_eq!(come(&mut names, &[8, 1], &[], 200).0, [8, 3]);
        assert_eq!(
            come(&mut names, &[8, 1], &[20], 1000).0,
            [4, 5, 6, 7, 9, 20]
        );
        assert!(come(&mut names, &[8, 1], &all, 1000).0.is_empty());
    }

    #[test]
    fn names_and_what_is_to_forget_stay_within_their_room() {
        let mut names = Names::default();
        let all: Vec<u32> = (0..40).collect();
        come(&mut names, &[], &all, 10_000);
        let freed = Changes {
            freed: all,
            ..Changes::default()
        };
        names.hear(&freed, |_| true);
        let (named, bytes) = come(&mut names, &[], &[50, 51, 52], 250);
        assert_eq!(named, [50, 51], "the rest is for the 40 to forget");
        assert!((240..=250).contains(&bytes), "{bytes}");
        assert_eq!(
            come(&mut names, &[], &[], 99),
            (vec![], 0),
            "one name is too much"
        );
        assert_eq!(come(&mut names, &[], &[], 100), (vec![52], 100));
    }
}
