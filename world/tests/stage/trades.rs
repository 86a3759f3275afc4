//! Resources and stations of the stage: a few of each sort, and one recipe or two of each trade.
//! Names with `sure` succeed at every level; names with `hopeless` never do.

use serde_json::{Value, json};

/// Returns the items.
pub(super) fn items() -> Vec<Value> {
    let plain = [
        "elm_logs",
        "oak_logs",
        "copper_ore",
        "tin_ore",
        "iron_ore",
        "coal",
        "gem",
        "bronze_bar",
        "iron_bar",
        "steel_bar",
        "dagger",
        "helm",
        "raw_trout",
        "raw_shark",
        "burnt_trout",
        "hide",
        "leather",
        "gloves",
        "boots",
        "jewel",
        "cut_gem",
        "hammer",
        "needle",
        "chisel",
        "knife",
        "net",
        "ashes",
        "essence",
    ];
    let stackable = [
        "bait", "thread", "shaft", "feather", "headless", "tip", "fletched", "rune",
    ];
    let plain = plain.iter().map(|id| json!({"id": id, "name": id}));
    let many = stackable.iter();
    let many = many.map(|id| json!({"id": id, "name": id, "stackable": true}));
    let food = ["trout", "shark"];
    let food = food
        .iter()
        .map(|id| json!({"id": id, "name": id, "healAmount": 7}));
    let tools = [
        ("bronze_hatchet", "woodcutting"),
        ("steel_hatchet", "woodcutting"),
        ("bronze_pickaxe", "mining"),
        ("rune_pickaxe", "mining"),
    ];
    let tools = tools.iter().map(|(id, skill)| {
        json!({"id": id, "name": id, "equipSlot": "weapon", "weaponType": "AXE",
            "tool": {"skill": skill, "priority": 1}})
    });
    plain.chain(many).chain(food).chain(tools).collect()
}

/// Returns the other manifests.
pub(super) fn manifests() -> Vec<(&'static str, Value)> {
    let sure = json!({"low": 256, "high": 256});
    let trees = json!({"trees": [
        {"id": "elm", "name": "Elm", "type": "tree", "harvestSkill": "woodcutting",
            "toolRequired": "bronze_hatchet", "levelRequired": 1, "baseCycleTicks": 4,
            "depleteChance": 1, "respawnTicks": 8, "harvestYield": [
                {"itemId": "elm_logs", "quantity": 1, "xpAmount": 25, "successRate": sure}]},
        {"id": "thicket", "name": "Thicket", "type": "tree", "harvestSkill": "woodcutting",
            "toolRequired": "bronze_hatchet", "levelRequired": 1, "baseCycleTicks": 4,
            "depleteChance": 0, "respawnTicks": 8, "harvestYield": [
                {"itemId": "elm_logs", "quantity": 1, "xpAmount": 0.5, "successRate": sure}]},
        {"id": "great_oak", "name": "Great oak", "type": "tree", "harvestSkill": "woodcutting",
            "toolRequired": "bronze_hatchet", "levelRequired": 15, "baseCycleTicks": 4,
            "depleteChance": 0.125, "respawnTicks": 14, "harvestYield": [
                {"itemId": "oak_logs", "quantity": 1, "xpAmount": 37.5, "successRate": sure}]},
        {"id": "oak", "name": "Oak", "type": "tree", "examine": "Old.", "levelRequired": 15},
        {"id": "trout", "name": "Trout", "type": "fishing_spot", "examine": "Splash."},
    ]});
    let rocks = json!({"rocks": [
        {"id": "copper", "name": "Copper rock", "type": "ore", "harvestSkill": "mining",
            "toolRequired": "pickaxe", "levelRequired": 1, "baseCycleTicks": 4,
            "depleteChance": 1, "respawnTicks": 4, "harvestYield": [
                {"itemId": "copper_ore", "quantity": 1, "xpAmount": 17.5, "successRate": sure},
                {"itemId": "gem", "quantity": 1, "chance": 1, "xpAmount": 0}]},
        {"id": "monolith", "name": "Monolith", "type": "ore", "harvestSkill": "mining",
            "toolRequired": "pickaxe", "levelRequired": 1, "baseCycleTicks": 4,
            "depleteChance": 1, "respawnTicks": 300, "harvestYield": [
                {"itemId": "coal", "quantity": 1, "xpAmount": 50, "successRate": sure}]},
    ]});
    let spots = json!({"spots": [
        {"id": "shoal", "name": "Shoal", "type": "fishing_spot", "harvestSkill": "fishing",
            "toolRequired": "net", "secondaryRequired": "bait", "levelRequired": 1,
            "baseCycleTicks": 4, "depleteChance": 0, "respawnTicks": 0, "harvestYield": [
                {"itemId": "raw_trout", "quantity": 1, "xpAmount": 50, "levelRequired": 1,
                    "catchLow": 256, "catchHigh": 256},
                {"itemId": "raw_shark", "quantity": 1, "xpAmount": 110, "levelRequired": 76,
                    "catchLow": 256, "catchHigh": 256}]},
    ]});
    let tools = json!([
        {"itemId": "bronze_hatchet", "skill": "woodcutting", "tier": "bronze",
            "levelRequired": 1, "priority": 1, "rollTicks": 4},
        {"itemId": "steel_hatchet", "skill": "woodcutting", "tier": "steel",
            "levelRequired": 6, "priority": 3, "rollTicks": 4},
        {"itemId": "bronze_pickaxe", "skill": "mining", "tier": "bronze",
            "levelRequired": 1, "priority": 8, "rollTicks": 8},
        {"itemId": "rune_pickaxe", "skill": "mining", "tier": "rune",
            "levelRequired": 41, "priority": 1, "rollTicks": 3},
    ]);
    let mut all = vec![
        ("gathering/woodcutting.json", trees),
        ("gathering/mining.json", rocks),
        ("gathering/fishing.json", spots),
        ("tools.json", tools),
    ];
    all.extend(recipes());
    all
}

