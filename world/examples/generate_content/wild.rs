//! The land between the towns: water, hills, roads, and what grows and roams there.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::ground::{Ground, Kind};
use crate::town::push;

type Points<'a> = &'a [(i32, i32)];

const DAWDLE: Points = &[
    (-60, 288),
    (-50, 240),
    (-70, 200),
    (-62, 165),
    (-85, 125),
    (-98, 84),
    (-100, 52),
    (-96, 16),
    (-92, -20),
    (-80, -70),
    (-102, -125),
    (-88, -180),
    (-96, -225),
    (-94, -275),
];
const HASTY: Points = &[
    (128, 236),
    (118, 190),
    (104, 150),
    (116, 100),
    (96, 55),
    (112, 8),
    (98, -40),
    (118, -95),
    (102, -150),
    (124, -200),
    (118, -240),
    (122, -275),
];
const ROADS: &[Points] = &[
    &[(0, -38), (5, -80), (-12, -130), (-32, -180), (-40, -214)],
    &[(-42, 0), (-72, -12), (-95, -22), (-140, -40), (-170, -60)],
    &[
        (0, 38),
        (7, 80),
        (-4, 120),
        (10, 150),
        (14, 185),
        (32, 212),
        (40, 222),
    ],
    &[(42, 0), (80, 10), (110, 10), (150, 16), (175, 20)],
    &[
        (200, 52),
        (203, 80),
        (194, 112),
        (182, 150),
        (186, 182),
        (185, 196),
    ],
    &[(205, -12), (207, -40), (192, -82), (206, -120), (215, -146)],
    &[
        (0, -234),
        (24, -226),
        (80, -222),
        (122, -204),
        (165, -188),
        (190, -174),
    ],
    &[(-205, -22), (-221, 40), (-214, 80), (-202, 111)],
    &[(-166, 129), (-130, 120), (-85, 124), (-40, 118), (-4, 120)],
    &[
        (-192, -99),
        (-188, -126),
        (-160, -172),
        (-118, -212),
        (-88, -222),
        (-78, -234),
    ],
    &[(208, 215), (236, 226), (262, 252), (270, 282)],
];
const RIDGE: Points = &[
    (-330, 192),
    (-240, 178),
    (-150, 192),
    (-80, 176),
    (0, 182),
    (90, 172),
];
const RIDGE_EAST: Points = &[(90, 172), (150, 168), (220, 176), (275, 164), (330, 172)];
const ASH_WALL: Points = &[(222, 330), (214, 290), (224, 255)];

/// A wiggly copy of a line, so that it looks grown.
fn grown(points: Points, sway: i32, rng: &mut ChaCha8Rng) -> Vec<(i32, i32)> {
    let mut out = vec![points[0]];
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let parts = ((b.0 - a.0).abs().max((b.1 - a.1).abs()) / 12).max(1);
        for part in 1..=parts {
            let x = a.0 + (b.0 - a.0) * part / parts;
            let z = a.1 + (b.1 - a.1) * part / parts;
            let last = part == parts;
            let mut sway = || {
                if last {
                    0
                } else {
                    rng.random_range(-sway..=sway)
                }
            };
            out.push((x + sway(), z + sway()));
        }
    }
    out
}

fn blob(center: (i32, i32), radius: (i32, i32), rng: &mut ChaCha8Rng) -> Vec<(i32, i32)> {
    (0..36)
        .map(|n| {
            let angle = f64::from(n) * std::f64::consts::TAU / 36.0;
            let part = f64::from(rng.random_range(86..=110)) / 100.0;
            let x = angle.cos() * f64::from(radius.0) * part;
            let z = angle.sin() * f64::from(radius.1) * part;
            (center.0 + x.round() as i32, center.1 + z.round() as i32)
        })
        .collect()
}

fn lake(ground: &mut Ground, center: (i32, i32), radius: (i32, i32), rng: &mut ChaCha8Rng) {
    let shore = blob(center, (radius.0 + 3, radius.1 + 3), rng);
    let inward = |by: f64| -> Vec<(i32, i32)> {
        let shrink = |v: i32, c: i32| c + (f64::from(v - c) * by).round() as i32;
        shore
            .iter()
            .map(|p| (shrink(p.0, center.0), shrink(p.1, center.1)))
            .collect()
    };
    ground.polygon("sand", &inward(1.06));
    ground.polygon("shallows", &shore);
    ground.polygon("water", &inward(0.9));
    ground.polygon("deep_water", &inward(0.62));
}

