//! What can be made of what.

use serde_json::{Value, json};

use crate::catalog::File;

/// raw, cooked, level, xp, never burns from this level on a fire, on a range.
#[rustfmt::skip]
pub(crate) const COOKING: &[(&str, &str, i32, f64, i32, i32)] = &[
    ("raw_sprat", "sprat", 1, 30.0, 34, 33),
    ("raw_hen", "roast_hen", 1, 30.0, 34, 33),
    ("raw_beef", "roast_beef", 1, 30.0, 34, 33),
    ("raw_hare", "jugged_hare", 3, 35.0, 36, 34),
    ("raw_mackerel", "smoked_mackerel", 10, 60.0, 45, 41),
    ("raw_dace", "dace", 5, 50.0, 41, 37),
    ("raw_trout", "trout", 15, 70.0, 49, 46),
    ("raw_venison", "venison", 18, 75.0, 52, 48),
    ("raw_pike", "pike", 20, 80.0, 54, 50),
    ("raw_boar", "boar_roast", 20, 80.0, 54, 50),
    ("raw_frostfin", "frostfin", 45, 140.0, 86, 80),
];

/// log, level, xp.
#[rustfmt::skip]
pub(crate) const FIRES: &[(&str, i32, f64)] = &[
    ("logs", 1, 40.0), ("birch_logs", 5, 46.0), ("plum_logs", 8, 50.0), ("palm_logs", 10, 53.0),
    ("oak_logs", 15, 60.0), ("pine_logs", 25, 80.0), ("willow_logs", 30, 90.0),
    ("maple_logs", 45, 135.0), ("yew_logs", 60, 202.5),
];

/// bar, what it takes, level, xp, chance.
#[rustfmt::skip]
pub(crate) const BARS: &[(&str, &[(&str, i32)], i32, f64, f64)] = &[
    ("bronze_bar", &[("copper_ore", 1), ("tin_ore", 1)], 1, 6.2, 1.0),
    ("iron_bar", &[("iron_ore", 1)], 15, 12.5, 0.5),
    ("silver_bar", &[("silver_ore", 1)], 20, 13.7, 1.0),
    ("steel_bar", &[("iron_ore", 1), ("coal", 2)], 30, 17.5, 1.0),
];

/// What an anvil makes of a metal: name, bars, levels above the metal's own, category.
#[rustfmt::skip]
const FORGED: &[(&str, i32, i32, &str)] = &[
    ("dagger", 1, 0, "dagger"), ("hatchet", 1, 1, "hatchet"), ("helm", 2, 3, "full_helm"),
    ("shortsword", 1, 4, "sword"), ("pickaxe", 2, 5, "pickaxe"), ("longsword", 2, 6, "longsword"),
    ("shield", 3, 8, "kiteshield"), ("greaves", 3, 12, "platelegs"),
    ("breastplate", 5, 14, "platebody"),
];
/// Metals: level, xp for a bar.
const METALS: &[(&str, i32, f64)] = &[("bronze", 1, 12.5), ("iron", 15, 25.0), ("steel", 30, 37.5)];

/// output, level, xp, leather or silver it takes, category.
#[rustfmt::skip]
pub(crate) const CRAFTS: &[(&str, i32, f64, &str, i32, &str)] = &[
    ("leather_gloves", 1, 13.8, "leather", 1, "leather"),
    ("leather_boots", 7, 16.3, "leather", 1, "leather"),
    ("leather_coif", 9, 18.5, "leather", 1, "leather"),
    ("leather_body", 14, 25.0, "leather", 3, "leather"),
    ("leather_chaps", 18, 27.0, "leather", 2, "leather"),
    ("silver_ring", 20, 40.0, "silver_bar", 1, "jewelry"),
    ("button_amulet", 27, 50.0, "silver_bar", 1, "jewelry"),
];

/// output, how many, of what, level, xp, category, with a knife.
#[rustfmt::skip]
pub(crate) const FLETCHES: &[(&str, i32, &[(&str, i32)], i32, f64, &str, bool)] = &[
    ("arrow_shaft", 15, &[("logs", 1)], 1, 5.0, "arrow_shafts", true),
    ("arrow_shaft", 30, &[("oak_logs", 1)], 15, 10.0, "arrow_shafts", true),
    ("arrow_shaft", 45, &[("willow_logs", 1)], 30, 15.0, "arrow_shafts", true),
    ("arrow", 15, &[("arrow_shaft", 15), ("feather", 15)], 1, 15.0, "arrows", false),
    ("crooked_bow", 1, &[("plum_logs", 1), ("thread", 1)], 5, 12.0, "shortbows", true),
    ("willow_bow", 1, &[("willow_logs", 1), ("thread", 1)], 35, 33.3, "shortbows", true),
    ("maple_bow", 1, &[("maple_logs", 1), ("thread", 1)], 50, 50.0, "shortbows", true),
];

