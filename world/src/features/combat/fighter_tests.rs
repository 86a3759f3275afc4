//! Tables of the weights of weapons, arrows, spells, styles, prayers and beasts. All weights are
//! (level with prayer + style + 8) × (bonus + 64), and + 9 for beasts.

use serde_json::json;

use super::*;
use crate::features::potions::Boost;
use crate::features::training::experience::SkillXp;
use crate::geometry::tile::Tile;
use crate::item::Stack;

/// Experience of levels 40 and 60, in tenths.
const LEVEL_40: u64 = 372_240;
const LEVEL_60: u64 = 2_737_420;

const MELEE: [&str; 13] = [
    "SWORD",
    "SHORTSWORD",
    "LONGSWORD",
    "TWO_HAND_SWORD",
    "SCIMITAR",
    "AXE",
    "HALBERD",
    "DAGGER",
    "SPEAR",
    "PICKAXE",
    "MACE",
    "STAFF",
    "WAND",
];

/// Returns content with a weapon of each sort, bows, arrows, mail, a prayer for each thing, and a
/// spell.
#[allow(clippy::too_many_lines, reason = "a table of things")]
fn content() -> Content {
    let mut items: Vec<_> = MELEE
        .iter()
        .map(|sort| {
            json!({"id": sort, "name": sort, "equipSlot": "weapon", "weaponType": sort,
                "attackType": "MELEE", "attackSpeed": 6,
                "bonuses": {"attackStab": 10, "attackSlash": 20, "attackCrush": 30,
                    "meleeStrength": 20, "attackMagic": 12, "magicDamage": 50}})
        })
        .collect();
    let bow = |id: &str, speed: u32, range: u32, level: u32| {
        json!({"id": id, "name": id, "equipSlot": "weapon", "weaponType": "BOW",
            "attackType": "RANGED", "attackSpeed": speed, "attackRange": range,
            "requirements": {"skills": {"ranged": level}},
            "bonuses": {"attackRanged": 16, "rangedStrength": 2}})
    };
    let arrow = |id: &str| {
        json!({"id": id, "name": id, "equipSlot": "arrows", "stackable": true,
            "bonuses": {"rangedStrength": 30}})
    };
    items.extend([
        bow("bow", 5, 7, 5),
        bow("longbow", 6, 9, 5),
        bow("quick_bow", 1, 7, 5),
        arrow("arrow"),
        arrow("oak_arrow"),
        arrow("hard_arrow"),
        json!({"id": "mail", "name": "Mail", "equipSlot": "body",
            "bonuses": {"defenseStab": 1, "defenseSlash": 2, "defenseCrush": 3,
                "defenseRanged": 40, "defenseMagic": 50}}),
    ]);
    let listed = |id: &str, level: u32, tier: u32| {
        json!({"id": id, "name": id, "rangedStrength": 60, "requiredRangedLevel": level,
            "requiredBowTier": tier})
    };
    let arrows = [
        listed("arrow", 1, 5),
        listed("oak_arrow", 1, 6),
        listed("hard_arrow", 41, 1),
    ];
    let prayer = |of: &str| json!({"id": of, "name": of, "bonuses": {of: 1.1}});
    let prayers = [
        "attackMultiplier",
        "strengthMultiplier",
        "defenseMultiplier",
        "rangedAttackMultiplier",
        "rangedStrengthMultiplier",
        "magicAttackMultiplier",
        "magicDefenseMultiplier",
    ];
    let bounds = json!({"minX": 0, "maxX": 64, "minZ": 0, "maxZ": 64});
    let areas = json!({
        "starterTowns": {"town": {"id": "town", "name": "Town", "biomeType": "plain",
            "difficultyLevel": 0, "safeZone": true, "bounds": bounds}},
        "terrain": {"seed": 5, "spawn": {"x": 1, "z": 1}, "defaultBiome": "plain",
            "bounds": bounds},
    });
    let biomes = json!([{"id": "plain", "grounds": [["grass", 1]], "heightRange": [2, 2]}]);
    let spells = json!({"standard": {"strike": [{"id": "gust", "name": "Gust", "level": 1,
        "baseMaxHit": 8, "baseXp": 5.5, "attackSpeed": 5, "runes": []}]}});
    let files = [
        ("world-areas.json", areas),
        ("items.json", json!(items)),
        ("biomes.json", biomes),
        ("npcs.json", json!([])),
        ("stores.json", json!([])),
        ("ammunition.json", json!({ "arrows": arrows })),
        ("combat-spells.json", spells),
        ("prayers.json", json!({"prayers": prayers.map(prayer)})),
    ];
    let files = files.map(|(path, json)| (path.to_owned(), json.to_string()));
    Content::load(&files.into()).expect("a land").content
}

