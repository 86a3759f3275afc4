//! What levels bring: prayers, spells, tiers, arrows, runes, and a list of it all.

use serde_json::{Map, Value, json};

use crate::catalog::{self, File};
use crate::{items, making};

/// id, name, description, level, drain, conflicts, multipliers.
type PrayerRow = (
    &'static str,
    &'static str,
    &'static str,
    i32,
    i32,
    &'static [&'static str],
    &'static [(&'static str, f64)],
);

#[rustfmt::skip]
const PRAYERS: &[PrayerRow] = &[
    ("thick_socks", "Thick Socks", "A little harder to hurt. Starts at the feet.", 1, 1, &["thick_vest"], &[("defenseMultiplier", 1.05)]),
    ("rolled_sleeves", "Rolled Sleeves", "A little stronger, from the elbow down.", 4, 1, &["rolled_trousers"], &[("strengthMultiplier", 1.05)]),
    ("clear_head", "Clear Head", "A little more accurate. Mind the draught.", 7, 1, &["empty_head"], &[("attackMultiplier", 1.05)]),
    ("good_squint", "Good Squint", "Shots go nearer to where they were sent.", 8, 1, &["hard_squint"], &[("rangedAttackMultiplier", 1.05), ("rangedStrengthMultiplier", 1.05)]),
    ("open_question", "Open Question", "Spells take you a little more seriously.", 9, 1, &["closed_question"], &[("magicAttackMultiplier", 1.05), ("magicDefenseMultiplier", 1.05)]),
    ("thick_vest", "Thick Vest", "Harder to hurt, and itchy.", 10, 6, &["thick_socks"], &[("defenseMultiplier", 1.1)]),
    ("rolled_trousers", "Rolled Trousers", "Stronger. Ready to wade in.", 13, 6, &["rolled_sleeves"], &[("strengthMultiplier", 1.1)]),
    ("empty_head", "Empty Head", "More accurate. Nothing in the way.", 16, 6, &["clear_head"], &[("attackMultiplier", 1.1)]),
    ("hard_squint", "Hard Squint", "One eye does the work of two.", 26, 6, &["good_squint"], &[("rangedAttackMultiplier", 1.1), ("rangedStrengthMultiplier", 1.1)]),
    ("closed_question", "Closed Question", "Spells stop arguing.", 27, 6, &["open_question"], &[("magicAttackMultiplier", 1.1), ("magicDefenseMultiplier", 1.1)]),
];

/// name, what it is called, rune, element, levels and XP of the weak one and the strong one, runes.
#[rustfmt::skip]
const SPELLS: &[(&str, &str, &str, &str, [(i32, i32, f64); 2], [i32; 2])] = &[
    ("gust", "Gust", "gust_rune", "air", [(1, 2, 5.5), (17, 9, 13.5)], [0, 0]),
    ("dew", "Dew", "dew_rune", "water", [(5, 4, 7.5), (23, 10, 16.5)], [1, 2]),
    ("loam", "Loam", "loam_rune", "earth", [(9, 6, 9.5), (29, 11, 19.5)], [2, 3]),
    ("spark", "Spark", "spark_rune", "fire", [(13, 8, 11.5), (35, 12, 22.5)], [3, 4]),
];

fn prayers() -> Value {
    let rows = PRAYERS.iter().map(|r| {
        let bonuses: Map<String, Value> =
            r.6.iter().map(|(name, by)| ((*name).to_owned(), json!(by))).collect();
        let defends = r.6.iter().all(|(name, _)| name.starts_with("defense"));
        json!({"id": r.0, "name": r.1, "description": r.2, "icon": format!("asset://icons/{}.png", r.0),
            "level": r.3, "category": if defends { "defensive" } else { "offensive" },
            "drainEffect": r.4, "bonuses": bonuses, "conflicts": r.5})
    });
    json!({"prayers": rows.collect::<Vec<_>>()})
}