/// Paints everything that no hand has laid, roads last.
pub(crate) fn paint(ground: &mut Ground, rng: &mut ChaCha8Rng) {
    for line in [RIDGE, RIDGE_EAST] {
        ground.line("cliff", 13, 3, &grown(line, 5, rng));
        ground.line("rock", 5, 2, &grown(line, 3, rng));
    }
    ground.line("cliff", 9, 3, &grown(ASH_WALL, 3, rng));
    for (at, r) in [
        ((250, 290), 5),
        ((292, 244), 6),
        ((300, 300), 7),
        ((240, 262), 3),
    ] {
        let pool = blob(at, (r, r), rng);
        ground.polygon("lava", &pool);
    }
    // Shoulders of roads lie below the water, or rivers would be dammed by them.
    let roads: Vec<_> = ROADS.iter().map(|road| grown(road, 2, rng)).collect();
    for road in &roads {
        ground.line("dirt", 5, 1, road);
    }
    for river in [DAWDLE, HASTY] {
        let course = grown(river, 4, rng);
        ground.line("sand", 11, 1, &course);
        ground.line("shallows", 8, 0, &course);
        ground.line("water", 5, 0, &course);
    }
    lake(ground, (-100, 54), (36, 27), rng);
    lake(ground, (-60, 288), (13, 11), rng);
    lake(ground, (128, 238), (11, 9), rng);
    lake(ground, (268, -40), (14, 12), rng);
    lake(ground, (60, -120), (12, 9), rng);
    ground.disc("grass", (-104, 58), 6);
    sea(ground, rng);
    for road in &roads {
        ground.road("road", 3, road);
    }
}

fn sea(ground: &mut Ground, rng: &mut ChaCha8Rng) {
    let mut coast = Vec::new();
    let mut x = -328;
    while x <= 328 {
        let harbour = (-92..=12).contains(&x);
        let bay = if (200..280).contains(&x) { 12 } else { 0 };
        let z = if harbour {
            -264
        } else {
            -268 + bay + rng.random_range(-7..=7)
        };
        coast.push((x, z));
        x += 8;
    }
    let beyond = |by: i32| -> Vec<(i32, i32)> {
        let mut points: Vec<_> = coast.iter().map(|p| (p.0, p.1 - by)).collect();
        points.extend([(328, -330), (-328, -330)]);
        points
    };
    ground.polygon("sand", &beyond(-9));
    ground.polygon("shallows", &beyond(0));
    ground.polygon("water", &beyond(4));
    ground.polygon("deep_water", &beyond(20));
}

/// id, name, description, group, level, biome, [minX, minZ, maxX, maxZ].
type AreaRow = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    i32,
    &'static str,
    [i32; 4],
);

