//! Animals and monsters, from hens to golems.

use serde_json::{Value, json};

/// id, name, description, level, health, aggressive, speed (units/s), biome, drops with chances.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    i32,
    i32,
    bool,
    f64,
    &'static str,
    &'static [(&'static str, f64)],
);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("opinionated_hen", "Opinionated Hen", "Has views. Shares them.", 1, 3, false, 1.7, "farmland", &[("feather", 0.8), ("raw_hen", 1.0)]),
    ("pigeon", "Pigeon", "Municipal.", 1, 2, false, 1.7, "commons", &[("feather", 0.5)]),
    ("town_cat", "Town Cat", "Employs several families.", 1, 6, false, 3.4, "commons", &[]),
    ("duck", "Duck", "Unsinkable, so far.", 1, 3, false, 1.7, "lakeland", &[("feather", 0.6)]),
    ("woolly_philosopher", "Woolly Philosopher", "A sheep that chews things over.", 1, 6, false, 1.7, "farmland", &[("wool", 1.0)]),
    ("patient_cow", "Patient Cow", "Waiting for something. Grass, probably.", 2, 8, false, 1.7, "farmland", &[("raw_beef", 1.0), ("cowhide", 1.0)]),
    ("meadow_hare", "Meadow Hare", "Late for something.", 1, 4, false, 3.4, "plains", &[("raw_hare", 1.0)]),
    ("field_rat", "Field Rat", "Thinks of it as his field.", 3, 5, false, 1.7, "plains", &[("bones", 1.0)]),
    ("furious_goose", "Furious Goose", "Do not make eye contact.", 5, 9, true, 3.4, "lakeland", &[("feather", 1.0)]),
    ("red_fox", "Red Fox", "Just passing the hen house, officer.", 4, 8, false, 3.4, "plains", &[("fox_brush", 0.4)]),
    ("curious_squirrel", "Curious Squirrel", "What is that? And that? And that?", 1, 3, false, 3.4, "forest", &[("acorn", 0.7)]),
    ("deer", "Deer", "Saw you first.", 3, 9, false, 3.4, "forest", &[("raw_venison", 1.0)]),
    ("wild_boar", "Wild Boar", "A pig that has read the small print.", 9, 14, true, 1.7, "forest", &[("raw_boar", 1.0), ("bones", 1.0)]),
    ("mushroomling", "Mushroomling", "Half vegetable, half grudge.", 6, 8, false, 1.7, "forest", &[("odd_mushroom", 0.8)]),
    ("heron", "Heron", "One leg at a time.", 2, 5, false, 1.7, "lakeland", &[("feather", 0.9)]),
    ("harbour_gull", "Harbour Gull", "That was your lunch.", 1, 3, false, 3.4, "seaside", &[("feather", 0.5)]),
    ("sidestep_crab", "Sidestep Crab", "Avoids the question.", 4, 7, false, 1.7, "seaside", &[("crab_claw", 0.6)]),
    ("mountain_goat", "Mountain Goat", "The only thing here that is never lost.", 7, 12, false, 1.7, "hills", &[("goat_horn", 0.4), ("bones", 1.0)]),
    ("stone_gnawer", "Stone Gnawer", "Eats gravel. Would rather have you.", 16, 22, true, 1.7, "hills", &[("copper_ore", 0.3), ("tin_ore", 0.3)]),
    ("toll_collector", "Freelance Toll Collector", "No road, no uniform, very firm on the toll.", 14, 18, true, 1.7, "heath", &[("coins", 1.0), ("bones", 1.0)]),
    ("grey_wolf", "Grey Wolf", "Hungry in the polite way: quietly.", 18, 24, true, 3.4, "deepwood", &[("wolf_pelt", 0.5), ("bones", 1.0)]),
    ("brown_bear", "Brown Bear", "Would like to be left alone. Loudly.", 24, 34, true, 1.7, "deepwood", &[("bear_pelt", 0.5), ("bones", 1.0)]),
    ("bog_toad", "Bog Toad", "Warm, wet, unimpressed.", 8, 10, false, 1.7, "swamp", &[("toad_legs", 0.8)]),
    ("marsh_lurker", "Marsh Lurker", "You would not see it. That is the job.", 21, 28, true, 1.7, "swamp", &[("lurker_moss", 0.5)]),
    ("midge_cloud", "Cloud of Midges", "Attacks from all sides, weakly.", 11, 6, true, 1.7, "swamp", &[]),
    ("snow_hare", "Snow Hare", "Invisible until it sneezes.", 6, 6, false, 3.4, "snowfield", &[("raw_hare", 1.0)]),
    ("penguin_accountant", "Penguin Accountant", "Dressed for the audit.", 9, 10, false, 1.7, "snowfield", &[("feather", 0.7), ("raw_frostfin", 0.5)]),
    ("frost_wolf", "Frost Wolf", "Its bite is worse, and cold.", 34, 42, true, 3.4, "snowfield", &[("frost_pelt", 0.5), ("bones", 1.0)]),
    ("ice_bear", "Ice Bear", "Breaks the ice in every sense.", 46, 60, true, 1.7, "snowfield", &[("ice_claw", 0.4), ("bones", 1.0)]),
    ("cinder_imp", "Cinder Imp", "Small, hot, and bad at goodbyes.", 38, 36, true, 3.4, "ashland", &[("ash_pinch", 1.0)]),
    ("ash_hound", "Ash Hound", "Good boy? No.", 52, 55, true, 3.4, "ashland", &[("bones", 1.0), ("ash_pinch", 0.6)]),
    ("ember_golem", "Ember Golem", "Built to last. Outlasted the builders.", 68, 90, true, 1.7, "ashland", &[("starglass_shard", 0.2), ("ember_core", 0.1)]),
];

fn drops(rows: &[(&str, f64)]) -> Value {
    let drop = |&(item, chance): &(&str, f64)| {
        let most = if item == "coins" { 12 } else { 1 };
        let rarity = if chance >= 1.0 { "always" } else { "common" };
        json!({"itemId": item, "minQuantity": 1, "maxQuantity": most, "chance": chance,
            "rarity": rarity})
    };
    let (always, common): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.1 >= 1.0);
    json!({"defaultDrop": {"enabled": false, "itemId": "bones", "quantity": 1},
        "always": always.into_iter().map(drop).collect::<Vec<_>>(),
        "common": common.into_iter().map(drop).collect::<Vec<_>>(),
        "uncommon": [], "rare": [], "veryRare": []})
}

/// Every record.
pub(crate) fn all() -> Vec<Value> {
    ROWS.iter()
        .map(
            |&(id, name, about, level, health, fierce, speed, biome, loot)| {
                let power = (level * 4 / 5).max(1);
                json!({"id": id, "name": name, "description": about, "category": "mob",
                "faction": if fierce { "monster" } else { "animal" },
                "stats": {"level": level, "health": health, "attack": power, "strength": power,
                    "defense": power, "ranged": 1, "magic": 1},
                "combat": {"attackable": id != "town_cat", "aggressive": fierce,
                    "retaliates": level > 2, "aggroRange": if fierce { 5 } else { 0 },
                    "combatRange": 1, "leashRange": 10, "attackSpeedTicks": 4,
                    "respawnTicks": 40, "attackType": "melee"},
                "movement": {"type": "wander", "speed": speed, "wanderRadius": 6},
                "drops": drops(loot), "spawnBiomes": [biome],
                "appearance": {"modelPath": format!("asset://models/{id}.glb"), "scale": 1}})
            },
        )
        .collect()
}
