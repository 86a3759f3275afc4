//! Timing of fights.

use super::HitKind;

/// Most ticks that a blow takes to arrive.
const DELAY_MAX: u64 = 10;
/// Ticks for which an attack counts in single combat.
pub(crate) const SINGLE_TICKS: u64 = 8;
/// Ticks without a request from its client after which a player does not hit back.
pub(crate) const UNHEARD_TICKS: u64 = 2_000;
/// Ticks in which a fighter gets better by one point.
pub(crate) const MEND_TICKS: u64 = 100;
/// Ticks after a blow before a fighter gets better.
pub(crate) const UNMENDED_TICKS: u64 = 17;
/// Ticks after which a dead player stands up.
pub(crate) const DYING_TICKS: u64 = 7;
/// Ticks by which a bite delays a player that has just attacked.
pub(crate) const BITE_TICKS: u64 = 3;

/// Returns the ticks from dealing a blow to its landing, over so many tiles.
pub(crate) fn delay(kind: HitKind, tiles: u32) -> u64 {
    let tiles = u64::from(tiles);
    let delay = match kind {
        HitKind::Melee => 0,
        HitKind::Ranged => 1 + (3 + tiles) / 6,
        HitKind::Magic => 1 + (1 + tiles) / 3,
    };
    delay.min(DELAY_MAX)
}

/// Returns the ticks from an attack to hitting back, for a fighter that attacks every
/// `speed_ticks`.
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