#[rustfmt::skip]
const AREAS: &[AreaRow] = &[
    ("greenmarch", "The Greenmarch", "Meadows with nothing to prove.", "level1Areas", 1, "plains", [-160, -160, 160, 150]),
    ("plum_vale", "Plum Vale", "Every third step is a plum.", "level1Areas", 1, "farmland", [-320, -160, -120, 0]),
    ("fernwood", "The Fernwood", "Trees stand close together here, gossiping.", "level1Areas", 1, "forest", [130, -90, 320, 120]),
    ("dawdle_lake", "Lake Dawdle", "The river stops here to think.", "level1Areas", 1, "lakeland", [-150, 16, -54, 92]),
    ("long_beach", "The Long Beach", "It is quite long. It is a beach.", "level1Areas", 1, "seaside", [-320, -320, 320, -232]),
    ("heron_flats", "Heron Flats", "Flat. Herons.", "level1Areas", 1, "lakeland", [20, -160, 96, -84]),
    ("weald", "The Old Weald", "Older than the maps, and not on most of them.", "level2Areas", 2, "deepwood", [-320, 0, -150, 105]),
    ("mire", "Mumbling Mire", "It mumbles. Do not answer.", "level2Areas", 2, "swamp", [130, -232, 320, -90]),
    ("cobble_hills", "Cobble Hills", "Up, down, and up again with a pickaxe.", "level2Areas", 2, "hills", [-320, 105, -60, 172]),
    ("mosslands", "The Mosslands", "Soft underfoot, and slow to let go.", "level2Areas", 2, "deepwood", [-320, -232, -110, -160]),
    ("gorse_heath", "Gorse Heath", "Pretty and prickly, like the tax collector.", "level2Areas", 2, "heath", [-110, -232, 130, -160]),
    ("high_pasture", "High Pasture", "The goats own it. They have papers.", "level2Areas", 2, "hills", [-60, 120, 130, 172]),
    ("owlbrook", "Owlbrook Wood", "Quiet, until it is not.", "level2Areas", 2, "deepwood", [130, 120, 320, 168]),
    ("grumble_ridge", "Grumble Ridge", "The mountain has opinions on climbers.", "level3Areas", 3, "mountains", [-320, 165, 320, 200]),
    ("whitemantle", "The Whitemantle", "Snow on snow, under snow.", "level3Areas", 3, "snowfield", [-320, 196, 218, 320]),
    ("cinderlea", "Cinderlea", "Everything here has already burnt. Most of it is trying again.", "level3Areas", 3, "ashland", [216, 178, 320, 320]),
    ("glass_tarn", "Glass Tarn", "Cold enough to see through.", "level3Areas", 3, "snowfield", [-100, 260, -20, 320]),
];

/// The wild areas, still empty.
pub(crate) fn areas() -> Vec<(&'static str, Value)> {
    AREAS
        .iter()
        .map(|&(id, name, about, group, level, biome, b)| {
            let area = json!({"id": id, "name": name, "description": about,
                "difficultyLevel": level, "biomeType": biome, "safeZone": false,
                "pvpEnabled": level == 3,
                "bounds": {"minX": b[0], "minZ": b[1], "maxX": b[2], "maxZ": b[3]},
                "npcs": [], "resources": [], "mobSpawns": [], "stations": []});
            (group, area)
        })
        .collect()
}

fn bounds(area: &Value) -> [i32; 4] {
    ["minX", "minZ", "maxX", "maxZ"].map(|key| area["bounds"][key].as_i64().unwrap_or(0) as i32)
}

/// Something to scatter over an area: what, groups, and how many in each.
type Growth = (&'static str, &'static str, u32, u32);

fn growth(id: &str) -> &'static [Growth] {
    match id {
        "greenmarch" => &[
            ("tree", "tree_normal", 22, 4),
            ("tree", "tree_oak", 9, 3),
            ("ore", "rock_copper", 2, 4),
            ("ore", "rock_tin", 2, 4),
            ("tree", "tree_birch", 8, 3),
        ],
        "plum_vale" => &[("tree", "tree_plum", 9, 4), ("tree", "tree_normal", 7, 4)],
        "fernwood" => &[
            ("tree", "tree_normal", 16, 5),
            ("tree", "tree_oak", 14, 4),
            ("tree", "tree_birch", 9, 4),
        ],
        "dawdle_lake" => &[("tree", "tree_willow", 9, 3)],
        "heron_flats" => &[("tree", "tree_willow", 5, 3)],
        "long_beach" => &[("tree", "tree_palm", 16, 3)],
        "weald" => &[
            ("tree", "tree_oak", 10, 4),
            ("tree", "tree_maple", 9, 3),
            ("tree", "tree_yew", 3, 2),
        ],
        "mosslands" => &[("tree", "tree_oak", 8, 4), ("tree", "tree_willow", 6, 3)],
        "mire" => &[("tree", "tree_willow", 13, 3), ("ore", "rock_clay", 3, 3)],
        "cobble_hills" => &[
            ("ore", "rock_copper", 6, 4),
            ("ore", "rock_tin", 6, 4),
            ("ore", "rock_iron", 5, 3),
            ("ore", "rock_coal", 3, 3),
            ("tree", "tree_pine", 5, 3),
        ],
        "gorse_heath" => &[("tree", "tree_birch", 7, 3), ("ore", "rock_clay", 3, 3)],
        "high_pasture" => &[("tree", "tree_pine", 7, 3), ("ore", "rock_iron", 3, 3)],
        "owlbrook" => &[("tree", "tree_maple", 7, 3), ("tree", "tree_oak", 6, 3)],
        "grumble_ridge" => &[("ore", "rock_coal", 5, 3), ("ore", "rock_iron", 3, 3)],
        "whitemantle" => &[
            ("tree", "tree_pine", 26, 4),
            ("ore", "rock_silver", 5, 3),
            ("ore", "rock_coal", 3, 3),
        ],
        "cinderlea" => &[("ore", "rock_starglass", 4, 3), ("ore", "rock_coal", 3, 3)],
        "glass_tarn" => &[("tree", "tree_pine", 4, 3)],
        _ => &[],
    }
}

