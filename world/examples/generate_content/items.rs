//! Everything that can be had.

use serde_json::{Value, json};

use crate::catalog::File;

/// id, name, description, value, stackable.
type ItemRow = (&'static str, &'static str, &'static str, i32, bool);

#[rustfmt::skip]
const RESOURCES: &[ItemRow] = &[
    ("logs", "Logs", "Bits of a tree that did not see it coming.", 4, false),
    ("birch_logs", "Birch logs", "Comes with its own stationery.", 8, false),
    ("oak_logs", "Oak logs", "Stubborn, even in pieces.", 16, false),
    ("willow_logs", "Willow logs", "Still a little sad.", 22, false),
    ("plum_logs", "Plum logs", "Smells of late summer.", 12, false),
    ("palm_logs", "Palm logs", "Lighter than expected.", 14, false),
    ("pine_logs", "Pine logs", "Sticky opinions.", 20, false),
    ("maple_logs", "Maple logs", "Sweet, if you are patient.", 40, false),
    ("yew_logs", "Yew logs", "Older than the argument about them.", 90, false),
    ("clay", "Clay", "Potential pot.", 3, false),
    ("copper_ore", "Copper ore", "Half of bronze.", 5, false),
    ("tin_ore", "Tin ore", "The other half.", 5, false),
    ("iron_ore", "Iron ore", "Rusts on principle.", 18, false),
    ("coal", "Coal", "A very old forest.", 25, false),
    ("silver_ore", "Silver ore", "Moonlight, before processing.", 60, false),
    ("starglass_shard", "Starglass shard", "Fell once. Has not forgiven the ground.", 160, false),
    ("feather", "Feather", "The bird wants it back.", 1, true),
    ("wool", "Wool", "A thought, unfinished.", 6, false),
    ("cowhide", "Cowhide", "Previously waiting for grass.", 8, false),
    ("bones", "Bones", "Somebody's inside.", 2, false),
    ("wolf_pelt", "Wolf pelt", "Warm now.", 30, false),
    ("bear_pelt", "Bear pelt", "Left alone at last.", 45, false),
    ("frost_pelt", "Frost pelt", "Never quite thaws.", 80, false),
    ("ice_claw", "Ice claw", "For breaking the ice.", 70, false),
    ("fox_brush", "Fox brush", "Sweeps suspicion away.", 12, false),
    ("goat_horn", "Goat horn", "Sounds like a goat.", 10, false),
    ("crab_claw", "Crab claw", "Still trying to leave sideways.", 6, false),
    ("lurker_moss", "Lurker moss", "It was wearing this.", 18, false),
    ("ash_pinch", "Pinch of ash", "Seasoning for nothing you should eat.", 5, true),
    ("ember_core", "Ember core", "Hums when nobody looks.", 400, false),
    ("acorn", "Acorn", "An oak, unwound.", 1, true),
    ("bronze_bar", "Bronze bar", "Two metals that made up their minds.", 12, false),
    ("iron_bar", "Iron bar", "Opens early.", 28, false),
    ("steel_bar", "Steel bar", "Iron with a coal habit.", 100, false),
    ("silver_bar", "Silver bar", "Every cloud mislaid one.", 150, false),
    ("leather", "Leather", "Creaks when complimented.", 12, false),
    ("grand_bones", "Grand bones", "Somebody large is missing these.", 10, false),
];

#[rustfmt::skip]
const RAW: &[ItemRow] = &[
    ("raw_sprat", "Raw sprat", "Barely worth the hook.", 3, false),
    ("raw_mackerel", "Raw mackerel", "Dressed for a party.", 8, false),
    ("raw_dace", "Raw dace", "River silver.", 7, false),
    ("raw_pike", "Raw pike", "Frowns.", 18, false),
    ("raw_trout", "Raw trout", "Freckled.", 14, false),
    ("raw_frostfin", "Raw frostfin", "Already chilled.", 34, false),
    ("raw_hen", "Raw hen", "Opinions removed.", 3, false),
    ("raw_beef", "Raw beef", "The wait is over.", 4, false),
    ("raw_hare", "Raw hare", "On time, for once.", 4, false),
    ("raw_venison", "Raw venison", "It saw you first. Did not help.", 9, false),
    ("raw_boar", "Raw boar", "Tough, like the original.", 8, false),
    ("toad_legs", "Toad legs", "Two per toad. Do not ask about the other two.", 3, false),
    ("odd_mushroom", "Odd mushroom", "One of a pair, usually.", 5, false),
];

/// id, name, description, value, heals.
#[rustfmt::skip]
const FOOD: &[(&str, &str, &str, i32, i32)] = &[
    ("bread", "Bread", "Patience with a crust on it.", 8, 3),
    ("plum", "Plum", "Round, as promised.", 2, 1),
    ("plum_jam", "Gran Damson's jam", "Undefeated.", 14, 4),
    ("hot_chestnuts", "Hot chestnuts", "Warm hands, warm heart, burnt tongue.", 5, 2),
    ("smoked_mackerel", "Smoked mackerel", "Overdressed, now over-smoked.", 18, 6),
    ("deep_stew", "Stew by the shaft-load", "We do not look back.", 20, 7),
    ("eel_soup", "Soup with a current", "Stir against the eel.", 24, 8),
    ("cheese", "Second-best cheese", "You should have seen the best.", 9, 3),
    ("sprat", "Sprat", "Gone in a bite. Regrets take longer.", 5, 3),
    ("dace", "Dace", "River silver, polished.", 11, 5),
    ("pike", "Pike", "Has stopped frowning.", 26, 8),
    ("trout", "Trout", "Freckled and content.", 20, 7),
    ("frostfin", "Frostfin", "Finally warm.", 50, 11),
    ("roast_hen", "Roast hen", "Her last word was thyme.", 6, 3),
    ("roast_beef", "Roast beef", "Worth the wait.", 8, 4),
    ("jugged_hare", "Jugged hare", "Slowed down at last.", 8, 4),
    ("venison", "Venison", "You saw it second.", 16, 6),
    ("boar_roast", "Boar roast", "Chew. Keep chewing.", 15, 6),
];

/// id, name, description, skill, value, tier, ticks between tries.
#[rustfmt::skip]
const TOOLS: &[(&str, &str, &str, &str, i32, &str, i32)] = &[
    ("bronze_hatchet", "Bronze hatchet", "Trees have started to worry. Slightly.", "woodcutting", 16, "bronze", 4),
    ("iron_hatchet", "Iron hatchet", "Trees have started to worry.", "woodcutting", 56, "iron", 4),
    ("steel_hatchet", "Steel hatchet", "Trees have written to their families.", "woodcutting", 200, "steel", 4),
    ("bronze_pickaxe", "Bronze pickaxe", "Picks. Axes. Is bronze.", "mining", 16, "bronze", 8),
    ("iron_pickaxe", "Iron pickaxe", "Argues with rocks, and wins.", "mining", 56, "iron", 7),
    ("steel_pickaxe", "Steel pickaxe", "Has never lost an argument.", "mining", 200, "steel", 6),
    ("fishing_net", "Small net", "Holes tied together with string.", "fishing", 5, "", 5),
    ("fishing_rod", "Fishing rod", "A stick that waits.", "fishing", 5, "", 5),
    ("fly_rod", "Fly rod", "A stick that waits with style.", "fishing", 9, "", 5),
    ("ice_auger", "Ice auger", "For fish that shut the door.", "fishing", 40, "", 5),
];

/// id, name, description, sort, attack, strength, value, tier, ticks between attacks, level.
type WeaponRow = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    i32,
    i32,
    i32,
    &'static str,
    i32,
    i32,
);

