//! Sets of the numbers of things.

/// Words by which a set grows, for 2,048 numbers. A gateway has three sets for each client, so half-empty
/// ones would cost it kilobytes a client.
const GROWS_WORDS: usize = 32;

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
            let words = (at + 1).next_multiple_of(GROWS_WORDS);
            self.0.reserve_exact(words - self.0.len());
            self.0.resize(words, 0);
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
    fn a_set_gives_all_its_numbers_away() {
        let mut set = NumberSet::default();
        for number in [130, 0, 63, 64] {
            set.insert(number);
        }
        assert_eq!(set.drain().collect::<Vec<_>>(), [0, 63, 64, 130]);
        assert!(!set.has(63));
    }
}