#[rustfmt::skip]
fn herds(id: &str) -> &'static [(&'static str, u32, i32, u32)] {
    match id {
        "greenmarch" => &[("meadow_hare", 6, 8, 3), ("woolly_philosopher", 3, 8, 4), ("field_rat", 4, 6, 3), ("furious_goose", 3, 6, 2), ("red_fox", 3, 10, 1), ("patient_cow", 2, 8, 4)],
        "plum_vale" => &[("opinionated_hen", 3, 6, 4), ("field_rat", 4, 7, 3), ("meadow_hare", 3, 8, 3)],
        "fernwood" => &[("deer", 5, 10, 2), ("curious_squirrel", 5, 7, 3), ("wild_boar", 4, 8, 2), ("mushroomling", 4, 6, 3)],
        "dawdle_lake" => &[("duck", 3, 6, 3), ("heron", 2, 7, 2), ("furious_goose", 2, 6, 3)],
        "heron_flats" => &[("heron", 3, 7, 3), ("duck", 2, 6, 3)],
        "long_beach" => &[("sidestep_crab", 6, 7, 3), ("harbour_gull", 4, 9, 3)],
        "weald" => &[("grey_wolf", 4, 9, 2), ("wild_boar", 3, 8, 2), ("toll_collector", 3, 6, 3), ("deer", 2, 10, 2)],
        "mosslands" => &[("grey_wolf", 3, 9, 2), ("mushroomling", 3, 7, 3)],
        "mire" => &[("bog_toad", 5, 8, 3), ("marsh_lurker", 5, 7, 2), ("midge_cloud", 4, 8, 2)],
        "cobble_hills" => &[("mountain_goat", 4, 9, 3), ("stone_gnawer", 4, 7, 2), ("toll_collector", 2, 6, 3)],
        "gorse_heath" => &[("meadow_hare", 3, 9, 3), ("toll_collector", 2, 6, 3), ("red_fox", 2, 9, 2)],
        "high_pasture" => &[("mountain_goat", 3, 9, 3), ("stone_gnawer", 2, 7, 2)],
        "owlbrook" => &[("grey_wolf", 3, 9, 2), ("brown_bear", 2, 8, 1), ("deer", 2, 9, 2)],
        "whitemantle" => &[("snow_hare", 5, 9, 3), ("frost_wolf", 5, 10, 2), ("ice_bear", 3, 9, 1), ("penguin_accountant", 3, 7, 4)],
        "glass_tarn" => &[("penguin_accountant", 2, 6, 4), ("ice_bear", 1, 8, 1)],
        "grumble_ridge" => &[("stone_gnawer", 3, 5, 2)],
        "cinderlea" => &[("cinder_imp", 4, 8, 3), ("ash_hound", 4, 9, 2), ("ember_golem", 3, 7, 1)],
        _ => &[],
    }
}

/// Finds a spot for which `good` holds that belongs to no smaller area.
fn spot(
    b: [i32; 4],
    towns: &[[i32; 4]],
    rng: &mut ChaCha8Rng,
    good: impl Fn(i32, i32) -> bool,
) -> Option<(i32, i32)> {
    (0..200).find_map(|_| {
        let x = rng.random_range(b[0].max(-314)..b[2].min(314));
        let z = rng.random_range(b[1].max(-314)..b[3].min(314));
        let inside =
            |t: &[i32; 4]| (t[0] - 2..=t[2] + 2).contains(&x) && (t[1] - 2..=t[3] + 2).contains(&z);
        (!towns.iter().any(inside) && good(x, z)).then_some((x, z))
    })
}

