//! Parts of areas in `world-areas.json` beside people and things: zones in zones, flattened ground,
//! and fishing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::areas::{bounds, position};
use super::fields::Fields;
use super::reader::Of;
use crate::geometry::tile::{Bounds, Tile};

/// Part of an area with rules of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubZone {
    /// Id, unique in the area.
    pub id: String,
    /// Name that players see.
    pub name: String,
    /// Tiles of the zone.
    pub bounds: Bounds,
    /// Whether players keep their things when they die here.
    pub safe_zone: bool,
    /// Tile on which an arriving player stands.
    pub spawn: Option<Tile>,
    /// Whether only fighters of a duel may enter.
    pub duel_only: bool,
    /// Arenas in the zone.
    pub arenas: Option<ArenaGrid>,
}

/// Arenas in rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaGrid {
    /// Number of arenas.
    pub count: u32,
    /// Number beside each other, east.
    pub columns: u32,
    /// Number behind each other, north.
    pub rows: u32,
    /// Tiles of an arena, east.
    pub width: u32,
    /// Tiles of an arena, north.
    pub length: u32,
    /// Tiles between arenas.
    pub gap: u32,
}

/// Flattened ground for something to stand on; it makes no difference to walkers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlatZone {
    /// Id, unique in the area.
    pub id: String,
    /// Middle of the ground.
    pub center: Tile,
    /// Tiles, east.
    pub width: u32,
    /// Tiles, north.
    pub depth: u32,
    /// Tiles over which it blends into the ground around.
    pub blend: u32,
}

/// Fishing spots that an area wants on its shores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fishing {
    /// Number of spots.
    pub spots: u32,
    /// Kinds of the spots, in turn.
    pub kinds: Vec<Arc<str>>,
}

pub(crate) fn sub_zones(area: &Fields<'_>) -> Vec<SubZone> {
    let zones = area.object("subZones");
    let zones = zones.map_or_else(Vec::new, |zones| zones.entries());
    let read = zones.into_iter().filter_map(|(id, f)| sub_zone(id, &f));
    read.collect()
}

fn sub_zone(id: &str, fields: &Fields<'_>) -> Option<SubZone> {
    let rectangle = fields.object("bounds").as_ref().and_then(bounds);
    let Some(bounds) = rectangle.filter(|bounds| bounds.area() > 0) else {
        let why = "must be {minX, maxX, minZ, maxZ}, the minima below the maxima; skipped";
        fields.warn("bounds", why);
        return None;
    };
    Some(SubZone {
        id: id.to_owned(),
        name: fields.text_or("name", "").to_owned(),
        bounds,
        safe_zone: fields.flag_or("safeZone", false),
        spawn: fields.object("spawnPoint").as_ref().and_then(position),
        duel_only: fields.flag_or("duelOnly", false),
        arenas: fields.has("arenaCount").then(|| grid(fields)),
    })
}

fn grid(fields: &Fields<'_>) -> ArenaGrid {
    let count = fields.count_or("arenaCount", 0).min(64);
    let layout = fields.text_or("arenaLayout", "");
    let sides = layout.split_once(['x', 'X']);
    let sides = sides.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    if sides.is_none() && !layout.is_empty() {
        fields.warn("arenaLayout", "not as in 2x3, one row is taken");
    }
    let (columns, rows): (u32, u32) = sides.unwrap_or((count, 1));
    let size = fields.object("arenaSize");
    let side = |name: &str, default| {
        let own = size.as_ref().map_or(default, |s| s.count_or(name, default));
        own.clamp(1, 256)
    };
    ArenaGrid {
        count,
        columns: columns.clamp(1, 64),
        rows: rows.clamp(1, 64),
        width: side("width", 20),
        length: side("length", 24),
        gap: fields.count_or("arenaGap", 4).min(64),
    }
}

pub(crate) fn flat_zones(area: &Fields<'_>) -> Vec<FlatZone> {
    let read = |fields: &Fields<'_>| {
        let center = Tile::new(fields.coordinate("centerX")?, fields.coordinate("centerZ")?);
        Some(FlatZone {
            id: fields.text_or("id", "").to_owned(),
            center,
            width: fields.count_or("width", 1),
            depth: fields.count_or("depth", 1),
            blend: fields.count_or("blendRadius", 0),
        })
    };
    let zones = area.objects("flatZones");
    zones
        .iter()
        .filter_map(|fields| {
            let zone = read(fields);
            if zone.is_none() {
                fields.warn("centerX", "must have centerX and centerZ, skipped");
            }
            zone
        })
        .collect()
}

pub(crate) fn fishing(area: &Fields<'_>) -> Option<Fishing> {
    let fields = area.object("fishing")?;
    fields.flag_or("enabled", true).then(|| Fishing {
        spots: fields.count_or("spotCount", 0).min(64),
        kinds: fields.refer_all("spotTypes", Of::Resource, "none of it appears"),
    })
}
