//! Experience, in tenths, and the levels that it makes.
//!
//! Always: the level of a skill is the one that its experience makes; experience never falls and
//! never exceeds [`XP_TENTHS_MAX`].

use serde::{Deserialize, Serialize};

use super::skill::Skill;

/// Highest level of a skill.
pub const LEVEL_MAX: u32 = 99;
/// Most experience in one skill, in tenths.
pub const XP_TENTHS_MAX: u64 = 2_000_000_000;

/// Experience at which each level begins, from level 1.
const THRESHOLDS: [u32; LEVEL_MAX as usize] = [
    0, 83, 174, 276, 388, 512, 650, 801, 969, 1154, 1358, 1584, 1833, 2107, 2411, 2746, 3115, 3523,
    3973, 4470, 5018, 5624, 6291, 7028, 7842, 8740, 9730, 10824, 12031, 13363, 14833, 16456, 18247,
    20224, 22406, 24815, 27473, 30408, 33648, 37224, 41171, 45529, 50339, 55649, 61512, 67983,
    75127, 83014, 91721, 101333, 111945, 123660, 136594, 150872, 166636, 184040, 203254, 224466,
    247886, 273742, 302288, 333804, 368599, 407015, 449428, 496254, 547953, 605032, 668051, 737627,
    814445, 899257, 992895, 1096278, 1210421, 1336443, 1475581, 1629200, 1798808, 1986068, 2192818,
    2421087, 2673114, 2951373, 3258594, 3597792, 3972294, 4385776, 4842295, 5346332, 5902831,
    6517253, 7195629, 7944614, 8771558, 9684577, 10692629, 11805606, 13034431,
];

/// Returns the level that `xp_tenths` of experience makes: 1 to 99.
pub fn level(xp_tenths: u64) -> u32 {
    let reached = THRESHOLDS.partition_point(|begins| u64::from(*begins) * 10 <= xp_tenths);
    u32::try_from(reached).unwrap_or(LEVEL_MAX)
}

/// Returns the experience, in tenths, at which `level` begins; for a level beyond 99, that of 99.
pub fn xp_tenths(level: u32) -> u64 {
    let place = level.clamp(1, LEVEL_MAX) as usize - 1;
    THRESHOLDS.get(place).map_or(0, |xp| u64::from(*xp) * 10)
}

/// Level and experience in one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillXp {
    /// 1 to 99.
    pub level: u32,
    /// Experience in tenths.
    pub xp_tenths: u64,
}

impl SkillXp {
    /// Returns `xp_tenths` of experience, capped at [`XP_TENTHS_MAX`], with the level that it
    /// makes.
    pub fn of(xp_tenths: u64) -> SkillXp {
        let xp_tenths = xp_tenths.min(XP_TENTHS_MAX);
        SkillXp {
            level: level(xp_tenths),
            xp_tenths,
        }
    }

    /// Returns the experience of a new character: level 10 in constitution, 1 in all else.
    pub fn fresh(skill: Skill) -> SkillXp {
        SkillXp::of(match skill {
            Skill::Constitution => xp_tenths(10),
            _ => 0,
        })
    }
}

/// Returns the combat level of somebody with these levels: 3 to 126.
pub fn combat_level(of: impl Fn(Skill) -> u32) -> u32 {
    let (attack, strength, defense) = (of(Skill::Attack), of(Skill::Strength), of(Skill::Defense));
    let base = defense + of(Skill::Constitution) + of(Skill::Prayer) / 2;
    let far = |skill| of(skill) * 3 / 2;
    let best = (attack + strength)
        .max(far(Skill::Ranged))
        .max(far(Skill::Magic));
    // Thousandths: a quarter of the one, 0.325 of the other.
    (250 * base + 325 * best) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_begin_where_the_formula_says() {
        let mut points = 0.0_f64;
        for (n, begins) in (1_u32..).zip(THRESHOLDS) {
            assert_eq!(begins, (points / 4.0).floor() as u32, "level {n}");
            points += (f64::from(n) + 300.0 * (f64::from(n) / 7.0).exp2()).floor();
        }
    }

    #[test]
    fn a_level_is_reached_at_its_threshold_and_not_a_tenth_before() {
        for n in 2..=LEVEL_MAX {
            let begins = xp_tenths(n);
            assert_eq!((level(begins - 1), level(begins)), (n - 1, n));
        }
        assert_eq!((level(0), level(829), level(830)), (1, 1, 2));
        assert_eq!((level(XP_TENTHS_MAX), level(u64::MAX)), (99, 99));
        assert_eq!((xp_tenths(0), xp_tenths(1), xp_tenths(10)), (0, 0, 11_540));
        assert_eq!(xp_tenths(u32::MAX), 130_344_310);
        assert_eq!(SkillXp::of(u64::MAX).xp_tenths, XP_TENTHS_MAX);
    }

    #[test]
    fn combat_levels_are_those_of_the_reference() {
        let fresh = |skill| SkillXp::fresh(skill).level;
        assert_eq!(combat_level(fresh), 3);
        assert_eq!(combat_level(|_| 99), 126);
        let of = |pairs: &'static [(Skill, u32)]| {
            combat_level(move |skill| {
                let given = pairs.iter().find(|(s, _)| *s == skill);
                given.map_or(SkillXp::fresh(skill).level, |(_, level)| *level)
            })
        };
        // 0.25 x 11 + 0.325 x (40 + 40).
        assert_eq!(of(&[(Skill::Attack, 40), (Skill::Strength, 40)]), 28);
        // 0.25 x 11 + 0.325 x 61, the half of 41 rounded down.
        assert_eq!(of(&[(Skill::Ranged, 41)]), 22);
        assert_eq!(of(&[(Skill::Magic, 41), (Skill::Ranged, 40)]), 22);
        // 0.25 x (40 + 10 + 21) + 0.325 x 2: the odd point of prayer does not count.
        assert_eq!(of(&[(Skill::Defense, 40), (Skill::Prayer, 43)]), 18);
    }
}