#[rustfmt::skip]
pub(crate) const WEAPONS: &[WeaponRow] = &[
    ("bronze_dagger", "Bronze dagger", "Pointed remark, in metal.", "DAGGER", 4, 3, 10, "bronze", 4, 1),
    ("bronze_shortsword", "Bronze shortsword", "Brevity.", "SWORD", 6, 5, 26, "bronze", 4, 1),
    ("bronze_longsword", "Bronze longsword", "The same thing, at length.", "LONGSWORD", 8, 7, 40, "bronze", 5, 1),
    ("iron_dagger", "Iron dagger", "A sharper remark.", "DAGGER", 7, 6, 35, "iron", 4, 1),
    ("iron_shortsword", "Iron shortsword", "The soul of wit.", "SWORD", 10, 9, 90, "iron", 4, 1),
    ("iron_longsword", "Iron longsword", "Goes on a bit.", "LONGSWORD", 13, 12, 140, "iron", 5, 1),
    ("steel_dagger", "Steel dagger", "The last word.", "DAGGER", 12, 10, 125, "steel", 4, 5),
    ("steel_shortsword", "Steel shortsword", "No further comment.", "SWORD", 16, 14, 325, "steel", 4, 5),
    ("steel_longsword", "Steel longsword", "A lecture.", "LONGSWORD", 20, 18, 500, "steel", 5, 5),
    ("steel_mace", "Steel mace", "For closed minds.", "MACE", 17, 19, 450, "steel", 5, 5),
    ("crooked_bow", "Crooked bow", "Aims where you should have.", "BOW", 6, 0, 30, "normal", 4, 1),
    ("willow_bow", "Willow bow", "Weeps for what it hits.", "BOW", 20, 0, 260, "willow", 4, 20),
    ("maple_bow", "Maple bow", "Blushes, then does not miss.", "BOW", 29, 0, 520, "maple", 4, 30),
    ("weathervane_staff", "Weathervane staff", "Always knows which way the wind is going.", "STAFF", 5, 2, 400, "elemental", 5, 1),
];

