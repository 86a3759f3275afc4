//! Biomes, stores, what can be gathered, and the furnishings of towns.

use serde_json::{Value, json};

use crate::{items, making, skills};

pub(crate) type File = (&'static str, Value);

/// Every catalogue file.
pub(crate) fn files() -> Vec<File> {
    let mut files = vec![
        ("biomes.json", biomes()),
        ("stores.json", stores()),
        ("stations.json", stations()),
        ("music.json", music()),
        ("gathering/woodcutting.json", trees()),
        ("gathering/mining.json", rocks()),
        ("gathering/fishing.json", spots()),
    ];
    files.extend(items::files());
    files.extend(making::files());
    files.extend(skills::files());
    files
}

/// id, name, terrain, level, primary colour, secondary colour, height from and to.
type BiomeRow = (
    &'static str,
    &'static str,
    &'static str,
    i32,
    &'static str,
    &'static str,
    [i32; 2],
);

#[rustfmt::skip]
const BIOMES: &[BiomeRow] = &[
    ("commons", "Commons", "plains", 0, "#7fae5a", "#c9b98f", [12, 14]),
    ("plains", "Meadowland", "plains", 1, "#86b65c", "#a8c66a", [10, 18]),
    ("farmland", "Farmland", "plains", 1, "#9bb85a", "#b08a55", [10, 16]),
    ("forest", "Fernwood", "forest", 1, "#5f8f4a", "#3f6f3c", [12, 22]),
    ("lakeland", "Lakeland", "lake", 1, "#7db47a", "#5f9fc0", [8, 13]),
    ("seaside", "Seaside", "plains", 1, "#d9c98f", "#7fb3c8", [7, 12]),
    ("heath", "Heath", "plains", 2, "#a0a860", "#b58fb0", [12, 22]),
    ("deepwood", "Deepwood", "forest", 2, "#47713f", "#2f5236", [14, 26]),
    ("swamp", "Mire", "swamp", 2, "#67753f", "#4f5f45", [6, 10]),
    ("hills", "Hills", "mountains", 2, "#93a064", "#8f887a", [18, 36]),
    ("mountains", "Ridge", "mountains", 3, "#8b8578", "#6f6a66", [30, 50]),
    ("snowfield", "Snowfield", "frozen", 3, "#e6eef2", "#b9d3df", [20, 34]),
    ("ashland", "Ashland", "canyon", 3, "#6e655f", "#b8502e", [16, 30]),
];

fn ground_of(id: &str) -> (Value, Value) {
    match id {
        "commons" => (json!([["grass", 80], ["meadow", 20]]), json!([])),
        "plains" => (
            json!([["grass", 52], ["meadow", 42], ["dirt", 6]]),
            json!([["hedge", 7], ["rock", 3]]),
        ),
        "farmland" => (
            json!([["grass", 55], ["meadow", 38], ["dirt", 7]]),
            json!([["hedge", 6], ["rock", 1]]),
        ),
        "forest" => (
            json!([["forest_floor", 66], ["grass", 28], ["meadow", 6]]),
            json!([["hedge", 48], ["rock", 3]]),
        ),
        "lakeland" => (
            json!([["meadow", 50], ["grass", 46], ["sand", 4]]),
            json!([["hedge", 10]]),
        ),
        "seaside" => (
            json!([["grass", 58], ["sand", 30], ["meadow", 12]]),
            json!([["hedge", 5], ["rock", 3]]),
        ),
        "heath" => (
            json!([["meadow", 56], ["grass", 26], ["dirt", 18]]),
            json!([["hedge", 22], ["rock", 8]]),
        ),
        "deepwood" => (
            json!([["forest_floor", 84], ["grass", 16]]),
            json!([["hedge", 75], ["rock", 5]]),
        ),
        "swamp" => (
            json!([
                ["swamp", 50],
                ["forest_floor", 20],
                ["shallows", 18],
                ["grass", 12]
            ]),
            json!([["hedge", 26]]),
        ),
        "hills" => (
            json!([["grass", 56], ["dirt", 24], ["meadow", 20]]),
            json!([["rock", 30], ["hedge", 10]]),
        ),
        "mountains" => (
            json!([["dirt", 52], ["grass", 30], ["snow", 18]]),
            json!([["rock", 70], ["hedge", 8]]),
        ),
        "snowfield" => (
            json!([["snow", 90], ["ice", 6], ["dirt", 4]]),
            json!([["hedge", 26], ["rock", 10]]),
        ),
        _ => (
            json!([["ash", 86], ["dirt", 14]]),
            json!([["rock", 26], ["lava", 5]]),
        ),
    }
}

fn biomes() -> Value {
    BIOMES
        .iter()
        .map(|&(id, name, terrain, level, primary, secondary, height)| {
            let (grounds, scatter) = ground_of(id);
            let color = i64::from_str_radix(&primary[1..], 16).unwrap_or(0);
            json!({"id": id, "name": name, "description": format!("{name}, as far as it goes."),
                "difficultyLevel": level, "terrain": terrain, "resources": [], "mobs": [],
                "fogIntensity": if id == "swamp" { 0.5 } else { 0.1 },
                "ambientSound": format!("{id}_ambience"),
                "colorScheme": {"primary": primary, "secondary": secondary, "fog": "#dfe8ea"},
                "color": color, "heightRange": height, "terrainMultiplier": 1, "waterLevel": 5,
                "maxSlope": 0.7, "mobTypes": [], "difficulty": level, "baseHeight": height[0],
                "heightVariation": height[1] - height[0], "resourceDensity": 0.2,
                "resourceTypes": [], "grounds": grounds, "scatter": scatter})
        })
        .collect()
}

#[rustfmt::skip]
fn stores() -> Value {
    let shops: [(&str, &str, &str, &[&str]); 11] = [
        ("sundry_and_daughters", "Sundry & Daughters", "One of everything and two of most.", &["tinderbox", "rope", "bucket", "candle", "bronze_hatchet", "bronze_pickaxe", "fishing_net", "ribbon"]),
        ("warm_anvil", "The Warm Anvil", "Hot side away from you.", &["bronze_dagger", "bronze_shortsword", "iron_dagger", "iron_shortsword", "iron_hatchet", "iron_pickaxe", "bronze_helm", "bronze_shield", "hammer"]),
        ("risen_crust", "The Risen Crust", "Up since yesterday.", &["bread", "hot_chestnuts", "cheese"]),
        ("net_and_knot", "Net & Knot", "It is all in the knot.", &["fishing_net", "fishing_rod", "fly_rod", "bobber", "rope", "smoked_mackerel"]),
        ("damson_stall", "Gran Damson's Stall", "Undefeated since the wet summer.", &["plum", "plum_jam", "bread"]),
        ("bent_bough", "The Bent Bough", "Lets go at the right moment.", &["crooked_bow", "arrow", "feather", "bronze_hatchet", "knife", "needle", "thread"]),
        ("melting_point", "The Melting Point", "Do not lick it.", &["bronze_pickaxe", "iron_pickaxe", "lamp_oil", "deep_stew"]),
        ("wyns_wicks", "Wyn's Wicks", "Two hundred candles, one birthday.", &["candle", "tinderbox", "ice_auger", "lamp_oil"]),
        ("granny_sumps", "Granny Sump's", "The soup has a current.", &["eel_soup", "toad_legs", "odd_mushroom"]),
        ("second_thoughts", "Outfitter of Second Thoughts", "The doubts are free.", &["rope", "lamp_oil", "bread", "iron_shortsword", "doubt"]),
        ("lamp_stall", "Stall of Lamps", "Dark outside? Darker down there.", &["lamp_oil", "candle"]),
    ];
    let sold = items::files();
    let all: Vec<&Value> = sold.iter().filter_map(|f| f.1.as_array()).flatten().collect();
    shops
        .iter()
        .map(|&(id, name, about, goods)| {
            let rows: Vec<Value> = goods
                .iter()
                .filter_map(|good| all.iter().find(|it| it["id"] == *good))
                .map(|it| json!({"id": format!("{id}_{}", it["id"].as_str().unwrap_or_default()),
                    "itemId": it["id"], "name": it["name"], "price": it["value"].as_i64().unwrap_or(0) * 13 / 10 + 1,
                    "stockQuantity": 10, "restockTime": 100, "description": it["description"], "category": it["type"]}))
                .collect();
            json!({"id": id, "name": name, "description": about, "buyback": true, "buybackRate": 0.5, "items": rows})
        })
        .collect()
}

/// What one swing, pick or cast may give.
struct Yield {
    item: &'static str,
    level: i32,
    xp: f64,
    chance: f64,
}

/// Ids, names, and texts of a node; its tool, level, yield, depletion and respawn.
type NodeRow = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Yield,
    f64,
    i32,
);