/// The spells of a group: the weak ones (0) or the strong ones (1).
fn spells(group: usize) -> Vec<Value> {
    let word = ["nudge", "shove"][group];
    let mind = ["thought_rune", "muddle_rune"][group];
    let row = |r: &(&str, &str, &str, &str, [(i32, i32, f64); 2], [i32; 2])| {
        let (level, hit, xp) = r.4[group];
        let mut runes = vec![json!({"runeId": mind, "quantity": 1})];
        let gusts = if r.3 == "air" {
            1 + group
        } else {
            (r.5[group].unsigned_abs() as usize).div_ceil(2)
        };
        runes.push(json!({"runeId": "gust_rune", "quantity": gusts.max(1)}));
        if r.3 != "air" {
            runes.push(json!({"runeId": r.2, "quantity": r.5[group]}));
        }
        json!({"id": format!("{}_{word}", r.0), "name": format!("{} {}{}", r.1, &word[..1].to_uppercase(), &word[1..]),
            "level": level, "baseMaxHit": hit, "baseXp": xp, "element": r.3, "attackSpeed": 5,
            "runes": runes})
    };
    SPELLS.iter().map(row).collect()
}

fn tiers() -> Value {
    let metals = [("bronze", 1), ("iron", 1), ("steel", 5)];
    let melee: Map<String, Value> = metals
        .iter()
        .map(|(m, level)| ((*m).to_owned(), json!({"attack": level, "defence": level})))
        .collect();
    let tools: Map<String, Value> = [("bronze", 1, 1), ("iron", 1, 1), ("steel", 5, 6)]
        .iter()
        .map(|(m, attack, skill)| {
            let row = json!({"attack": attack, "woodcutting": skill, "mining": skill});
            ((*m).to_owned(), row)
        })
        .collect();
    json!({"melee": melee, "tools": tools,
        "ranged": {"leather": {"ranged": 1, "defence": 1}},
        "magic": {"wizard": {"magic": 1}}})
}

fn tools() -> Value {
    let rows = [
        ("steel_hatchet", "woodcutting", "steel", 6, 1, 4),
        ("iron_hatchet", "woodcutting", "iron", 1, 2, 4),
        ("bronze_hatchet", "woodcutting", "bronze", 1, 3, 4),
        ("steel_pickaxe", "mining", "steel", 6, 1, 6),
        ("iron_pickaxe", "mining", "iron", 1, 2, 7),
        ("bronze_pickaxe", "mining", "bronze", 1, 3, 8),
        ("ice_auger", "fishing", "", 50, 1, 5),
        ("fly_rod", "fishing", "", 20, 2, 5),
        ("fishing_rod", "fishing", "", 10, 3, 5),
        ("fishing_net", "fishing", "", 1, 4, 5),
    ];
    rows.iter()
        .map(|r| {
            json!({"itemId": r.0, "skill": r.1, "tier": r.2, "levelRequired": r.3,
                "priority": r.4, "rollTicks": r.5})
        })
        .collect()
}

/// `bronze_dagger` as people write it.
fn words(id: &str) -> String {
    let text = id.replace('_', " ");
    text[..1].to_uppercase() + &text[1..]
}

fn unlock(level: i32, what: &str, kind: &str) -> Value {
    json!({"level": level, "description": what, "type": kind})
}

/// What can be gathered of a file of nodes.
fn gathered(file: &Value, list: &str) -> Vec<Value> {
    let nodes = file[list].as_array().cloned().unwrap_or_default();
    let level = |node: &Value| node["levelRequired"].as_i64().unwrap_or(1) as i32;
    let name = |node: &Value| node["name"].as_str().unwrap_or_default().to_owned();
    let kind = "item";
    nodes
        .iter()
        .map(|node| unlock(level(node), &name(node), kind))
        .collect()
}

#[rustfmt::skip]
fn by_hand(skill: &str) -> Vec<Value> {
    let rows: &[(i32, &str, &str)] = match skill {
        "attack" => &[(1, "Bronze and iron weapons", "item"), (5, "Steel weapons", "item"), (1, "Hitting things on purpose", "ability")],
        "strength" => &[(1, "Hitting things harder", "ability"), (20, "Opening jars, on request", "ability"), (50, "Carrying a point further than it wants to go", "ability"), (99, "Being asked to move furniture", "ability")],
        "defense" => &[(1, "Bronze and iron armour", "item"), (5, "Steel armour", "item"), (40, "Standing in doorways", "ability")],
        "constitution" => &[(10, "Ten points of health, as issued", "ability"), (25, "Second helpings", "ability"), (50, "Surviving your own cooking", "ability"), (99, "Ninety-nine points of health", "ability")],
        "ranged" => &[(1, "Crooked bow, plain arrows", "item"), (5, "Steel arrows", "item"), (20, "Willow bow", "item"), (30, "Maple bow", "item")],
        "agility" => &[(1, "Running, within reason", "ability"), (10, "Running for longer", "ability"), (30, "Arriving less out of breath", "ability"), (60, "Taking stairs two at a time", "ability"), (99, "Being there already", "ability")],
        "prayer" => &[(1, "Burying bones politely", "ability")],
        "woodcutting" => &[(6, "Steel hatchet", "item")],
        "mining" => &[(6, "Steel pickaxe", "item")],
        "crafting" => &[(1, "Having leather tanned", "activity")],
        _ => &[],
    };
    rows.iter().map(|r| unlock(r.0, r.1, r.2)).collect()
}