/// Returns a player of level 40 in all that counts in a fight, and 60 in magic's defence.
fn ann(worn: &[(EquipSlot, &str)]) -> PlayerRecord {
    let record = json!({"id": "ann", "name": "ann", "tile": Tile::new(1, 1), "y": 0, "health": 10,
        "skills": {}, "coins": 0, "energy": 0, "running": false, "combat_level": 3,
        "placed": true});
    let mut record: PlayerRecord = serde_json::from_value(record).expect("a record");
    for skill in [
        Skill::Attack,
        Skill::Strength,
        Skill::Defense,
        Skill::Ranged,
        Skill::Magic,
    ] {
        record.skills.insert(skill, SkillXp::of(LEVEL_40));
    }
    let worn = worn.iter();
    record.equipment = worn
        .map(|(place, item)| (*place, Stack::new(*item, 1)))
        .collect();
    record
}

fn armed(weapon: &str) -> PlayerRecord {
    ann(&[(EquipSlot::Weapon, weapon)])
}

fn archer(bow: &str, arrow: &str, style: Style) -> PlayerRecord {
    let mut record = ann(&[(EquipSlot::Weapon, bow), (EquipSlot::Arrows, arrow)]);
    record.combat_settings.style = style;
    record
}

fn caster(weapon: &str) -> PlayerRecord {
    let mut record = armed(weapon);
    record.combat_settings.spell = Some("gust".into());
    record
}

#[test]
fn each_weapon_strikes_with_the_bonus_for_its_sort() {
    use Against::{Crush, Slash, Stab};
    let content = content();
    for (n, sort) in MELEE.iter().enumerate() {
        let (against, bonus) = match n {
            0..7 => (Slash, 20),
            7..10 => (Stab, 10),
            _ => (Crush, 30),
        };
        let attack = player(&content, &armed(sort));
        // 40 + 3 for the accurate style + 8.
        let weighs = (attack.kind, attack.against, attack.weight, attack.max_hit);
        let weight = 51 * (bonus + 64);
        assert_eq!(weighs, (HitKind::Melee, against, weight, 6), "{sort}");
        assert_eq!((attack.speed_ticks, attack.range_tiles), (6, 1), "{sort}");
    }
    let hands = player(&content, &ann(&[]));
    let weighs = (hands.against, hands.weight, hands.max_hit);
    assert_eq!(weighs, (Crush, 51 * 64, 5));
    assert_eq!((hands.speed_ticks, hands.range_tiles), (4, 1));
}

/// Returns the player of level 40, with five levels more in everything.
fn boosted(mut record: PlayerRecord) -> PlayerRecord {
    for skill in record.skills.keys() {
        let boost = Boost {
            levels: 5,
            ticks: 100,
        };
        record.potions.boosts.insert(*skill, boost);
    }
    record
}

#[test]
fn boosts_count_in_attacks_and_defences_of_every_sort() {
    let content = content();
    for (plain, weight, max_hit) in [
        (armed("SWORD"), 56 * 84, 7),
        (archer("bow", "arrow", Style::Accurate), 56 * 80, 11),
    ] {
        let attack = player(&content, &boosted(plain));
        assert_eq!((attack.weight, attack.max_hit), (weight, max_hit));
    }
    let weight = |record: &PlayerRecord| player(&content, record).weight;
    let (plain, raised) = (caster("STAFF"), boosted(caster("STAFF")));
    assert_eq!(weight(&raised) - weight(&plain), 5 * (12 + 64));
    for against in [Against::Stab, Against::Ranged, Against::Magic] {
        let guard = |record: &PlayerRecord| player_guard(&content, record, against);
        let (plain, raised) = (guard(&ann(&[])), guard(&boosted(ann(&[]))));
        assert_eq!(raised - plain, 5 * 64, "{against:?}");
    }
}