/// id, name, description, slot, tier, value, stab, slash, crush, against shots, against spells.
type ArmorRow = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    i32,
    [i32; 5],
);

#[rustfmt::skip]
pub(crate) const ARMOR: &[ArmorRow] = &[
    ("bronze_helm", "Bronze helm", "A bell you wear.", "helmet", "bronze", 30, [4, 5, 3, 4, -1]),
    ("bronze_breastplate", "Bronze breastplate", "Keeps the inside in.", "body", "bronze", 160, [15, 14, 9, 14, -6]),
    ("bronze_greaves", "Bronze greaves", "For standing your ground in.", "legs", "bronze", 80, [8, 7, 6, 7, -4]),
    ("bronze_shield", "Bronze shield", "A door without a house.", "shield", "bronze", 68, [5, 7, 6, 6, -1]),
    ("iron_helm", "Iron helm", "A heavier bell.", "helmet", "iron", 80, [6, 7, 5, 6, -1]),
    ("iron_breastplate", "Iron breastplate", "Hearts of oak sold separately.", "body", "iron", 560, [21, 20, 12, 20, -6]),
    ("iron_greaves", "Iron greaves", "Clank with conviction.", "legs", "iron", 280, [11, 10, 10, 10, -4]),
    ("iron_shield", "Iron shield", "A better door.", "shield", "iron", 240, [8, 10, 9, 9, -1]),
    ("steel_helm", "Steel helm", "Thoughts stay where they are put.", "helmet", "steel", 300, [9, 10, 7, 9, -1]),
    ("steel_breastplate", "Steel breastplate", "Chest, treasured.", "body", "steel", 2000, [32, 31, 24, 31, -6]),
    ("steel_greaves", "Steel greaves", "Shins like cathedrals.", "legs", "steel", 1000, [17, 16, 15, 16, -4]),
    ("steel_shield", "Steel shield", "Nobody is in.", "shield", "steel", 850, [13, 15, 14, 14, -1]),
    ("leather_coif", "Leather coif", "Hair, but braver.", "helmet", "leather", 20, [2, 3, 4, 2, 1]),
    ("leather_body", "Leather jerkin", "Was waiting for grass. Now waits for arrows.", "body", "leather", 24, [8, 9, 10, 9, 4]),
    ("leather_chaps", "Leather chaps", "Good chaps, both of them.", "legs", "leather", 22, [2, 2, 1, 4, 1]),
    ("leather_boots", "Leather boots", "Know the way home.", "boots", "leather", 8, [0, 1, 1, 1, 0]),
    ("leather_gloves", "Leather gloves", "Sleeves for fingers.", "gloves", "leather", 8, [0, 1, 1, 1, 0]),
    ("conical_hat", "Conical hat", "Points out the obvious.", "helmet", "wizard", 15, [0, 0, 0, 0, 3]),
    ("starry_robe", "Starry robe", "Accurate as of last Tuesday.", "body", "wizard", 20, [0, 0, 0, 0, 5]),
    ("patchwork_cape", "Patchwork cape", "Every patch has an alibi.", "cape", "basic", 30, [1, 1, 1, 1, 1]),
    ("button_amulet", "Button amulet", "Holds one thing together: you.", "amulet", "basic", 120, [1, 1, 1, 1, 1]),
    ("silver_ring", "Silver ring", "Goes all the way round.", "ring", "basic", 220, [0, 0, 0, 0, 2]),
];

