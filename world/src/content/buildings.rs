//! `buildings.json`: houses. The loader accepts upstream's object of town generators, and builds
//! nothing from it.

use serde_json::Value;

use super::fields::{Fields, coordinate};
use super::reader::Reader;
use crate::geometry::Ground;
use crate::geometry::plan::Building;
use crate::geometry::tile::{Bounds, Tile};

/// File of the buildings.
pub(crate) const FILE: &str = "buildings.json";

pub(crate) fn load(reader: &Reader) -> Vec<Building> {
    reader.records(FILE).iter().filter_map(building).collect()
}

fn building(fields: &Fields<'_>) -> Option<Building> {
    let bounds = corners(fields).filter(|bounds| bounds.area() > 0);
    let Some(bounds) = bounds else {
        fields.warn(
            "maxX",
            "must be {minX, maxX, minZ, maxZ}, the minima not above; not built",
        );
        return None;
    };
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
    Some(Building {
        bounds,
        wall: ground("wall", Ground::Wall),
        floor: ground("floor", Ground::Floor),
        doors,
    })
}

/// Reads the corners, both of which belong to the building.
fn corners(fields: &Fields<'_>) -> Option<Bounds> {
    Some(Bounds {
        min_x: fields.coordinate("minX")?,
        max_x: fields.coordinate("maxX")? + 1,
        min_z: fields.coordinate("minZ")?,
        max_z: fields.coordinate("maxZ")? + 1,
    })
}

/// Reads a point of the form [x, z].
pub(crate) fn point(value: &Value) -> Option<Tile> {
    let [x, z] = value.as_array()?.as_slice() else {
        return None;
    };
    Some(Tile::new(
        coordinate(x.as_f64()?)?,
        coordinate(z.as_f64()?)?,
    ))
}