#[test]
fn styles_of_melee_add_to_hits_or_to_damage() {
    let content = content();
    for (style, weight, max_hit) in [
        (Style::Accurate, 51 * 84, 6),
        (Style::Aggressive, 48 * 84, 7),
        (Style::Defensive, 48 * 84, 6),
        (Style::Controlled, 49 * 84, 6),
    ] {
        let mut record = armed("SWORD");
        record.combat_settings.style = style;
        let attack = player(&content, &record);
        let weighs = (attack.style, attack.weight, attack.max_hit);
        assert_eq!(weighs, (style, weight, max_hit));
    }
}

/// The list of arrows says 60, the item itself 30: they do not add up. The bow adds 2.
#[test]
fn arrows_count_as_their_list_says_and_styles_change_pace_and_reach() {
    let content = content();
    for (bow, style, weight, max_hit, speed, range) in [
        ("bow", Style::Accurate, 51 * 80, 10, 5, 7),
        ("bow", Style::Rapid, 48 * 80, 9, 4, 7),
        ("bow", Style::Longrange, 48 * 80, 9, 5, 9),
        ("longbow", Style::Longrange, 48 * 80, 9, 6, 10),
        ("quick_bow", Style::Rapid, 48 * 80, 9, 1, 7),
    ] {
        let attack = player(&content, &archer(bow, "arrow", style));
        let shoots = (attack.kind, attack.against, attack.style);
        assert_eq!(shoots, (HitKind::Ranged, Against::Ranged, style));
        let weighs = (attack.weight, attack.max_hit);
        assert_eq!(weighs, (weight, max_hit), "{bow} {style:?}");
        let goes = (attack.speed_ticks, attack.range_tiles);
        assert_eq!(goes, (speed, range), "{bow} {style:?}");
    }
}

#[test]
fn a_bow_shoots_what_is_not_too_good_for_it_or_its_archer() {
    let content = content();
    for (arrow, shoots) in [("arrow", true), ("oak_arrow", false), ("hard_arrow", false)] {
        let record = archer("bow", arrow, Style::Accurate);
        let Means::Shot(found) = means(&content, &record) else {
            panic!("a bow shoots");
        };
        assert_eq!(found.is_some(), shoots, "{arrow}");
    }
    assert!(matches!(means(&content, &armed("bow")), Means::Shot(None)));
    assert!(matches!(means(&content, &armed("SWORD")), Means::Hand));
}

/// The spell's pace and reach count, not the weapon's. Gear adds percents to its damage.
#[test]
fn spells_are_cast_at_their_own_pace_with_whatever_is_in_hand() {
    let content = content();
    for weapon in ["STAFF", "SWORD"] {
        let attack = player(&content, &caster(weapon));
        let casts = (attack.kind, attack.style, attack.against);
        let expected = (HitKind::Magic, Style::Autocast, Against::Magic);
        assert_eq!(casts, expected, "{weapon}");
        assert_eq!((attack.weight, attack.max_hit), (48 * 76, 12), "{weapon}");
        let goes = (attack.speed_ticks, attack.range_tiles);
        assert_eq!(goes, (5, 10), "{weapon}");
        assert_eq!(attack.cast_xp_tenths, 55);
    }
}

/// Each prayer changes its own level only: 40 becomes 44.
#[test]
fn prayers_multiply_the_level_that_they_are_for() {
    let content = content();
    for (prayer, stroke, shot, cast) in [
        ("", (51 * 84, 6), (51 * 80, 10), 48 * 76),
        ("attackMultiplier", (55 * 84, 6), (51 * 80, 10), 48 * 76),
        ("strengthMultiplier", (51 * 84, 7), (51 * 80, 10), 48 * 76),
        (
            "rangedAttackMultiplier",
            (51 * 84, 6),
            (55 * 80, 10),
            48 * 76,
        ),
        (
            "rangedStrengthMultiplier",
            (51 * 84, 6),
            (51 * 80, 11),
            48 * 76,
        ),
        (
            "magicAttackMultiplier",
            (51 * 84, 6),
            (51 * 80, 10),
            52 * 76,
        ),
        ("defenseMultiplier", (51 * 84, 6), (51 * 80, 10), 48 * 76),
        (
            "magicDefenseMultiplier",
            (51 * 84, 6),
            (51 * 80, 10),
            48 * 76,
        ),
    ] {
        let attack = |mut record: PlayerRecord| {
            record.prayer.active.insert(prayer.into());
            let attack = player(&content, &record);
            (attack.weight, attack.max_hit)
        };
        assert_eq!(attack(armed("SWORD")), stroke, "{prayer}");
        let archer = archer("bow", "arrow", Style::Accurate);
        assert_eq!(attack(archer), shot, "{prayer}");
        assert_eq!(attack(caster("SWORD")).0, cast, "{prayer}");
    }
}

