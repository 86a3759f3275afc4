//! `duel-arenas.json`: places for duels. If an area has sub-zones for duels, those count and this
//! file does not.

use std::sync::Arc;

use super::areas::position;
use super::fields::Fields;
use super::reader::Reader;
use crate::geometry::tile::Tile;

/// File of the arenas.
const FILE: &str = "duel-arenas.json";

/// Arena for duels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arena {
    /// Id, unique among arenas; a number in upstream's.
    pub id: Arc<str>,
    /// Middle of the arena.
    pub center: Tile,
    /// Width and depth, in tiles.
    pub size: (i32, i32),
    /// Tiles on which the two begin.
    pub begins: Vec<Tile>,
    /// Tiles on which one gives up.
    pub trapdoors: Vec<Tile>,
}

/// Place beside the arenas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hall {
    /// Middle of the hall.
    pub center: Tile,
    /// Width and depth, in tiles.
    pub size: (i32, i32),
    /// Tile on which an arriving player stands.
    pub spawn: Tile,
}

/// Arenas for duels and the halls beside them.
#[derive(Debug, Default)]
pub struct DuelArenas {
    /// Arenas, in the order of the manifest.
    pub arenas: Vec<Arena>,
    /// Hall in which players challenge each other.
    pub lobby: Option<Hall>,
    /// Hall in which the beaten wake.
    pub hospital: Option<Hall>,
}

pub(crate) fn load(reader: &Reader) -> DuelArenas {
    let arenas = reader.records(FILE);
    let whole = reader.optional(FILE).is_some_and(|value| value.is_object());
    let root = whole.then(|| reader.object(FILE)).flatten();
    let hall_of = |name: &str| root.as_ref().and_then(|root| hall(&root.object(name)?));
    DuelArenas {
        arenas: arenas.iter().filter_map(arena).collect(),
        lobby: hall_of("lobby"),
        hospital: hall_of("hospital"),
    }
}

fn arena(fields: &Fields<'_>) -> Option<Arena> {
    let number = fields.get("arenaId").and_then(|id| id.as_f64());
    let id = match number {
        Some(number) => format!("{number}"),
        None => fields.key("arenaId")?.to_owned(),
    };
    let points = |name: &str| fields.objects(name).iter().filter_map(position).collect();
    Some(Arena {
        id: id.into(),
        center: middle(fields)?,
        size: size(fields),
        begins: points("spawnPoints"),
        trapdoors: points("trapdoorPositions"),
    })
}

fn hall(fields: &Fields<'_>) -> Option<Hall> {
    let center = middle(fields)?;
    let spawn = fields.object("spawnPoint");
    Some(Hall {
        center,
        size: size(fields),
        spawn: spawn.as_ref().and_then(position).unwrap_or(center),
    })
}

fn middle(fields: &Fields<'_>) -> Option<Tile> {
    let center = fields.object("center").as_ref().and_then(position);
    if center.is_none() {
        fields.warn("center", "must be {x, z}, skipped");
    }
    center
}

/// Reads a number for both sides, or {width, depth}.
fn size(fields: &Fields<'_>) -> (i32, i32) {
    let one = |value: u32| value.clamp(1, 256).cast_signed();
    if fields.get("size").is_some_and(|size| size.is_object()) {
        let size = fields.object("size");
        let side = |names: &[&str]| {
            size.as_ref()
                .map_or(1, |size| one(size.count_or(size.either(names), 1)))
        };
        return (side(&["width"]), side(&["depth", "length"]));
    }
    let side = one(fields.count_or("size", 1));
    (side, side)
}