fn node(kind: &str, skill: &str, row: &NodeRow) -> Value {
    let (id, name, examine, tool, gain, deplete, respawn) = row;
    json!({"id": id, "name": name, "type": kind, "examine": examine,
        "modelPath": format!("asset://models/{id}.glb"), "depletedModelPath": null, "scale": 1,
        "depletedScale": 0.4, "harvestSkill": skill, "toolRequired": tool,
        "levelRequired": gain.level, "baseCycleTicks": 4, "depleteChance": deplete,
        "respawnTicks": respawn,
        "harvestYield": [{"itemId": gain.item, "itemName": gain.item.replace('_', " "),
            "quantity": 1, "chance": gain.chance, "xpAmount": gain.xp, "stackable": false}]})
}

fn gain(item: &'static str, level: i32, xp: f64, chance: f64) -> Yield {
    Yield {
        item,
        level,
        xp,
        chance,
    }
}

#[rustfmt::skip]
pub(crate) fn trees() -> Value {
    let axe = "bronze_hatchet";
    let rows: [NodeRow; 9] = [
        ("tree_normal", "Tree", "Does most of its work standing.", axe, gain("logs", 1, 25.0, 1.0), 1.0, 80),
        ("tree_birch", "Birch", "Dressed in its own paper.", axe, gain("birch_logs", 5, 31.0, 0.9), 0.5, 80),
        ("tree_oak", "Oak", "Has been meaning to move for three hundred years.", axe, gain("oak_logs", 15, 37.5, 0.8), 0.125, 90),
        ("tree_plum", "Plum tree", "Bends down to be helpful.", axe, gain("plum_logs", 8, 30.0, 0.8), 0.3, 70),
        ("tree_palm", "Palm", "On holiday all year.", axe, gain("palm_logs", 10, 33.0, 0.8), 0.3, 80),
        ("tree_willow", "Willow", "Weeps, but will not say why.", axe, gain("willow_logs", 30, 67.5, 0.7), 0.125, 100),
        ("tree_pine", "Pine", "Green when everything else has given up.", axe, gain("pine_logs", 25, 55.0, 0.75), 0.2, 100),
        ("tree_maple", "Maple", "Red in the face all autumn.", axe, gain("maple_logs", 45, 100.0, 0.6), 0.125, 120),
        ("tree_yew", "Yew", "It was here before you. It was here before here.", axe, gain("yew_logs", 60, 175.0, 0.4), 0.125, 200),
    ];
    json!({"trees": rows.iter().map(|r| node("tree", "woodcutting", r)).collect::<Vec<_>>()})
}

