//! `buildings.json`: houses. Upstream's object of town generators is accepted and builds nothing.

use serde_json::Value;

use crate::content::reader::{ContentError, Fields, Reader, coordinate};
use crate::map::Ground;
use crate::map::plan::Building;
use crate::tile::{Bounds, Tile};

/// The file.
pub(crate) const FILE: &str = "buildings.json";

pub(crate) fn load(reader: &Reader<'_>) -> Result<Vec<Building>, ContentError> {
    let Some(json) = reader.optional(FILE) else {
        return Ok(Vec::new());
    };
    if json.is_object() {
        return Ok(Vec::new());
    }
    reader
        .records(FILE, &json, &[])?
        .iter()
        .map(building)
        .collect()
}

fn building(fields: &Fields<'_>) -> Result<Building, ContentError> {
    let bounds = Bounds {
        min_x: fields.coordinate("minX")?,
        max_x: fields.coordinate("maxX")? + 1,
        min_z: fields.coordinate("minZ")?,
        max_z: fields.coordinate("maxZ")? + 1,
    };
    if bounds.area() == 0 {
        return Err(fields.error("maxX", "the minima must not be above the maxima"));
    }
    let ground = |name: &str, default: Ground| {
        let text = fields.text_or(name, default.name());
        Ground::named(text).unwrap_or_else(|| {
            fields.warn(name, &format!("no ground is called {text}"));
            default
        })
    };
    let mut doors = Vec::new();
    for value in fields.values("doors") {
        match point(value) {
            Some(door) if bounds.contains(door) => doors.push(door),
            Some(_) => fields.warn("doors", "a door is not in the building, skipped"),
            None => fields.warn("doors", "a door is not [x, z], skipped"),
        }
    }
    Ok(Building {
        bounds,
        wall: ground("wall", Ground::Wall),
        floor: ground("floor", Ground::Floor),
        doors,
    })
}

/// A point written [x, z].
pub(crate) fn point(value: &Value) -> Option<Tile> {
    let [x, z] = value.as_array()?.as_slice() else {
        return None;
    };
    Some(Tile::new(
        coordinate(x.as_f64()?)?,
        coordinate(z.as_f64()?)?,
    ))
}
