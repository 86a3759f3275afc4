//! `biomes.json`: the ground without paint and buildings.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::{Fields, whole};
use super::reader::{ContentError, Defect, Of, Reader};
use crate::geometry::Ground;
use crate::geometry::plan::Biome;

/// File of the biomes.
pub(crate) const FILE: &str = "biomes.json";

/// Parts of a tile in which the plan keeps heights: quarters.
const QUARTERS: i32 = 4;
/// Greatest height, in tiles; heights given as parts of it are 1 at most.
const HEIGHT_TILES: i32 = 50;
/// Heights of a biome that gives none, in quarters.
const USUAL: (i32, i32) = (20, 60);

/// Biomes in the order of the file, and their places in the list by id.
#[derive(Debug, Default)]
pub(crate) struct Biomes {
    pub(crate) list: Vec<Biome>,
    pub(crate) by_id: BTreeMap<String, usize>,
}

pub(crate) fn load(reader: &Reader) -> Result<Biomes, ContentError> {
    let mut biomes = Biomes::default();
    for fields in reader.required_records(FILE)? {
        let Some(id) = fields.key("id") else { continue };
        let mut grounds = weighed(&fields, "grounds");
        if grounds.is_empty() {
            grounds = usual(fields.text_or("terrain", "plains"));
        }
        fields.refer_all("mobs", Of::Npc, "none live there");
        fields.refer_all("resources", Of::Yield, "none is there");
        let plants = fields.object("vegetation");
        for layer in plants.iter().flat_map(|plants| plants.objects("layers")) {
            layer.refer_all("assets", Of::Plant, "it does not grow there");
        }
        let biome = Biome {
            grounds,
            scatter: weighed(&fields, "scatter"),
            heights: heights(&fields),
        };
        if biomes
            .by_id
            .insert(id.to_owned(), biomes.list.len())
            .is_some()
        {
            fields.warn("id", &format!("{id} is there twice, the last one counts"));
        }
        biomes.list.push(biome);
    }
    if biomes.list.is_empty() {
        reader.warn(
            Defect::Malformed,
            FILE,
            "the file",
            "there is no biome, all is grass",
        );
        biomes.list.push(Biome {
            grounds: usual("plains"),
            scatter: Vec::new(),
            heights: USUAL,
        });
    }
    Ok(biomes)
}

/// Reads a list of [ground name, number]; skips anything else with a warning.
fn weighed(fields: &Fields<'_>, name: &str) -> Vec<(Ground, u32)> {
    let mut found = Vec::new();
    for value in fields.values(name) {
        let pair = value.as_array().map(Vec::as_slice);
        let Some([Value::String(ground), Value::Number(number)]) = pair else {
            fields.warn(name, "an entry is not [ground, number], skipped");
            continue;
        };
        match Ground::named(ground) {
            Some(ground) => {
                let number = whole(number.as_f64().unwrap_or(0.0), 1).clamp(0, 1_000);
                found.push((ground, number as u32));
            }
            None => fields.warn(name, &format!("no ground is called {ground}, skipped")),
        }
    }
    found
}

/// Reads `heightRange` in tiles, or in parts of the greatest height if nothing is above 1.
fn heights(fields: &Fields<'_>) -> (i32, i32) {
    let values = fields.values("heightRange");
    let range: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    match range[..] {
        [low, high] if low <= high => {
            let unit = if high <= 1.0 {
                HEIGHT_TILES * QUARTERS
            } else {
                QUARTERS
            };
            let quarters = |n: f64| whole(n, unit).clamp(0, 255) as i32;
            (quarters(low), quarters(high))
        }
        [] if values.is_empty() => USUAL,
        _ => {
            fields.warn("heightRange", "not [low, high], ignored");
            USUAL
        }
    }
}

/// Returns the grounds of a biome that names none, by the kind of its terrain.
fn usual(terrain: &str) -> Vec<(Ground, u32)> {
    use Ground::{Dirt, ForestFloor, Grass, Meadow, Sand, Shallows, Snow, Swamp, Water};
    match terrain.to_lowercase().as_str() {
        "forest" => vec![(ForestFloor, 4), (Grass, 1)],
        "mountains" | "canyon" => vec![(Dirt, 3), (Grass, 1)],
        "frozen" | "tundra" => vec![(Snow, 1)],
        "desert" => vec![(Sand, 1)],
        "lake" | "lakes" => vec![(Shallows, 1), (Water, 4)],
        "swamp" => vec![(Swamp, 3), (Grass, 1)],
        _ => vec![(Grass, 3), (Meadow, 1)],
    }
}