fn unlocks_of(skill: &str) -> Vec<Value> {
    let item = |level: i32, id: &str| unlock(level, &words(id), "item");
    let more: Vec<Value> = match skill {
        "prayer" => PRAYERS
            .iter()
            .map(|r| unlock(r.3, r.1, "ability"))
            .collect(),
        "magic" => [0, 1]
            .into_iter()
            .flat_map(spells)
            .map(|s| {
                let level = s["level"].as_i64().unwrap_or(1) as i32;
                unlock(level, s["name"].as_str().unwrap_or_default(), "ability")
            })
            .collect(),
        "woodcutting" => gathered(&catalog::trees(), "trees"),
        "mining" => gathered(&catalog::rocks(), "rocks"),
        "fishing" => gathered(&catalog::spots(), "spots"),
        "cooking" => making::COOKING.iter().map(|r| item(r.2, r.1)).collect(),
        "firemaking" => making::FIRES.iter().map(|r| item(r.1, r.0)).collect(),
        "smithing" => {
            let bars = making::BARS.iter().map(|r| item(r.2, r.0));
            let forged = making::forged();
            bars.chain(forged.iter().map(|r| item(r.3, &r.0))).collect()
        }
        "crafting" => making::CRAFTS.iter().map(|r| item(r.1, r.0)).collect(),
        "fletching" => making::FLETCHES.iter().map(|r| item(r.3, r.0)).collect(),
        "runecrafting" => making::RUNES.iter().map(|r| item(r.2, r.1)).collect(),
        _ => Vec::new(),
    };
    let mut all = by_hand(skill);
    all.extend(more);
    all.sort_by_key(|unlock| unlock["level"].as_i64());
    all
}

fn unlocks() -> Value {
    let skills = [
        "attack",
        "strength",
        "defense",
        "constitution",
        "ranged",
        "magic",
        "prayer",
        "woodcutting",
        "mining",
        "fishing",
        "firemaking",
        "cooking",
        "smithing",
        "agility",
        "crafting",
        "fletching",
        "runecrafting",
    ];
    let map: Map<String, Value> = skills
        .iter()
        .map(|skill| ((*skill).to_owned(), unlocks_of(skill).into()))
        .collect();
    json!({"skills": map})
}

/// The files about skills.
pub(crate) fn files() -> Vec<File> {
    let arrows = items::ARROWS.iter().map(|r| {
        json!({"id": r.0, "name": r.1, "rangedStrength": r.4, "requiredRangedLevel": r.5,
            "requiredBowTier": r.5})
    });
    let runes = items::RUNES.iter().map(|r| {
        let element = if r.4.is_empty() {
            Value::Null
        } else {
            json!(r.4)
        };
        json!({"id": r.0, "name": r.1, "element": element, "stackable": true})
    });
    vec![
        ("prayers.json", prayers()),
        (
            "combat-spells.json",
            json!({"standard": {"strike": spells(0), "bolt": spells(1)}}),
        ),
        ("tier-requirements.json", tiers()),
        ("tools.json", tools()),
        (
            "ammunition.json",
            json!({"arrows": arrows.collect::<Vec<_>>()}),
        ),
        (
            "runes.json",
            json!({"runes": runes.collect::<Vec<_>>(), "elementalStaves":
                [{"staffId": "weathervane_staff", "providesInfinite": ["gust_rune"]}]}),
        ),
        ("skill-unlocks.json", unlocks()),
    ]
}