/// id, name, description, value, what it adds to a shot, level.
#[rustfmt::skip]
pub(crate) const ARROWS: &[(&str, &str, &str, i32, i32, i32)] = &[
    ("arrow", "Arrow", "Knows the way.", 1, 5, 1),
    ("bronze_arrow", "Bronze arrow", "Knows a shortcut.", 2, 7, 1),
    ("iron_arrow", "Iron arrow", "Does not ask for directions.", 4, 10, 1),
    ("steel_arrow", "Steel arrow", "Arrives before it is invited.", 12, 16, 5),
];

/// id, name, description, value, element.
#[rustfmt::skip]
pub(crate) const RUNES: &[(&str, &str, &str, i32, &str)] = &[
    ("gust_rune", "Gust rune", "Will not lie still.", 4, "air"),
    ("dew_rune", "Dew rune", "Damp on all sides.", 4, "water"),
    ("loam_rune", "Loam rune", "Something is trying to grow on it.", 4, "earth"),
    ("spark_rune", "Spark rune", "Store away from the others.", 4, "fire"),
    ("thought_rune", "Thought rune", "It is thinking about you.", 3, ""),
    ("muddle_rune", "Muddle rune", "Is it upside down? It will not say.", 30, ""),
];

/// id, name, description, value, type.
#[rustfmt::skip]
const MISC: &[(&str, &str, &str, i32, &str)] = &[
    ("coins", "Coins", "Round arguments.", 1, "currency"),
    ("tinderbox", "Tinderbox", "Box of beginnings.", 1, "tool"),
    ("rope", "Rope", "One end is here.", 12, "misc"),
    ("lamp_oil", "Lamp oil", "Bottled evening.", 6, "misc"),
    ("candle", "Wyn's candle", "One end at a time.", 4, "misc"),
    ("ribbon", "Ribbon", "By the mile, sold by the arm.", 2, "misc"),
    ("bobber", "Bobber", "Nods along with the fish.", 1, "misc"),
    ("bucket", "Bucket", "Half full. Or so it says.", 2, "misc"),
    ("doubt", "Second thought", "Free with every purchase.", 0, "misc"),
    ("hammer", "Hammer", "Everything else is a nail.", 2, "tool"),
    ("knife", "Knife", "Gets the point across.", 6, "tool"),
    ("needle", "Needle", "Last seen in a haystack.", 1, "tool"),
    ("thread", "Thread", "The plot, or part of it.", 1, "misc"),
    ("arrow_shaft", "Arrow shaft", "An arrow in principle.", 1, "misc"),
    ("blank_slate", "Blank slate", "Full of possibility, and nothing else.", 4, "misc"),
    ("patient_lamp", "Patient lamp", "Rub it. It has been waiting to teach you something.", 0, "misc"),
    ("burnt_supper", "Burnt supper", "It was trying its best.", 0, "junk"),
];

