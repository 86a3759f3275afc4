//! The root key `terrain` of `world-areas.json`: the size of the land and its paints.
//!
//! Content without it gets land around its areas and a spawn in the middle of its first town.

use super::areas;
use super::areas::Area;
use super::biomes::Biomes;
use super::buildings::point;
use super::fields::Fields;
use crate::geometry::Ground;
use crate::geometry::plan::{Paint, Plan, Zone};
use crate::geometry::shape::Shape;
use crate::geometry::tile::{Bounds, REGION_TILES, Tile};

/// Most tiles by which an edge may wander.
const ROUGH_MAX: i64 = 16;
/// Most tiles of a stroke's width.
const WIDTH_MAX: i64 = 2_000;

/// Reads the plan of the land, without houses and things, and the place where new players begin.
pub(crate) fn load(root: &Fields<'_>, areas: &[Area], biomes: Biomes) -> (Plan, Tile) {
    let terrain = root.object("terrain");
    let zones = zones(root, areas, &biomes);
    let mut plan = Plan {
        zones,
        biomes: biomes.list,
        ..Plan::default()
    };
    let Some(terrain) = terrain else {
        plan.bounds = around(areas);
        return (plan, middle(areas));
    };
    plan.seed = terrain.int_or("seed", 0).cast_unsigned();
    let bounds = terrain.object("bounds");
    plan.bounds = bounds
        .and_then(|bounds| whole_regions(&bounds))
        .unwrap_or_else(|| around(areas));
    let default = terrain.text_or("defaultBiome", "");
    match biomes.by_id.get(default) {
        Some(biome) => plan.default_biome = *biome,
        None => terrain.warn("defaultBiome", &format!("there is no biome {default:?}")),
    }
    plan.paints = terrain.objects("paints").iter().filter_map(paint).collect();
    let spawn = terrain.object("spawn").map(|spawn| areas::position(&spawn));
    let spawn = match spawn {
        Some(Some(spawn)) if plan.bounds.contains(spawn) => spawn,
        Some(_) => {
            let why = "must be {x, z} inside the bounds, the first town's middle stands for it";
            terrain.warn("spawn", why);
            middle(areas)
        }
        None => middle(areas),
    };
    (plan, spawn)
}

fn whole_regions(fields: &Fields<'_>) -> Option<Bounds> {
    let bounds = areas::bounds(fields)?;
    let sides = [bounds.min_x, bounds.max_x, bounds.min_z, bounds.max_z];
    if sides.iter().any(|v| v.rem_euclid(REGION_TILES) != 0) || bounds.area() == 0 {
        let why = "must be multiples of 64, the minima below the maxima; the areas' bounds count";
        fields.warn("minX", why);
        return None;
    }
    Some(bounds)
}

fn zones(root: &Fields<'_>, areas: &[Area], biomes: &Biomes) -> Vec<Zone> {
    let mut zones = Vec::new();
    for area in areas {
        match biomes.by_id.get(&area.biome) {
            Some(biome) => zones.push(Zone {
                bounds: area.bounds,
                biome: *biome,
            }),
            None => root.warn(&area.id, &format!("there is no biome {:?}", area.biome)),
        }
    }
    zones.sort_by_key(|zone| zone.bounds.area());
    zones
}

/// Returns all regions with a tile of an area; without any area, four regions around the middle.
fn around(areas: &[Area]) -> Bounds {
    let down = |v: i32| v.div_euclid(REGION_TILES) * REGION_TILES;
    let up = |v: i32| -down(-v);
    let all = |side: fn(&Area) -> i32| areas.iter().map(side);
    Bounds {
        min_x: down(all(|a| a.bounds.min_x).min().unwrap_or(-REGION_TILES)),
        max_x: up(all(|a| a.bounds.max_x).max().unwrap_or(REGION_TILES)),
        min_z: down(all(|a| a.bounds.min_z).min().unwrap_or(-REGION_TILES)),
        max_z: up(all(|a| a.bounds.max_z).max().unwrap_or(REGION_TILES)),
    }
}

fn middle(areas: &[Area]) -> Tile {
    let first = areas.first();
    first.map_or(Tile::default(), |town| town.bounds.middle())
}

fn paint(fields: &Fields<'_>) -> Option<Paint> {
    let kind = fields.text_or("kind", "");
    let Some(ground) = Ground::named(kind) else {
        fields.warn(
            "kind",
            &format!("no ground is called {kind:?}, not painted"),
        );
        return None;
    };
    let shape = shape(fields);
    if shape.is_none() {
        fields.warn("shape", "cannot be read, not painted");
    }
    let rough = fields.int_or("rough", 0).clamp(0, ROUGH_MAX) as i32;
    Some(Paint {
        ground,
        shape: shape?,
        rough,
    })
}

fn shape(fields: &Fields<'_>) -> Option<Shape> {
    let points = || -> Option<Vec<Tile>> {
        let points: Option<Vec<Tile>> = fields.values("points").iter().map(point).collect();
        points.filter(|p| !p.is_empty())
    };
    let size = |name: &str, default| fields.int_or(name, default).clamp(0, WIDTH_MAX) as i32;
    Some(match fields.text_or("shape", "").to_lowercase().as_str() {
        "line" => Shape::Line {
            width: size("width", 1).max(1),
            points: points()?,
        },
        "disc" => Shape::Disc {
            center: point(fields.get("center")?)?,
            radius: size("radius", 0),
        },
        "rect" => Shape::Rect(areas::bounds(fields)?),
        "polygon" => Shape::Polygon { points: points()? },
        _ => return None,
    })
}
