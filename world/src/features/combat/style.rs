//! Styles: the styles of each weapon, their bonuses, and the skills that they train.

use super::{CombatSettings, HitKind, Style};
use crate::content::WeaponType;
use crate::features::training::skill::Skill;

/// Returns the styles that a weapon allows, the usual one first; `None`: bare hands.
pub(crate) fn allowed(weapon: Option<&WeaponType>) -> &'static [Style] {
    use Style::{Accurate, Aggressive, Autocast, Controlled, Defensive, Longrange, Rapid};
    match weapon {
        Some(
            WeaponType::Sword
            | WeaponType::Shortsword
            | WeaponType::Longsword
            | WeaponType::Scimitar
            | WeaponType::TwoHandSword
            | WeaponType::Mace
            | WeaponType::Spear
            | WeaponType::Halberd,
        ) => &[Accurate, Aggressive, Defensive, Controlled],
        Some(WeaponType::Bow | WeaponType::Crossbow) => &[Accurate, Rapid, Longrange],
        Some(WeaponType::Staff | WeaponType::Wand) => &[Accurate, Aggressive, Defensive, Autocast],
        Some(
            WeaponType::Axe
            | WeaponType::Pickaxe
            | WeaponType::Dagger
            | WeaponType::Shield
            | WeaponType::None
            | WeaponType::Other(_),
        )
        | None => &[Accurate, Aggressive, Defensive],
    }
}

/// Returns the style in which a player with these `settings` fights with a weapon.
pub(crate) fn in_use(settings: &CombatSettings, weapon: Option<&WeaponType>) -> Style {
    if settings.spell.is_some() {
        return Style::Autocast;
    }
    let allowed = allowed(weapon);
    let chosen = settings.style;
    let works = allowed.contains(&chosen) && chosen != Style::Autocast;
    if works { chosen } else { allowed[0] }
}

/// Bonus of a style to attack, strength and defence in melee.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Plus {
    pub(crate) attack: i64,
    pub(crate) strength: i64,
    pub(crate) defense: i64,
}

pub(crate) const fn plus(style: Style) -> Plus {
    let (attack, strength, defense) = match style {
        Style::Accurate => (3, 0, 0),
        Style::Aggressive => (0, 3, 0),
        Style::Defensive | Style::Longrange => (0, 0, 3),
        Style::Controlled => (1, 1, 1),
        Style::Rapid | Style::Autocast => (0, 0, 0),
    };
    Plus {
        attack,
        strength,
        defense,
    }
}

/// Returns the bonus of a style to hits and damage of shots.
pub(crate) const fn ranged_plus(style: Style) -> i64 {
    match style {
        Style::Accurate => 3,
        _ => 0,
    }
}

