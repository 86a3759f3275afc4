//! `world-areas.json`: the named parts of the world.

use serde::{Deserialize, Serialize};

use super::fields::{Fields, coordinate};
use super::zones;
use super::zones::{Fishing, FlatZone, SubZone};
use crate::geometry::tile::{Bounds, Tile};

/// File of the areas.
pub(crate) const FILE: &str = "world-areas.json";
/// Most tiles of an area in which the loader looks for shores.
const SHORES_TILES_MAX: u64 = 1 << 20;
/// Root keys under which areas stand, those of the towns first.
const GROUPS: [&str; 5] = [
    "starterTowns",
    "level1Areas",
    "level2Areas",
    "level3Areas",
    "specialAreas",
];

/// Lists of an area whose entries have a position.
const PLACED: [&str; 4] = ["npcs", "mobSpawns", "resources", "stations"];
/// Tiles by which a grove may spill over an area's edge.
const EDGE_TILES: i32 = 8;

/// Named part of the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// Id, unique among areas.
    pub id: String,
    /// Name that players see.
    pub name: String,
    /// Description for players.
    pub description: String,
    /// Difficulty, 0 (towns) to 3.
    pub difficulty_level: u32,
    /// Tiles of the area.
    pub bounds: Bounds,
    /// Biome of the area, which decides its growth.
    pub biome: String,
    /// Whether players keep their things when they die here.
    pub safe_zone: bool,
    /// Whether players may attack each other.
    pub pvp: bool,
    /// Whether any number may fight one here.
    #[serde(default)]
    pub multi_combat: bool,
    /// Whether it is one of the towns in which players begin.
    pub starter_town: bool,
    /// Parts of it with rules of their own.
    pub sub_zones: Vec<SubZone>,
    /// Flattened ground in it.
    pub flat_zones: Vec<FlatZone>,
    /// Fishing spots that it wants on its shores.
    pub fishing: Option<Fishing>,
}

/// Area with the object that describes it.
pub(crate) struct Written<'v> {
    /// Area, as it lies in the world.
    pub(crate) area: Area,
    /// Object that describes the area.
    pub(crate) fields: Fields<'v>,
    /// Tiles that move its positions into the world, east and north.
    pub(crate) offset: (i32, i32),
}

impl Area {
    /// Returns the bounds of the area and of things that may spill over its edge.
    pub(crate) fn near(&self) -> Bounds {
        self.bounds.grown(EDGE_TILES)
    }
}

/// Reads all areas, in the order of the file.
pub(crate) fn load<'v>(root: &Fields<'v>) -> Vec<Written<'v>> {
    let mut areas = Vec::new();
    for group in GROUPS {
        let Some(map) = root.object(group) else {
            continue;
        };
        for (key, fields) in map.entries() {
            if let Some(area) = area(key, &fields, group == GROUPS[0]) {
                areas.push(written(area, fields));
            }
        }
    }
    areas
}

/// Pairs `area` with its object. If its positions count from its centre, moves its zones along.
fn written<'v>(mut area: Area, fields: Fields<'v>) -> Written<'v> {
    let offset = offset(&area, &fields);
    let (east, north) = offset;
    let strays =
        |at: Tile| area.bounds.contains(at.moved(east, north)) && !area.bounds.contains(at);
    for zone in &mut area.flat_zones {
        if strays(zone.center) {
            zone.center = zone.center.moved(east, north);
        }
    }
    for zone in &mut area.sub_zones {
        if strays(zone.bounds.middle()) {
            zone.bounds = zone.bounds.moved(east, north);
            zone.spawn = zone.spawn.map(|at| at.moved(east, north));
        }
    }
    Written {
        area,
        fields,
        offset,
    }
}

/// Returns the tiles that move the positions of an area: those of its centre if they count from
/// there, else none. They count from the centre if every placed thing lies outside the written
/// area, and inside after the move.
fn offset(area: &Area, fields: &Fields<'_>) -> (i32, i32) {
    let Tile { x: east, z: north } = area.bounds.middle();
    let placed = placed(fields);
    let near = area.near();
    let strays = |at: &Tile| near.contains(at.moved(east, north)) && !near.contains(*at);
    if placed.is_empty() || !placed.iter().all(strays) {
        return (0, 0);
    }
    let what = format!(
        "all {} placed things lie outside, and inside when moved by its centre ({east}, {north}): \
         they are moved",
        placed.len()
    );
    fields.warn("bounds", &what);
    (east, north)
}

/// Returns the positions of the things that an area places; no warning for those without one.
fn placed(fields: &Fields<'_>) -> Vec<Tile> {
    let lists = PLACED
        .iter()
        .filter_map(|list| fields.get(list)?.as_array());
    let positions = lists.flatten().filter_map(|thing| {
        let at = thing.get("position")?;
        let side = |name: &str| coordinate(at.get(name)?.as_f64()?);
        Some(Tile::new(side("x")?, side("z")?))
    });
    positions.collect()
}

fn area<'v>(key: &'v str, fields: &Fields<'v>, starter_town: bool) -> Option<Area> {
    let bounds = fields.object("bounds").as_ref().and_then(bounds);
    let Some(bounds) = bounds.filter(|bounds| bounds.area() > 0) else {
        let why = "must be {minX, maxX, minZ, maxZ}, the minima below the maxima; skipped";
        fields.warn("bounds", why);
        return None;
    };
    Some(Area {
        id: fields.text_or("id", key).to_owned(),
        name: fields.name(key).to_owned(),
        description: fields.text_or("description", "").to_owned(),
        difficulty_level: fields.int_or("difficultyLevel", 0).clamp(0, 3) as u32,
        bounds,
        biome: fields.text_or("biomeType", "").to_owned(),
        safe_zone: fields.flag_or("safeZone", false),
        pvp: fields.flag_or("pvpEnabled", false),
        multi_combat: fields.flag_or("multiCombat", false),
        starter_town,
        sub_zones: zones::sub_zones(fields),
        flat_zones: zones::flat_zones(fields),
        fishing: fishing(fields, bounds),
    })
}

/// Reads the fishing spots that an area wants, if it is small enough to look for its shores.
fn fishing(fields: &Fields<'_>, bounds: Bounds) -> Option<Fishing> {
    let fishing = zones::fishing(fields)?;
    if bounds.area() > SHORES_TILES_MAX {
        fields.warn(
            "fishing",
            "the area is too large to look for shores, none appear",
        );
        return None;
    }
    Some(fishing)
}

/// Reads a rectangle of the form {minX, maxX, minZ, maxZ}.
pub(crate) fn bounds(fields: &Fields<'_>) -> Option<Bounds> {
    Some(Bounds {
        min_x: fields.coordinate("minX")?,
        max_x: fields.coordinate("maxX")?,
        min_z: fields.coordinate("minZ")?,
        max_z: fields.coordinate("maxZ")?,
    })
}

/// Reads a point of the form {x, z}; the terrain decides y.
pub(crate) fn position(fields: &Fields<'_>) -> Option<Tile> {
    Some(Tile::new(fields.coordinate("x")?, fields.coordinate("z")?))
}