/// type, rune, level, xp for a slate, levels from which it gives one more.
#[rustfmt::skip]
pub(crate) const RUNES: &[(&str, &str, i32, f64, &[i32])] = &[
    ("air", "gust_rune", 1, 5.0, &[11, 22, 33, 44, 55, 66, 77, 88, 99]),
    ("mind", "thought_rune", 2, 5.5, &[14, 28, 42, 56, 70, 84, 98]),
    ("water", "dew_rune", 5, 6.0, &[19, 38, 57, 76, 95]),
    ("earth", "loam_rune", 9, 6.5, &[26, 52, 78]),
    ("fire", "spark_rune", 14, 7.0, &[35, 70]),
    ("chaos", "muddle_rune", 35, 8.5, &[74]),
];

/// What anvils make: output, metal, bars, level, xp, category.
pub(crate) fn forged() -> Vec<(String, &'static str, i32, i32, f64, &'static str)> {
    let of = |metal: &'static (&'static str, i32, f64)| {
        FORGED.iter().map(move |what| {
            let (bars, level) = (what.1, metal.1 + what.2);
            let output = format!("{}_{}", metal.0, what.0);
            (
                output,
                metal.0,
                bars,
                level,
                metal.2 * f64::from(bars),
                what.3,
            )
        })
    };
    METALS.iter().flat_map(of).collect()
}

fn parts(parts: &[(&str, i32)]) -> Value {
    let parts = parts.iter();
    parts
        .map(|(item, amount)| json!({"item": item, "amount": amount}))
        .collect()
}

fn recipes(rows: impl Iterator<Item = Value>) -> Value {
    json!({"recipes": rows.collect::<Vec<_>>()})
}

/// The files of recipes.
pub(crate) fn files() -> Vec<File> {
    let cooking = COOKING.iter().map(|r| {
        json!({"raw": r.0, "cooked": r.1, "burnt": "burnt_supper", "level": r.2, "xp": r.3,
            "ticks": 4, "stopBurnLevel": {"fire": r.4, "range": r.5}})
    });
    let fires = FIRES
        .iter()
        .map(|r| json!({"log": r.0, "level": r.1, "xp": r.2, "ticks": 4}));
    let bars = BARS.iter().map(|r| {
        json!({"output": r.0, "inputs": parts(r.1), "level": r.2, "xp": r.3, "ticks": 4,
            "successRate": r.4})
    });
    let forged = forged().into_iter().map(|r| {
        json!({"output": r.0, "bar": format!("{}_bar", r.1), "barsRequired": r.2, "level": r.3,
            "xp": r.4, "ticks": 4, "category": r.5})
    });
    let crafts = CRAFTS.iter().map(|r| {
        let silver = r.3 == "silver_bar";
        let consumables = if silver {
            json!([])
        } else {
            json!([{"item": "thread", "uses": 5}])
        };
        json!({"output": r.0, "category": r.5, "inputs": parts(&[(r.3, r.4)]),
            "tools": if silver { json!([]) } else { json!(["needle"]) },
            "consumables": consumables, "level": r.1, "xp": r.2, "ticks": 3,
            "station": if silver { "furnace" } else { "none" }})
    });
    let fletches = FLETCHES.iter().map(|r| {
        json!({"output": r.0, "outputQuantity": r.1, "category": r.5, "inputs": parts(r.2),
            "tools": if r.6 { json!(["knife"]) } else { json!([]) }, "level": r.3, "xp": r.4,
            "ticks": 2, "skill": "fletching"})
    });
    let runes = RUNES.iter().map(|r| {
        json!({"runeType": r.0, "runeItemId": r.1, "levelRequired": r.2, "xpPerEssence": r.3,
            "essenceTypes": ["blank_slate"], "multiRuneLevels": r.4})
    });
    let hides = [json!({"input": "cowhide", "output": "leather", "cost": 1, "name": "Leather"})];
    vec![
        ("recipes/cooking.json", recipes(cooking)),
        ("recipes/firemaking.json", recipes(fires)),
        ("recipes/smelting.json", recipes(bars)),
        ("recipes/smithing.json", recipes(forged)),
        ("recipes/crafting.json", recipes(crafts)),
        ("recipes/fletching.json", recipes(fletches)),
        ("recipes/runecrafting.json", recipes(runes)),
        ("recipes/tanning.json", recipes(hides.into_iter())),
    ]
}