#[rustfmt::skip]
pub(crate) fn rocks() -> Value {
    let rows: [NodeRow; 7] = [
        ("rock_clay", "Clay bank", "Soft-hearted.", "pickaxe", gain("clay", 1, 5.0, 1.0), 1.0, 4),
        ("rock_copper", "Copper rock", "Blushes green.", "pickaxe", gain("copper_ore", 1, 17.5, 0.9), 1.0, 6),
        ("rock_tin", "Tin rock", "Modest.", "pickaxe", gain("tin_ore", 1, 17.5, 0.9), 1.0, 6),
        ("rock_iron", "Iron rock", "Unmoved.", "pickaxe", gain("iron_ore", 15, 35.0, 0.8), 1.0, 9),
        ("rock_coal", "Coal seam", "A forest that waited.", "pickaxe", gain("coal", 30, 50.0, 0.7), 1.0, 50),
        ("rock_silver", "Silver vein", "Glints when ignored.", "pickaxe", gain("silver_ore", 40, 65.0, 0.6), 1.0, 100),
        ("rock_starglass", "Starglass", "Warm, and a little offended.", "pickaxe", gain("starglass_shard", 60, 120.0, 0.4), 1.0, 200),
    ];
    json!({"rocks": rows.iter().map(|r| node("ore", "mining", r)).collect::<Vec<_>>()})
}