fn beast(attack: AttackType) -> NpcKind {
    let mut kind = NpcKind::plain("beast", "Beast");
    let stats = &mut kind.stats;
    (stats.attack, stats.strength, stats.ranged) = (20, 30, 40);
    (stats.magic, stats.defense, stats.defense_bonus) = (50, 60, 6);
    kind.fight.attack = attack;
    (kind.fight.range_tiles, kind.fight.speed_ticks) = (7, 3);
    kind
}

#[test]
fn beasts_attack_with_the_level_for_their_sort_of_attack() {
    let content = content();
    let with = |attack, arrow: Option<&str>, spell: Option<&str>| {
        let mut kind = beast(attack);
        kind.fight.arrow = arrow.map(Into::into);
        kind.fight.spell = spell.map(Into::into);
        let attack = npc(&content, &kind);
        assert_eq!((attack.range_tiles, attack.speed_ticks), (7, 3));
        (attack.kind, attack.against, attack.weight, attack.max_hit)
    };
    let melee = with(AttackType::Melee, Some("arrow"), Some("gust"));
    assert_eq!(melee, (HitKind::Melee, Against::Claws, 29 * 64, 4));
    let ranged = |weighs| (HitKind::Ranged, Against::Ranged, 49 * 64, weighs);
    assert_eq!(with(AttackType::Ranged, Some("arrow"), None), ranged(9));
    assert_eq!(with(AttackType::Ranged, None, Some("gust")), ranged(5));
    let magic = |weighs| (HitKind::Magic, Against::Magic, 59 * 64, weighs);
    assert_eq!(with(AttackType::Magic, None, Some("gust")), magic(8));
    assert_eq!(with(AttackType::Magic, Some("arrow"), None), magic(6));
}

/// Against spells, seven parts of magic and three of defence count, and no style.
#[test]
fn players_guard_themselves_with_what_they_wear_against_each_sort() {
    let content = content();
    for (prayer, style, weights) in [
        ("", Style::Accurate, [48, 48, 48, 48, 48, 63]),
        ("", Style::Defensive, [51, 51, 51, 51, 51, 63]),
        (
            "defenseMultiplier",
            Style::Accurate,
            [52, 52, 52, 52, 52, 64],
        ),
        (
            "magicDefenseMultiplier",
            Style::Accurate,
            [48, 48, 48, 48, 48, 67],
        ),
        (
            "attackMultiplier",
            Style::Accurate,
            [48, 48, 48, 48, 48, 63],
        ),
    ] {
        let mut record = ann(&[(EquipSlot::Body, "mail")]);
        record.skills.insert(Skill::Magic, SkillXp::of(LEVEL_60));
        record.prayer.active.insert(prayer.into());
        record.combat_settings.style = style;
        let sorts = [
            (Against::Stab, 1),
            (Against::Slash, 2),
            (Against::Crush, 3),
            // Claws find the best of the three.
            (Against::Claws, 3),
            (Against::Ranged, 40),
            (Against::Magic, 50),
        ];
        for ((against, bonus), weight) in sorts.into_iter().zip(weights) {
            let guard = player_guard(&content, &record, against);
            assert_eq!(
                guard,
                weight * (bonus + 64),
                "{prayer} {style:?} {against:?}"
            );
        }
    }
}

#[test]
fn beasts_guard_themselves_with_magic_against_spells_only() {
    let kind = beast(AttackType::Melee);
    for against in [
        Against::Stab,
        Against::Slash,
        Against::Crush,
        Against::Claws,
        Against::Ranged,
    ] {
        assert_eq!(npc_guard(&kind, against), 69 * 70, "{against:?}");
    }
    assert_eq!(npc_guard(&kind, Against::Magic), 59 * 70);
}
