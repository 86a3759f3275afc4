//! `world-areas.json`: the named parts of the world.

use serde::{Deserialize, Serialize};

use crate::content::fields::Fields;
use crate::content::zones::{self, Fishing, FlatZone, SubZone};
use crate::tile::{Bounds, Tile};

/// The file.
pub(crate) const FILE: &str = "world-areas.json";
/// In an area of more tiles nobody looks for shores.
const SHORES_TILES_MAX: u64 = 1 << 20;
/// The root keys under which areas stand, those of the towns first.
const GROUPS: [&str; 5] = [
    "starterTowns",
    "level1Areas",
    "level2Areas",
    "level3Areas",
    "specialAreas",
];

/// A named part of the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// Unique among areas.
    pub id: String,
    /// As players see it.
    pub name: String,
    /// What it is like.
    pub description: String,
    /// 0 (towns) to 3.
    pub difficulty_level: u32,
    /// Where it is.
    pub bounds: Bounds,
    /// What grows there.
    pub biome: String,
    /// Nobody loses what they carry when they die here.
    pub safe_zone: bool,
    /// Players may attack each other.
    pub pvp: bool,
    /// Any number may fight one here.
    #[serde(default)]
    pub multi_combat: bool,
    /// It is one of the towns in which players begin.
    pub starter_town: bool,
    /// Parts of it with rules of their own.
    pub sub_zones: Vec<SubZone>,
    /// Ground in it that is made flat.
    pub flat_zones: Vec<FlatZone>,
    /// The fishing spots that it wants on its shores.
    pub fishing: Option<Fishing>,
}

/// All areas, each with the object it was read from, in the order of the file.
pub(crate) fn load<'v>(root: &Fields<'v>) -> Vec<(Area, Fields<'v>)> {
    let mut areas = Vec::new();
    for group in GROUPS {
        let Some(map) = root.object(group) else {
            continue;
        };
        for (key, fields) in map.entries() {
            if let Some(area) = area(key, &fields, group == GROUPS[0]) {
                areas.push((area, fields));
            }
        }
    }
    areas
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

/// The fishing spots that an area wants, if it is small enough to look for its shores.
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

/// A rectangle written {minX, maxX, minZ, maxZ}.
pub(crate) fn bounds(fields: &Fields<'_>) -> Option<Bounds> {
    Some(Bounds {
        min_x: fields.coordinate("minX")?,
        max_x: fields.coordinate("maxX")?,
        min_z: fields.coordinate("minZ")?,
        max_z: fields.coordinate("maxZ")?,
    })
}

/// A point written {x, z}; y is the terrain's business.
pub(crate) fn position(fields: &Fields<'_>) -> Option<Tile> {
    Some(Tile::new(fields.coordinate("x")?, fields.coordinate("z")?))
}