#[rustfmt::skip]
pub(crate) fn spots() -> Value {
    let rows: [NodeRow; 5] = [
        ("spot_shore_net", "Ripples by the shore", "Something small is having a party.", "fishing_net", gain("raw_sprat", 1, 10.0, 0.9), 0.0, 0),
        ("spot_harbour_rod", "Dark water", "Something stripy is going round the pier.", "fishing_rod", gain("raw_mackerel", 10, 30.0, 0.8), 0.0, 0),
        ("spot_lake_rod", "Rings on the lake", "A pike, frowning.", "fishing_rod", gain("raw_pike", 25, 60.0, 0.7), 0.0, 0),
        ("spot_river_fly", "Quick water", "Trout, in conversation.", "fly_rod", gain("raw_trout", 20, 50.0, 0.8), 0.0, 0),
        ("spot_ice_hole", "Hole in the cold", "Cold looks back.", "ice_auger", gain("raw_frostfin", 50, 90.0, 0.6), 0.0, 0),
    ];
    json!({"spots": rows.iter().map(|r| node("fishing_spot", "fishing", r)).collect::<Vec<_>>()})
}

#[rustfmt::skip]
fn stations() -> Value {
    let rows = [
        ("bank", "Bank counter", "Solid oak, solid prices."),
        ("furnace", "Furnace", "Always in a temper."),
        ("anvil", "Anvil", "Has heard every joke about being hit."),
        ("altar", "Altar", "A quiet place to be looked at by the ceiling."),
        ("range", "Range", "Burns evenly. Burns everything, evenly."),
        ("well", "Well", "Deep, and well informed."),
        ("stall", "Market stall", "Everything must go. Somewhere."),
        ("lamp", "Street lamp", "Has a name. Ask Wick."),
        ("signpost", "Signpost", "Points."),
        ("statue", "Statue", "Stood for something, once."),
    ];
    let list: Vec<Value> = rows
        .iter()
        .map(|&(kind, name, examine)| json!({"type": kind, "name": name, "model": null, "modelScale": 1,
            "modelYOffset": 0, "examine": examine, "footprint": {"width": 1, "depth": 1}}))
        .collect();
    json!({"stations": list})
}

fn music() -> Value {
    json!([
        {"id": "tilestead_theme", "name": "All Roads, Slowly", "type": "theme",
            "category": "intro", "path": "asset://audio/music/theme.ogg",
            "description": "The one song Two-Penny Jack knows.", "duration": 124, "mood": "warm"},
        {"id": "greenmarch_air", "name": "Nothing to Prove", "type": "ambient",
            "category": "normal", "path": "asset://audio/music/greenmarch.ogg",
            "description": "Meadow, with distant goose.", "duration": 180, "mood": "calm"}
    ])
}
