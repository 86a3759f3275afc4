//! Numbers of things in one replica: as small as possible, each for one thing.
//!
//! Always: a number that is free stands for nothing at any client. It is given away only after a
//! flush has said that it stands for nothing.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use foldhash::HashMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    by_id: HashMap<Arc<str>, u32>,
    ids: Vec<Option<Arc<str>>>,
    free: BinaryHeap<Reverse<u32>>,
    /// Given back since the last flush.
    freed: Vec<u32>,
}

impl Numbers {
    /// Returns the number of a thing; a new one if it has none.
    pub(crate) fn of(&mut self, id: &Arc<str>) -> u32 {
        if let Some(number) = self.by_id.get(id) {
            return *number;
        }
        let number = match self.free.pop() {
            Some(Reverse(number)) => number,
            None => {
                self.ids.push(None);
                // Memory ends long before the numbers do.
                u32::try_from(self.ids.len() - 1).unwrap_or(u32::MAX)
            }
        };
        if let Some(place) = self.ids.get_mut(number as usize) {
            *place = Some(Arc::clone(id));
        }
        self.by_id.insert(Arc::clone(id), number);
        number
    }

    /// Returns the thing for which a number stands.
    pub(crate) fn id(&self, number: u32) -> Option<&Arc<str>> {
        self.ids.get(number as usize)?.as_ref()
    }

    /// Gives a thing's number back.
    pub(crate) fn free(&mut self, id: &str) {
        let Some(number) = self.by_id.remove(id) else {
            return;
        };
        if let Some(place) = self.ids.get_mut(number as usize) {
            *place = None;
        }
        self.freed.push(number);
    }

    /// Returns whether numbers were given back since the last flush.
    pub(crate) fn has_freed(&self) -> bool {
        !self.freed.is_empty()
    }

    /// Returns the numbers that were given back since the last call. From now on they may stand
    /// for other things.
    pub(crate) fn flush(&mut self) -> Vec<u32> {
        let freed = std::mem::take(&mut self.freed);
        self.free.extend(freed.iter().copied().map(Reverse));
        freed
    }
}

/// A set of numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberSet(Vec<u64>);

impl NumberSet {
    /// Returns whether the number is in it.
    pub(crate) fn has(&self, number: u32) -> bool {
        let word = self.0.get(number as usize / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    /// Puts a number in.
    pub(crate) fn insert(&mut self, number: u32) {
        let at = number as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (number % 64);
    }

    /// Takes all numbers out and returns them in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = u32> {
        let words = std::mem::take(&mut self.0).into_iter().enumerate();
        words.flat_map(|(at, word)| {
            let first = u32::try_from(at * 64).unwrap_or(u32::MAX);
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| first + bit)
        })
    }

    /// Takes a number out.
    pub(crate) fn remove(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word &= !(1 << (number % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_away_again_only_after_a_flush() {
        let mut numbers = Numbers::default();
        let ids: Vec<Arc<str>> = ["a", "b", "c", "d"].map(Arc::from).to_vec();
        assert_eq!([0, 1].map(|at: usize| numbers.of(&ids[at])), [0, 1]);
        numbers.free("a");
        assert_eq!(numbers.id(0), None);
        assert_eq!(numbers.of(&ids[2]), 2);
        assert_eq!(numbers.flush(), [0]);
        assert_eq!(numbers.of(&ids[3]), 0);
        assert!(numbers.flush().is_empty());
    }

    #[test]
    fn a_set_gives_all_its_numbers_away() {
        let mut set = NumberSet::default();
        for number in [130, 0, 63, 64] {
            set.insert(number);
        }
        assert_eq!(set.drain().collect::<Vec<_>>(), [0, 63, 64, 130]);
        assert!(!set.has(63));
    }
}
