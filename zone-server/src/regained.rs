//! The place of a character whose run was lost. The store has it some ticks late, and a gateway has
//! shown it since. Pure.
//!
//! Always: a gateway can only offer a tile that some run has shown it, and the world takes it only
//! if the character can have walked there since the store's word. So an offer gains nobody
//! anything: a wrong one moves a character no further than its own legs could have.

use proto::rpc::zone::v1::Shown;
use world::Tile;

/// Ticks by which the place of a character in the store may be older than the last batch: that of a
/// player who walks is due after [`crate::PLACE_TICKS`], and one more for the tick that is cut.
const LATE_TICKS: u64 = crate::PLACE_TICKS + 1;
/// Ticks by which the clocks of two runs may differ.
const CLOCK_TICKS_MAX: u64 = 3;
/// Most steps from the place in the store to an offered one.
const STEPS_MAX: u32 = 200;

/// A tile on which a gateway showed a character, at a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) tile: Tile,
    pub(crate) tick: u64,
}

impl Sight {
    /// Reads the offer of a gateway; `None`: it makes none.
    pub(crate) fn of(shown: Option<&Shown>) -> Option<Sight> {
        let shown = shown?;
        let at = shown.position?;
        Some(Sight {
            tile: Tile { x: at.x, z: at.z },
            tick: shown.tick,
        })
    }

    /// Returns the most steps that the character can have gone to this tile, if the last batch of
    /// its former run was of tick `saved`. `None`: the store has the later word, or the offer is of
    /// no time that can be.
    pub(crate) fn steps_max(self, saved: u64, now: u64, tiles_per_tick: u32) -> Option<u32> {
        let old = self.tick.saturating_add(LATE_TICKS) <= saved;
        if old || self.tick > now.saturating_add(CLOCK_TICKS_MAX) {
            return None;
        }
        let ticks = self.tick.saturating_sub(saved).saturating_add(LATE_TICKS);
        let steps = ticks.saturating_mul(tiles_per_tick.into());
        Some(u32::try_from(steps).unwrap_or(STEPS_MAX).min(STEPS_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_grows_with_the_ticks_since_the_last_batch() {
        let steps = |tick| {
            let tile = Tile { x: 0, z: 0 };
            Sight { tile, tick }.steps_max(1_000, 1_040, 4)
        };
        let table = [
            (0, None),
            (974, None),
            (975, Some(104)),
            (1_000, Some(104)),
            (1_001, Some(108)),
            (1_023, Some(196)),
            (1_025, Some(STEPS_MAX)),
            (1_043, Some(STEPS_MAX)),
            (1_044, None),
            (u64::MAX, None),
        ];
        for (tick, expected) in table {
            assert_eq!(steps(tick), expected, "{tick}");
        }
        let late = Sight {
            tile: Tile { x: 0, z: 0 },
            tick: 1_051,
        };
        assert_eq!(late.steps_max(1_000, 9_000, 4), Some(STEPS_MAX));
    }
}
