//! Chance that a try succeeds: by a rate, with its value at level 1 and at level 99.

use crate::features::training::experience::LEVEL_MAX;

/// A chance at level 1 and at level 99, in 256ths; beyond 256 it is certain sooner.
pub(crate) type Rate = (u32, u32);

/// A try that never fails, in 256ths.
pub(crate) const CERTAIN: u32 = 256;

/// Returns the chance at `level`, in 256ths; 256: certain.
pub(crate) fn at((low, high): Rate, level: u32) -> u32 {
    let level = u64::from(level.clamp(1, LEVEL_MAX));
    let (low, high) = (u64::from(low), u64::from(high));
    // Rounded to the nearest, halves up.
    let between = (2 * (low * (99 - level) + high * (level - 1)) + 98) / 196;
    u32::try_from(between.saturating_add(1)).map_or(CERTAIN, |chance| chance.min(CERTAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_formula() {
        for (low, high) in [
            (64, 200),
            (100, 350),
            (7, 75),
            (65, 513),
            (0, 0),
            (256, 256),
        ] {
            for level in 1..=99 {
                let (l, h, n) = (f64::from(low), f64::from(high), f64::from(level));
                let exact = (l * (99.0 - n) / 98.0 + h * (n - 1.0) / 98.0 + 0.5).floor();
                let exact = ((1.0 + exact) / 256.0).clamp(0.0, 1.0);
                let ours = f64::from(at((low, high), level)) / 256.0;
                assert!((exact - ours).abs() < 1e-9, "{low}/{high} at {level}");
            }
        }
        assert_eq!(at((65, 513), 42), 253);
        assert_eq!(at((65, 513), 43), CERTAIN);
        assert_eq!(at((64, 200), 0), at((64, 200), 1));
        assert_eq!(at((u32::MAX, u32::MAX), 50), CERTAIN);
    }
}