/// Fills an area with trees, rocks and animals.
pub(crate) fn fill(
    ground: &mut Ground,
    area: &mut Value,
    towns: &[[i32; 4]],
    rng: &mut ChaCha8Rng,
) {
    let id = area["id"].as_str().unwrap_or_default().to_owned();
    let b = bounds(area);
    for &(kind, what, groups, each) in growth(&id) {
        for _ in 0..(groups * 11).div_ceil(20) {
            let open = |x: i32, z: i32| ground.at(x, z) == Kind::Open;
            let Some((cx, cz)) = spot(b, towns, rng, open) else {
                continue;
            };
            let (mut left, mut tries) = (each, 0);
            while left > 0 && tries < 40 {
                tries += 1;
                let x = cx + rng.random_range(-6..=6);
                let z = cz + rng.random_range(-6..=6);
                if ground.place(x, z) {
                    left -= 1;
                    let node = json!({"type": kind, "resourceId": what,
                        "position": {"x": x, "y": 0, "z": z}});
                    push(area, "resources", node);
                }
            }
        }
    }
    for &(mob, groups, radius, count) in herds(&id) {
        for _ in 0..(groups * 2).div_ceil(3) {
            let rough = [Kind::Solid, Kind::Water, Kind::Street];
            let open =
                |x: i32, z: i32| ground.at(x, z) == Kind::Open && !ground.near(x, z, 3, &rough);
            if let Some((x, z)) = spot(b, towns, rng, open) {
                let herd = json!({"mobId": mob, "position": {"x": x, "y": 0, "z": z},
                    "spawnRadius": radius, "maxCount": count});
                push(area, "mobSpawns", herd);
            }
        }
    }
}

/// Fishing spots: water with a place to stand beside it.
pub(crate) fn fishing(ground: &mut Ground, areas: &mut [Value], rng: &mut ChaCha8Rng) {
    let waters: [(&str, [i32; 4], u32); 8] = [
        ("spot_shore_net", [-300, -290, 300, -258], 22),
        ("spot_harbour_rod", [-72, -284, -8, -262], 9),
        ("spot_lake_rod", [-145, 18, -56, 92], 12),
        ("spot_river_fly", [-110, -220, -70, 200], 16),
        ("spot_river_fly", [85, -230, 130, 200], 16),
        ("spot_ice_hole", [-80, 270, -40, 305], 5),
        ("spot_lake_rod", [40, -135, 80, -105], 5),
        ("spot_lake_rod", [250, -56, 286, -24], 5),
    ];
    let start = ground.reach((0, -6));
    for (what, b, count) in waters {
        for _ in 0..count {
            let good = |x: i32, z: i32| {
                ground.at(x, z) == Kind::Water && start.beside(x, z) && !near_spot(areas, x, z)
            };
            let Some((x, z)) = wet_spot(b, rng, good) else {
                continue;
            };
            let node = json!({"type": "fishing_spot", "resourceId": what,
                "position": {"x": x, "y": 0, "z": z}});
            if let Some(home) = smallest(areas, x, z) {
                push(&mut areas[home], "resources", node);
            }
        }
    }
}

fn wet_spot(
    b: [i32; 4],
    rng: &mut ChaCha8Rng,
    good: impl Fn(i32, i32) -> bool,
) -> Option<(i32, i32)> {
    (0..4000).find_map(|_| {
        let (x, z) = (rng.random_range(b[0]..b[2]), rng.random_range(b[1]..b[3]));
        good(x, z).then_some((x, z))
    })
}

fn near_spot(areas: &[Value], x: i32, z: i32) -> bool {
    let lists = areas.iter().filter_map(|a| a["resources"].as_array());
    lists.flatten().any(|r| {
        let at = |key: &str| r["position"][key].as_i64().unwrap_or(0) as i32;
        r["type"] == "fishing_spot" && (at("x") - x).abs() < 4 && (at("z") - z).abs() < 4
    })
}

fn smallest(areas: &[Value], x: i32, z: i32) -> Option<usize> {
    let size = |b: [i32; 4]| i64::from(b[2] - b[0]) * i64::from(b[3] - b[1]);
    (0..areas.len())
        .filter(|&n| {
            let b = bounds(&areas[n]);
            (b[0]..b[2]).contains(&x) && (b[1]..b[3]).contains(&z)
        })
        .min_by_key(|&n| size(bounds(&areas[n])))
}
