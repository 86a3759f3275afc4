//! `npcs.json`, and the older `mobs.json`: kinds of people and beasts.

mod combat;
mod dialogue;
mod drops;
mod services;

use std::sync::Arc;

pub use combat::{Fight, Stats};
pub use dialogue::{Answer, Condition, Dialogue, Effect, Node, Overrides, Test};
pub use drops::{Drop, Drops};
pub use services::{ServiceKind, Services};

use super::areas::position;
use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{ContentError, Of, Reader};
use crate::geometry::tile::Tile;

/// File of the NPCs.
const FILE: &str = "npcs.json";
/// File of the beasts in the oldest generation.
const MOBS: &str = "mobs.json";
/// Steps that an NPC strays from home, if its record gives none.
const LEASH_TILES: i64 = 7;

/// Kind of NPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpcKind {
    /// Id, unique among kinds.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Text for a good look.
    pub description: Arc<str>,
    /// Category: mob, neutral …
    pub category: Arc<str>,
    /// Faction: monster, town …; empty for none.
    pub faction: Arc<str>,
    /// Combat level.
    pub level: u32,
    /// Health when well.
    pub health: u32,
    /// Whether anybody may attack it.
    pub attackable: bool,
    /// Movement of its own accord.
    pub movement: Movement,
    /// Steps that it takes in a tick.
    pub tiles_per_tick: u32,
    /// Most steps that it strays from home.
    pub leash_tiles: i32,
    /// Levels in fighting.
    pub stats: Stats,
    /// NPC combat: how it fights.
    pub fight: Fight,
    /// Things that it leaves behind.
    pub drops: Drops,
    /// Services for people.
    pub services: Services,
    /// Its talk; none if it says nothing.
    pub dialogue: Option<Arc<Dialogue>>,
    /// Model; a path that begins with `asset://`.
    pub model: Option<Arc<str>>,
    /// Scale of the model, in thousandths.
    pub scale_thousandths: u32,
}

/// Movement of an NPC of its own accord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    /// No movement.
    Stationary,
    /// Walks to random tiles within so many steps of home.
    Wander {
        /// Steps from home.
        radius: i32,
    },
    /// Walks from point to point and round again.
    Patrol {
        /// Points, for a placed NPC that has none of its own.
        points: Vec<Tile>,
    },
}

impl NpcKind {
    /// Returns an NPC without any details: level 1, standing about, in nobody's way.
    pub(crate) fn plain(id: &str, name: &str) -> NpcKind {
        NpcKind {
            id: id.into(),
            name: name.into(),
            description: "".into(),
            category: "neutral".into(),
            faction: "".into(),
            level: 1,
            health: 10,
            attackable: false,
            movement: Movement::Stationary,
            tiles_per_tick: 1,
            leash_tiles: LEASH_TILES as i32,
            stats: Stats::default(),
            fight: Fight::default(),
            drops: Drops::default(),
            services: Services::default(),
            dialogue: None,
            model: None,
            scale_thousandths: 1_000,
        }
    }
}

pub(crate) fn load(reader: &Reader) -> Result<Catalog<NpcKind>, ContentError> {
    let mut kinds = Catalog::default();
    for fields in &reader.required_records(FILE)? {
        if let Some(id) = fields.key("id") {
            kinds.add(fields, id, kind(id, fields, "neutral"));
        }
    }
    for fields in &reader.records(MOBS) {
        if let Some(id) = fields.key("id") {
            kinds.add(fields, id, kind(id, fields, "mob"));
        }
    }
    Ok(kinds)
}

fn kind<'v>(id: &'v str, fields: &Fields<'v>, category: &'static str) -> NpcKind {
    let combat = fields.object("combat");
    // The oldest generation keeps both values on the record itself and in `behavior`.
    let behavior = fields.object("behavior");
    let leash = combat.as_ref().filter(|c| c.has("leashRange"));
    let leash = leash.or(behavior.as_ref()).map_or(LEASH_TILES, |f| {
        f.int_or(f.either(&["leashRange", "chaseRange"]), LEASH_TILES)
    });
    fields.refer_all("spawnBiomes", Of::Biome, "it never lives there");
    let movement = fields.object("movement");
    let stats = fields.object("stats");
    let stat = |name: &str, old: &str, default: u32| {
        let own = stats.as_ref().filter(|stats| stats.has(name));
        let count = own.map_or_else(
            || fields.count_or(fields.either(&[old, name]), default),
            |stats| stats.count_or(name, default),
        );
        count.clamp(1, 1_000_000)
    };
    let appearance = fields.object("appearance");
    let model = appearance.as_ref().unwrap_or(fields).text("modelPath");
    NpcKind {
        name: fields.name(id).into(),
        description: fields.text("description"),
        category: fields.text_or("category", category).to_lowercase().into(),
        faction: fields.text_or("faction", "").to_lowercase().into(),
        level: stat("level", "level", 1),
        health: stat("health", "maxHealth", 10),
        attackable: combat
            .as_ref()
            .map_or(category == "mob" || !old_person(fields), |c| {
                c.flag_or("attackable", true)
            }),
        movement: movement.as_ref().map_or(Movement::Stationary, moves),
        tiles_per_tick: steps(movement.as_ref(), fields),
        leash_tiles: leash.clamp(0, 64) as i32,
        stats: combat::stats(stats.as_ref()),
        fight: combat::fight(fields, combat.as_ref(), behavior.as_ref()),
        drops: drops::read(fields),
        services: services::read(fields),
        dialogue: dialogue::read(fields).map(Arc::new),
        model: Some(model).filter(|path| !path.is_empty()),
        scale_thousandths: appearance.map_or(1_000, |a| a.parts_or("scale", 1_000, 1_000)),
        ..NpcKind::plain(id, "")
    }
}

/// Returns whether the record is one of the people of the oldest generation.
fn old_person(fields: &Fields<'_>) -> bool {
    fields.has("npcType")
}

/// Returns units a second times 0.6 s, rounded to whole tiles, one at least.
fn steps(movement: Option<&Fields<'_>>, fields: &Fields<'_>) -> u32 {
    let speed = match movement {
        Some(movement) => movement.scaled_or("speed", 600, 0),
        None => fields.scaled_or("moveSpeed", 600, 0),
    };
    (speed.saturating_add(500) / 1_000).clamp(1, 8) as u32
}

fn moves(fields: &Fields<'_>) -> Movement {
    match fields.text_or("type", "stationary").to_lowercase().as_str() {
        "stationary" => Movement::Stationary,
        "wander" => Movement::Wander {
            radius: fields.int_or("wanderRadius", 5).clamp(0, 64) as i32,
        },
        "patrol" => Movement::Patrol {
            points: patrol(fields),
        },
        _ => {
            fields.warn("type", "no such movement, stands still");
            Movement::Stationary
        }
    }
}

/// Reads the points of `patrolPath`, in the world's coordinates.
pub(crate) fn patrol(fields: &Fields<'_>) -> Vec<Tile> {
    let list = fields.objects("patrolPath");
    let points: Vec<Tile> = list.iter().filter_map(position).collect();
    if points.len() < list.len() {
        fields.warn("patrolPath", "a point is not {x, z}, skipped");
    }
    points
}

/// Reads the talk of a placed NPC that has words of its own.
pub(crate) fn own_words(fields: &Fields<'_>) -> Option<Arc<Dialogue>> {
    dialogue::read(fields).map(Arc::new)
}