/// Returns the skills that a blow of `damage` health trains, with experience in tenths.
pub(crate) fn lessons(
    kind: HitKind,
    style: Style,
    damage: u32,
    cast_xp_tenths: u32,
) -> Vec<(Skill, u64)> {
    let damage = u64::from(damage);
    // 4/3 and 4 points for each point of damage.
    let (third, whole) = (damage * 40 / 3, damage * 40);
    let mut lessons = match (kind, style) {
        (HitKind::Magic, _) => vec![(Skill::Magic, u64::from(cast_xp_tenths) + damage * 20)],
        (HitKind::Ranged, Style::Longrange) => {
            vec![(Skill::Ranged, damage * 20), (Skill::Defense, damage * 20)]
        }
        (HitKind::Ranged, _) => vec![(Skill::Ranged, whole)],
        (HitKind::Melee, Style::Aggressive) => vec![(Skill::Strength, whole)],
        (HitKind::Melee, Style::Defensive) => vec![(Skill::Defense, whole)],
        (HitKind::Melee, Style::Controlled) => vec![
            (Skill::Attack, third),
            (Skill::Strength, third),
            (Skill::Defense, third),
        ],
        (HitKind::Melee, _) => vec![(Skill::Attack, whole)],
    };
    lessons.push((Skill::Constitution, third));
    lessons.retain(|(_, tenths)| *tenths > 0);
    lessons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_weapon_allows_the_styles_of_the_reference() {
        let names = |weapon: Option<&WeaponType>| {
            let names: Vec<_> = allowed(weapon).iter().map(|style| style.name()).collect();
            names.join(" ")
        };
        let blade = "accurate aggressive defensive controlled";
        for weapon in [
            WeaponType::Sword,
            WeaponType::Longsword,
            WeaponType::Scimitar,
            WeaponType::TwoHandSword,
            WeaponType::Mace,
            WeaponType::Spear,
            WeaponType::Halberd,
        ] {
            assert_eq!(names(Some(&weapon)), blade);
        }
        for weapon in [Some(&WeaponType::Axe), Some(&WeaponType::Dagger), None] {
            assert_eq!(names(weapon), "accurate aggressive defensive");
        }
        for weapon in [WeaponType::Bow, WeaponType::Crossbow] {
            assert_eq!(names(Some(&weapon)), "accurate rapid longrange");
        }
        for weapon in [WeaponType::Staff, WeaponType::Wand] {
            assert_eq!(
                names(Some(&weapon)),
                "accurate aggressive defensive autocast"
            );
        }
    }

    #[test]
    fn a_style_that_the_weapon_does_not_allow_counts_as_its_first() {
        let settings = |style| CombatSettings {
            style,
            ..CombatSettings::default()
        };
        let bow = Some(&WeaponType::Bow);
        assert_eq!(in_use(&settings(Style::Rapid), bow), Style::Rapid);
        assert_eq!(in_use(&settings(Style::Controlled), bow), Style::Accurate);
        assert_eq!(in_use(&settings(Style::Controlled), None), Style::Accurate);
        let staff = Some(&WeaponType::Staff);
        assert_eq!(in_use(&settings(Style::Autocast), staff), Style::Accurate);
        let spell = CombatSettings {
            spell: Some("spark".into()),
            ..CombatSettings::default()
        };
        assert_eq!(in_use(&spell, None), Style::Autocast);
    }

    #[test]
    fn one_learns_by_damage_as_the_style_says() {
        use HitKind::{Magic, Melee, Ranged};
        use Skill::{Attack, Constitution, Defense, Strength};
        let learn = |kind, style| lessons(kind, style, 3, 55);
        let and = |skill, tenths| vec![(skill, tenths), (Constitution, 40)];
        assert_eq!(learn(Melee, Style::Accurate), and(Attack, 120));
        assert_eq!(learn(Melee, Style::Aggressive), and(Strength, 120));
        assert_eq!(learn(Melee, Style::Defensive), and(Defense, 120));
        let each = [Attack, Strength, Defense, Constitution].map(|skill| (skill, 40));
        assert_eq!(learn(Melee, Style::Controlled), each);
        assert_eq!(learn(Ranged, Style::Accurate), and(Skill::Ranged, 120));
        assert_eq!(learn(Ranged, Style::Rapid), and(Skill::Ranged, 120));
        let long = [(Skill::Ranged, 60), (Defense, 60), (Constitution, 40)];
        assert_eq!(learn(Ranged, Style::Longrange), long);
        assert_eq!(learn(Magic, Style::Autocast), and(Skill::Magic, 55 + 60));
        // A cast teaches even when it does not hurt. A stroke does not.
        let cast = lessons(Magic, Style::Autocast, 0, 55);
        assert_eq!(cast, [(Skill::Magic, 55)]);
        assert_eq!(lessons(Melee, Style::Accurate, 0, 0), []);
        // 4/3 for each point, in tenths rounded down.
        assert_eq!(
            lessons(Melee, Style::Accurate, 1, 0),
            [(Attack, 40), (Constitution, 13)]
        );
    }
}
