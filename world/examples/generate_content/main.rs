//! Writes the content that ships: towns laid by hand, the land between them by seed.
//!
//! `cargo run -p world --example generate_content` writes `world/assets/manifests`; the same
//! source gives the same bytes. It says what could not be reached on foot.

#![expect(
    clippy::disallowed_methods,
    reason = "a tool that writes files, no part of the game"
)]
#![allow(clippy::type_complexity, reason = "tables are read by their columns")]

mod catalog;
mod creatures;
mod farms;
mod ground;
mod items;
mod making;
mod outposts;
mod skills;
mod town;
mod towns;
mod wild;
mod write;

use std::{fs, path::Path};

use ground::{Ground, Kind, MAX, MIN};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use town::Built;

const SEED: u64 = 20_260;
const SPAWN: (i32, i32) = (0, -6);

fn main() -> std::io::Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut ground = Ground::new();
    wild::paint(&mut ground, &mut rng);
    let towns = [
        towns::tilestead(&mut ground),
        towns::tidewick(&mut ground),
        farms::plumfurrow(&mut ground),
        outposts::fernhollow(&mut ground),
        outposts::cobble_deep(&mut ground),
        outposts::candlefrost(&mut ground),
        outposts::bogwater(&mut ground),
        outposts::last_kettle(&mut ground),
    ];
    let bounds: Vec<[i32; 4]> = towns
        .iter()
        .map(|t| {
            ["minX", "minZ", "maxX", "maxZ"]
                .map(|key| t.area["bounds"][key].as_i64().unwrap_or(0) as i32)
        })
        .collect();
    let mut wilds = wild::areas();
    for (_, area) in &mut wilds {
        wild::fill(&mut ground, area, &bounds, &mut rng);
    }
    let groups: Vec<&str> = towns
        .iter()
        .map(|_| "starterTowns")
        .chain(wilds.iter().map(|w| w.0))
        .collect();
    let mut areas: Vec<Value> = towns
        .iter()
        .map(|t| t.area.clone())
        .chain(wilds.into_iter().map(|w| w.1))
        .collect();
    wild::fishing(&mut ground, &mut areas, &mut rng);
    prune(&ground, &mut areas[towns.len()..]);
    complain(&ground, &towns);
    report(&areas);
    write_all(ground, &towns, &groups, areas)
}

/// Drops what grows or roams where nobody could get to.
fn prune(ground: &Ground, areas: &mut [Value]) {
    let reach = ground.reach(SPAWN);
    let at = |v: &Value, key: &str| v["position"][key].as_i64().unwrap_or(0) as i32;
    for area in areas {
        for list in ["resources", "mobSpawns"] {
            if let Some(items) = area.get_mut(list).and_then(Value::as_array_mut) {
                items.retain(|v| {
                    let (x, z) = (at(v, "x"), at(v, "z"));
                    reach.beside(x, z) || reach.on(x, z)
                });
            }
        }
    }
}

fn complain(ground: &Ground, towns: &[Built]) {
    let reach = ground.reach(SPAWN);
    for town in towns {
        for (what, x, z) in &town.stand {
            if !reach.on(*x, *z) {
                println!("{}: {what} at {x}, {z} is out of reach", town.id);
            }
        }
        for (what, x, z) in &town.beside {
            if !reach.beside(*x, *z) || ground.at(*x, *z) == Kind::Solid {
                println!("{}: {what} at {x}, {z} is out of reach", town.id);
            }
        }
    }
}

fn report(areas: &[Value]) {
    let count = |list: &str| -> usize {
        let lists = areas.iter().filter_map(|a| a[list].as_array());
        lists.map(Vec::len).sum()
    };
    let herds = areas.iter().filter_map(|a| a["mobSpawns"].as_array());
    let animals: u64 = herds.flatten().filter_map(|h| h["maxCount"].as_u64()).sum();
    println!(
        "{} areas, {} people, {animals} animals and monsters, {} resources, {} stations",
        areas.len(),
        count("npcs"),
        count("resources"),
        count("stations")
    );
}

fn write_all(
    ground: Ground,
    towns: &[Built],
    groups: &[&str],
    areas: Vec<Value>,
) -> std::io::Result<()> {
    let mut root = Map::new();
    for (group, area) in groups.iter().zip(areas) {
        let id = area["id"].as_str().unwrap_or_default().to_owned();
        let maps = root.entry((*group).to_owned()).or_insert_with(|| json!({}));
        maps[id] = area;
    }
    root.insert(
        "terrain".to_owned(),
        json!({"seed": SEED, "bounds": {"minX": MIN, "maxX": MAX, "minZ": MIN, "maxZ": MAX},
            "spawn": {"x": SPAWN.0, "z": SPAWN.1}, "defaultBiome": "plains",
            "paints": ground.paints}),
    );
    let people = towns.iter().flat_map(|t| t.people.clone());
    let npcs: Vec<Value> = creatures::all().into_iter().chain(people).collect();
    let houses: Vec<Value> = towns.iter().flat_map(|t| t.houses.clone()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manifests");
    let mut files = vec![
        ("world-areas.json", Value::Object(root)),
        ("npcs.json", Value::Array(npcs)),
        ("buildings.json", Value::Array(houses)),
    ];
    files.extend(catalog::files());
    for (path, value) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, write::text(&value))?;
    }
    Ok(())
}
