//! Dice. A throw depends on the world's seed, on its purpose, on the tick and on nothing else. So
//! nobody's luck depends on other players, and a region that moves keeps its luck.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A handful of dice.
#[derive(Debug)]
pub struct Dice(Source);

#[derive(Debug)]
enum Source {
    Seeded(Box<ChaCha8Rng>),
    Scripted(VecDeque<u32>),
}

impl Dice {
    /// Returns the dice of the thing `key` (see [`key`]) at `tick` in the world with `seed`.
    pub fn new(seed: u64, key: u64, tick: u64) -> Dice {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&key.to_le_bytes());
        bytes[16..24].copy_from_slice(&tick.to_le_bytes());
        bytes[24..].copy_from_slice(b"dice.one");
        Dice(Source::Seeded(Box::new(ChaCha8Rng::from_seed(bytes))))
    }

    /// Returns dice that fall as scripted, then always on 0. For tests.
    pub fn scripted(throws: impl IntoIterator<Item = u32>) -> Dice {
        Dice(Source::Scripted(throws.into_iter().collect()))
    }

    /// Returns one of 0..`sides`; 0 when there are no sides. A scripted throw is taken modulo
    /// `sides`.
    pub fn below(&mut self, sides: u32) -> u32 {
        if sides == 0 {
            return 0;
        }
        match &mut self.0 {
            Source::Seeded(rng) => {
                let wide = u64::from(rng.next_u32()) * u64::from(sides);
                (wide >> 32) as u32
            }
            Source::Scripted(throws) => throws.pop_front().unwrap_or(0) % sides,
        }
    }

    /// Returns one of `low`..=`high`; `low` when the range is empty.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        if high <= low {
            return low;
        }
        let sides = low.abs_diff(high).saturating_add(1);
        low.saturating_add_unsigned(self.below(sides))
    }
}

/// Returns a number for a name, the same on every machine (FNV-1a).
pub fn key(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_fall_the_same_on_every_machine() {
        let mut dice = Dice::new(7, key("npc:guard"), 1000);
        let throws: Vec<u32> = (0..6).map(|_| dice.below(100)).collect();
        let mut again = Dice::new(7, key("npc:guard"), 1000);
        assert_eq!(throws, (0..6).map(|_| again.below(100)).collect::<Vec<_>>());
        insta::assert_compact_debug_snapshot!(throws, @"[70, 69, 39, 6, 99, 95]");
    }

    #[test]
    fn dice_differ_by_seed_key_and_tick() {
        let first = |seed, key, tick| Dice::new(seed, key, tick).below(u32::MAX);
        let all = [
            first(1, 1, 1),
            first(2, 1, 1),
            first(1, 2, 1),
            first(1, 1, 2),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{all:?}");
        }
    }

    #[test]
    fn throws_stay_in_range_and_reach_both_ends() {
        let mut dice = Dice::new(1, 2, 3);
        let throws: Vec<i32> = (0..1000).map(|_| dice.between(-3, 3)).collect();
        assert_eq!(throws.iter().min(), Some(&-3));
        assert_eq!(throws.iter().max(), Some(&3));
        assert_eq!(dice.between(5, 5), 5);
        assert_eq!(dice.below(0), 0);
    }

    #[test]
    fn scripted_dice_fall_as_told() {
        let mut dice = Dice::scripted([3, 9]);
        assert_eq!([dice.below(6), dice.below(6), dice.below(6)], [3, 3, 0]);
    }
}