/// In kilograms.
fn weight(id: &str, kind: &str) -> f64 {
    let ends = |end: &str| id.ends_with(end);
    match kind {
        "currency" | "ammunition" => 0.0,
        "weapon" => 1.8,
        "tool" => 0.9,
        "consumable" => 0.3,
        _ if ends("_ore") || id == "coal" || id == "clay" => 2.25,
        _ if ends("logs") => 2.0,
        _ if ends("_bar") => 1.8,
        _ if ends("_pelt") || ends("hide") => 1.5,
        _ => 0.4,
    }
}

fn item(id: &str, name: &str, kind: &str, about: &str, value: i32, stackable: bool) -> Value {
    let weight = if stackable { 0.0 } else { weight(id, kind) };
    json!({"id": id, "name": name, "type": kind, "description": about, "examine": about,
        "tradeable": value > 0, "rarity": "common", "value": value, "weight": weight,
        "iconPath": format!("asset://icons/{id}.png"), "stackable": stackable,
        "maxStackSize": if stackable { 2_147_483_647 } else { 1 }})
}

fn actions(it: &mut Value, first: &str) {
    it["inventoryActions"] = json!([first, "Use", "Drop", "Examine"]);
}

fn resources() -> Value {
    let rows = RESOURCES.iter().map(|r| {
        let mut it = item(r.0, r.1, "resource", r.2, r.3, r.4);
        let xp = match r.0 {
            "bones" => 4.5,
            "grand_bones" => 15.0,
            _ => return it,
        };
        it["prayerXp"] = json!(xp);
        it["buryLevelRequired"] = json!(1);
        actions(&mut it, "Bury");
        it
    });
    rows.collect()
}

fn food() -> Value {
    let raw = RAW
        .iter()
        .map(|r| item(r.0, r.1, "resource", r.2, r.3, r.4));
    let food = FOOD.iter().map(|r| {
        let mut it = item(r.0, r.1, "consumable", r.2, r.3, false);
        it["healAmount"] = json!(r.4);
        actions(&mut it, "Eat");
        it
    });
    food.chain(raw).collect()
}

fn tools() -> Value {
    let rows = TOOLS.iter().enumerate().map(|(n, r)| {
        let mut it = item(r.0, r.1, "tool", r.2, r.4, false);
        it["tool"] = json!({"skill": r.3, "priority": n + 1, "rollTicks": r.6});
        if r.5.is_empty() {
            return it;
        }
        it["tier"] = json!(r.5);
        it["equipSlot"] = json!("weapon");
        it["weaponType"] = json!(if r.3 == "mining" { "PICKAXE" } else { "AXE" });
        it["attackType"] = json!("MELEE");
        it["attackSpeed"] = json!(5);
        let power = match r.5 {
            "bronze" => 4,
            "iron" => 6,
            _ => 10,
        };
        it["bonuses"] = json!({"attackSlash": power, "attackCrush": power - 2,
            "meleeStrength": power + 1});
        actions(&mut it, "Wield");
        it
    });
    rows.collect()
}