fn recipes() -> Vec<(&'static str, Value)> {
    let of = |recipes: Value| json!({ "recipes": recipes });
    let one = |item: &str| json!([{"item": item, "amount": 1}]);
    let both =
        |a: &str, b: &str, n: u32| json!([{"item": a, "amount": n}, {"item": b, "amount": n}]);
    let iron = json!([{"item": "iron_ore", "amount": 1}, {"item": "coal", "amount": 2}]);
    let thread = json!([{"item": "thread", "uses": 5}]);
    vec![
        (
            "recipes/cooking.json",
            of(json!([
                {"raw": "raw_trout", "cooked": "trout", "burnt": "burnt_trout", "level": 1, "xp": 70,
                    "ticks": 4, "stopBurnLevel": {"fire": 1, "range": 1}},
                {"raw": "raw_shark", "cooked": "shark", "burnt": "burnt_trout", "level": 80,
                    "xp": 210, "ticks": 4, "stopBurnLevel": {"fire": 99, "range": 90}},
            ])),
        ),
        (
            "recipes/firemaking.json",
            of(json!([
                {"log": "logs", "level": 1, "xp": 40, "ticks": 4},
                {"log": "oak_logs", "level": 15, "xp": 60, "ticks": 4},
            ])),
        ),
        (
            "recipes/smelting.json",
            of(json!([
                {"output": "bronze_bar", "inputs": both("copper_ore", "tin_ore", 1), "level": 1,
                    "xp": 6.2, "ticks": 4, "successRate": 1},
                {"output": "iron_bar", "inputs": one("iron_ore"), "level": 15, "xp": 12.5,
                    "ticks": 4, "successRate": 0.5},
                {"output": "steel_bar", "inputs": iron, "level": 30, "xp": 17.5, "ticks": 4,
                    "successRate": 1},
            ])),
        ),
        (
            "recipes/smithing.json",
            of(json!([
                {"output": "dagger", "bar": "bronze_bar", "barsRequired": 1, "level": 1,
                    "xp": 12.5, "ticks": 4, "category": "dagger"},
                {"output": "helm", "bar": "bronze_bar", "barsRequired": 2, "level": 1, "xp": 25,
                    "ticks": 4, "category": "full_helm"},
                {"output": "tip", "bar": "bronze_bar", "barsRequired": 1, "level": 5, "xp": 12.5,
                    "ticks": 4, "category": "arrowtips", "outputQuantity": 15},
            ])),
        ),
        (
            "recipes/crafting.json",
            of(json!([
                {"output": "gloves", "category": "leather", "inputs": one("leather"),
                    "tools": ["needle"], "consumables": thread, "level": 1, "xp": 13.8, "ticks": 3,
                    "station": "none"},
                {"output": "boots", "category": "leather", "inputs": one("leather"),
                    "tools": ["needle"], "consumables": thread, "level": 7, "xp": 16.3, "ticks": 3,
                    "station": "none"},
                {"output": "jewel", "category": "jewelry", "inputs": one("gem"), "tools": [],
                    "consumables": [], "level": 5, "xp": 15, "ticks": 3, "station": "furnace"},
                {"output": "cut_gem", "category": "gem_cutting", "inputs": one("gem"),
                    "tools": ["chisel"], "consumables": [], "level": 1, "xp": 50, "ticks": 2,
                    "station": "none"},
            ])),
        ),
        (
            "recipes/fletching.json",
            of(json!([
                {"output": "shaft", "outputQuantity": 15, "category": "arrow_shafts",
                    "inputs": one("logs"), "tools": ["knife"], "level": 1, "xp": 5, "ticks": 2},
                {"output": "shaft", "outputQuantity": 30, "category": "arrow_shafts",
                    "inputs": one("oak_logs"), "tools": ["knife"], "level": 15, "xp": 10,
                    "ticks": 2},
                {"output": "headless", "outputQuantity": 15, "category": "headless_arrows",
                    "inputs": both("shaft", "feather", 15), "tools": [], "level": 1, "xp": 15,
                    "ticks": 1},
                {"output": "fletched", "outputQuantity": 15, "category": "arrows",
                    "inputs": both("headless", "tip", 15), "tools": [], "level": 1, "xp": 19.5,
                    "ticks": 1},
            ])),
        ),
        (
            "recipes/tanning.json",
            of(json!([
                {"input": "hide", "output": "leather", "cost": 3, "name": "Leather"},
            ])),
        ),
        (
            "recipes/runecrafting.json",
            of(json!([
                {"runeType": "air", "runeItemId": "rune", "levelRequired": 1, "xpPerEssence": 5,
                    "essenceTypes": ["essence"], "multiRuneLevels": [11, 22]},
            ])),
        ),
    ]
}
