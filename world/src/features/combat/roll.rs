//! Chances and damage.
//!
//! Always: the same numbers give the same roll; a most damage below 1 never hurts.

use crate::rng::Dice;

/// Most damage of any blow.
pub(crate) const DAMAGE_MAX: u32 = 200;
/// Amount that every level gains.
const LEVEL_PLUS: i64 = 8;
/// Amount that every bonus gains.
const BONUS_PLUS: i64 = 64;
/// Chance of 1, in millionths.
const CERTAIN: u32 = 1_000_000;
/// Multiplier of 1.
const ONE: i64 = 1_000;

/// Returns a player's effective level, by a prayer (in thousandths) and a style.
pub(crate) fn effective(level: u32, prayer_thousandths: u32, style: i64) -> i64 {
    i64::from(level) * i64::from(prayer_thousandths) / ONE + style + LEVEL_PLUS
}

/// Returns an NPC's effective level.
pub(crate) fn effective_npc(level: u32) -> i64 {
    i64::from(level) + LEVEL_PLUS + 1
}

/// Returns a player's effective level against spells: seven parts magic and three parts defence.
/// Both are levels with their prayers.
pub(crate) fn effective_against_magic(magic: i64, defense: i64) -> i64 {
    (7 * magic + 3 * defense + 90) / 10
}

/// Returns a level with a prayer, for [`effective_against_magic`].
pub(crate) fn prayed(level: u32, prayer_thousandths: u32) -> i64 {
    i64::from(level) * i64::from(prayer_thousandths) / ONE
}

/// Returns the weight of an attack or a defence.
pub(crate) fn roll(effective: i64, bonus: i32) -> i64 {
    (effective * (i64::from(bonus) + BONUS_PLUS)).max(0)
}

/// Returns the most damage by strength, in melee or with a shooting weapon.
pub(crate) fn max_hit(effective: i64, bonus: i32) -> u32 {
    let hit = (320 + roll(effective, bonus)) / 640;
    u32::try_from(hit).unwrap_or(DAMAGE_MAX).min(DAMAGE_MAX)
}

/// Returns the most damage of a spell, with `more` percent added by gear.
pub(crate) fn max_cast(base: u32, more: i32) -> u32 {
    let hit = i64::from(base) * (100 + i64::from(more)).max(0) / 100;
    u32::try_from(hit).unwrap_or(DAMAGE_MAX).min(DAMAGE_MAX)
}

/// Returns the chance that an attack hurts, in millionths.
pub(crate) fn chance(attack: i64, defense: i64) -> u32 {
    let (attack, defense) = (i128::from(attack.max(0)), i128::from(defense.max(0)));
    let certain = i128::from(CERTAIN);
    let millionths = if attack > defense {
        certain - certain * (defense + 2) / (2 * (attack + 1))
    } else {
        certain * attack / (2 * (defense + 1))
    };
    u32::try_from(millionths.clamp(0, certain)).unwrap_or(0)
}

/// Throws for the damage of an attack.
pub(crate) fn damage(attack: i64, defense: i64, max_hit: u32, dice: &mut Dice) -> u32 {
    let hits = dice.below(CERTAIN) < chance(attack, defense);
    let damage = dice.below(max_hit.min(DAMAGE_MAX) + 1);
    if hits { damage } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_count_with_prayer_before_and_style_after_rounding() {
        for (level, prayer, style, is) in [
            (1, 1_000, 0, 9),
            (1, 1_000, 3, 12),
            (40, 1_050, 0, 50),
            (19, 1_050, 1, 28),
            (99, 1_100, 3, 119),
            (99, 1_000, 0, 107),
        ] {
            assert_eq!(
                effective(level, prayer, style),
                is,
                "{level} {prayer} {style}"
            );
        }
        assert_eq!(effective_npc(1), 10);
        // 0.7 x 60 + 0.3 x 41 + 9, rounded down.
        assert_eq!(effective_against_magic(60, 41), 63);
    }

    #[test]
    fn the_most_damage_is_that_of_the_reference() {
        // floor(0.5 + effective x (bonus + 64) / 640)
        for (effective, bonus, is) in [
            (9, 0, 1),
            (12, 0, 1),
            (15, 0, 2),
            (50, 0, 5),
            (107, 66, 22),
            (118, 82, 27),
            (10, -64, 0),
            (10, -100, 0),
            (4, 0, 0),
            (10_000, 10_000, DAMAGE_MAX),
        ] {
            assert_eq!(max_hit(effective, bonus), is, "{effective} {bonus}");
        }
        assert_eq!(
            (max_cast(8, 0), max_cast(8, 15), max_cast(2, 20)),
            (8, 9, 2)
        );
        assert_eq!(max_cast(12, -200), 0);
    }

    #[test]
    fn chances_are_those_of_the_reference() {
        for (attack, defense, millionths) in [
            // Equal: attack / (2 x (defence + 1)).
            (576, 576, 499_133),
            (0, 0, 0),
            (768, 640, 582_575),
            (640, 768, 416_124),
            (10_000, 0, 999_901),
            (1, 1_000_000, 0),
        ] {
            assert_eq!(chance(attack, defense), millionths, "{attack} {defense}");
        }
    }

    #[test]
    fn damage_is_uniform_from_nothing_to_the_most() {
        // The first throw decides whether the attack hurts, the second how much.
        let throw = |one, two| damage(768, 640, 4, &mut Dice::scripted([one, two]));
        assert_eq!([throw(582_574, 4), throw(582_575, 4)], [4, 0]);
        assert_eq!([throw(0, 0), throw(0, 3), throw(0, 5)], [0, 3, 0]);
        let mut dice = Dice::new(1, 2, 3);
        let all: std::collections::BTreeSet<u32> =
            (0..400).map(|_| damage(10_000, 0, 4, &mut dice)).collect();
        assert_eq!(all.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(damage(10_000, 0, 0, &mut dice), 0);
    }
}
