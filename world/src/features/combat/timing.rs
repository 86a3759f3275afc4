//! How long things take in a fight.

use super::HitKind;

/// A blow takes no longer to arrive.
const DELAY_MAX: u64 = 10;
/// One who is attacked in single combat is so for so many ticks.
pub(crate) const SINGLE_TICKS: u64 = 8;
/// One whose client has asked for nothing for so long does not hit back.
pub(crate) const UNHEARD_TICKS: u64 = 2_000;
/// One gets better by a point in so many ticks.
pub(crate) const MEND_TICKS: u64 = 100;
/// And not for so many ticks after a blow.
pub(crate) const UNMENDED_TICKS: u64 = 17;
/// A dead player stands up after so many ticks.
pub(crate) const DYING_TICKS: u64 = 7;
/// A bite delays one who has just attacked by so many ticks.
pub(crate) const BITE_TICKS: u64 = 3;

/// Ticks from dealing a blow over so many tiles to its landing.
pub(crate) fn delay(kind: HitKind, tiles: u32) -> u64 {
    let tiles = u64::from(tiles);
    let delay = match kind {
        HitKind::Melee => 0,
        HitKind::Ranged => 1 + (3 + tiles) / 6,
        HitKind::Magic => 1 + (1 + tiles) / 3,
    };
    delay.min(DELAY_MAX)
}

/// Ticks from being attacked to hitting back, for one who attacks every `speed_ticks`.
pub(crate) fn retaliation(speed_ticks: u32) -> u64 {
    u64::from(speed_ticks.div_ceil(2)) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blows_travel_as_long_as_the_reference_says() {
        for (kind, tiles, ticks) in [
            (HitKind::Melee, 1, 0),
            (HitKind::Melee, 2, 0),
            (HitKind::Ranged, 1, 1),
            (HitKind::Ranged, 2, 1),
            (HitKind::Ranged, 3, 2),
            (HitKind::Ranged, 9, 3),
            (HitKind::Magic, 1, 1),
            (HitKind::Magic, 2, 2),
            (HitKind::Magic, 10, 4),
            (HitKind::Magic, 60, 10),
        ] {
            assert_eq!(delay(kind, tiles), ticks, "{kind:?} over {tiles}");
        }
    }

    #[test]
    fn one_hits_back_after_half_its_own_pace() {
        let all = [1, 3, 4, 5, 6, 7].map(retaliation);
        assert_eq!(all, [2, 3, 3, 4, 4, 5]);
    }
}