fn weapons() -> Value {
    let rows = WEAPONS.iter().map(|r| {
        let mut it = item(r.0, r.1, "weapon", r.2, r.6, false);
        let (bow, staff) = (r.3 == "BOW", r.3 == "STAFF");
        it["tier"] = json!(r.7);
        it["equipSlot"] = json!(if bow { "2h" } else { "weapon" });
        it["weaponType"] = json!(r.3);
        it["attackType"] = json!(if bow { "RANGED" } else { "MELEE" });
        it["attackSpeed"] = json!(r.8);
        it["attackRange"] = json!(if bow { 7 } else { 1 });
        it["is2h"] = json!(bow);
        it["bonuses"] = match r.3 {
            "BOW" => json!({"attackRanged": r.4}),
            "MACE" => json!({"attackCrush": r.4, "attackStab": r.4 / 2, "meleeStrength": r.5,
                "prayer": 2}),
            "STAFF" => json!({"attackMagic": r.4, "attackCrush": 3, "meleeStrength": r.5}),
            _ => json!({"attackStab": r.4, "attackSlash": r.4 - 1, "meleeStrength": r.5}),
        };
        let skill = match r.3 {
            "BOW" => "ranged",
            "STAFF" => "magic",
            _ => "attack",
        };
        it["requirements"] = json!({"level": r.9, "skills": {skill: r.9}});
        if staff {
            it["providesInfiniteRunes"] = json!(["gust_rune"]);
        }
        actions(&mut it, "Wield");
        it
    });
    rows.collect()
}

fn armor() -> Value {
    let rows = ARMOR.iter().map(|r| {
        let mut it = item(r.0, r.1, "armor", r.2, r.5, false);
        let heavy = matches!(r.4, "bronze" | "iron" | "steel");
        let kilos = match r.3 {
            "body" => 8.0,
            "legs" | "shield" => 5.0,
            "helmet" => 2.0,
            _ => 0.5,
        };
        it["weight"] = json!(if heavy { kilos } else { kilos / 4.0 });
        it["tier"] = json!(r.4);
        it["equipSlot"] = json!(r.3);
        let [stab, slash, crush, shots, spells] = r.6;
        it["bonuses"] = json!({"defenseStab": stab, "defenseSlash": slash,
            "defenseCrush": crush, "defenseRanged": shots, "defenseMagic": spells});
        match r.4 {
            "leather" => it["bonuses"]["attackRanged"] = json!(stab / 2 + 1),
            "wizard" => it["bonuses"]["attackMagic"] = json!(spells),
            _ => {}
        }
        actions(&mut it, if r.3 == "shield" { "Wield" } else { "Wear" });
        it
    });
    rows.collect()
}

fn ammunition() -> Value {
    let rows = ARROWS.iter().map(|r| {
        let mut it = item(r.0, r.1, "ammunition", r.2, r.3, true);
        it["equipSlot"] = json!("arrows");
        it["bonuses"] = json!({"rangedStrength": r.4});
        it["requirements"] = json!({"level": r.5, "skills": {"ranged": r.5}});
        actions(&mut it, "Wield");
        it
    });
    rows.collect()
}

fn misc() -> Value {
    let rows = MISC.iter().map(|r| {
        let stackable = matches!(
            r.0,
            "coins" | "candle" | "ribbon" | "bobber" | "needle" | "thread" | "arrow_shaft"
        );
        let mut it = item(r.0, r.1, r.4, r.2, r.3, stackable);
        if r.0 == "patient_lamp" {
            it["useEffect"] = json!({"type": "xp_lamp", "xpAmount": 250, "consumeOnUse": true});
            actions(&mut it, "Rub");
        }
        it
    });
    rows.collect()
}

/// The files of items.
pub(crate) fn files() -> Vec<File> {
    let runes = RUNES
        .iter()
        .map(|r| item(r.0, r.1, "resource", r.2, r.3, true));
    vec![
        ("items/resources.json", resources()),
        ("items/food.json", food()),
        ("items/tools.json", tools()),
        ("items/weapons.json", weapons()),
        ("items/armor.json", armor()),
        ("items/ammunition.json", ammunition()),
        ("items/runes.json", runes.collect()),
        ("items/misc.json", misc()),
    ]
}
