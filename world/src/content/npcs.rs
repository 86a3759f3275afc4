//! `npcs.json`: what kinds of people and beasts there are.

use std::sync::Arc;

use crate::content::areas::position;
use crate::content::catalog::Catalog;
use crate::content::fields::Fields;
use crate::content::reader::{ContentError, Reader};
use crate::tile::Tile;

/// The file.
pub(crate) const FILE: &str = "npcs.json";

/// A kind of NPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpcKind {
    /// Unique among kinds.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What a good look tells.
    pub description: Arc<str>,
    /// mob, neutral …
    pub category: Arc<str>,
    /// Combat level.
    pub level: u32,
    /// Health when well.
    pub health: u32,
    /// Whether anybody may attack it.
    pub attackable: bool,
    /// How it moves of its own accord.
    pub movement: Movement,
    /// Steps it takes in a tick.
    pub tiles_per_tick: u32,
    /// How far it strays from home at most, in steps.
    pub leash_tiles: i32,
}

/// How an NPC moves of its own accord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    /// Not at all.
    Stationary,
    /// To random tiles within so many steps of home.
    Wander {
        /// Steps.
        radius: i32,
    },
    /// From point to point and round again.
    Patrol {
        /// The points, where the one who is placed has none of its own.
        points: Vec<Tile>,
    },
}

pub(crate) fn load(reader: &Reader) -> Result<Catalog<NpcKind>, ContentError> {
    let mut kinds = Catalog::default();
    for fields in &reader.required_records(FILE)? {
        if let Some(id) = fields.key("id") {
            kinds.add(fields, id, kind(id, fields));
        }
    }
    Ok(kinds)
}

fn kind<'v>(id: &'v str, fields: &Fields<'v>) -> NpcKind {
    let stats = fields.object("stats");
    let stat = |name: &str, default: i64| {
        let value = stats.as_ref().map_or(default, |s| s.int_or(name, default));
        value.clamp(1, 1_000_000) as u32
    };
    let combat = fields.object("combat");
    let leash = combat.as_ref().map_or(7, |c| c.int_or("leashRange", 7));
    let movement = fields.object("movement");
    // Units a second times 0.6 s, rounded to whole tiles, one at least.
    let speed = movement
        .as_ref()
        .map_or(0, |m| m.scaled_or("speed", 600, 0));
    NpcKind {
        id: id.into(),
        name: fields.name(id).into(),
        description: fields.text_or("description", "").into(),
        category: fields.text_or("category", "neutral").to_lowercase().into(),
        level: stat("level", 1),
        health: stat("health", 10),
        attackable: combat
            .as_ref()
            .is_none_or(|c| c.flag_or("attackable", true)),
        movement: movement.as_ref().map_or(Movement::Stationary, moves),
        tiles_per_tick: (speed.saturating_add(500) / 1_000).clamp(1, 8) as u32,
        leash_tiles: leash.clamp(0, 64) as i32,
    }
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

/// The points of `patrolPath`, in the world's coordinates.
pub(crate) fn patrol(fields: &Fields<'_>) -> Vec<Tile> {
    let list = fields.objects("patrolPath");
    let points: Vec<Tile> = list.iter().filter_map(position).collect();
    if points.len() < list.len() {
        fields.warn("patrolPath", "a point is not {x, z}, skipped");
    }
    points
}
