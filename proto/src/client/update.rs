//! The part of the world that a player sees.
//!
//! A client applies one `world:update` in this order over all its records: `gone`, `full`,
//! `leave`, `enter`, `update`. A leave counts only while the entity is in that chunk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::table::server_events;

/// A thing in the world as all may see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    /// Unique in the world.
    pub id: String,
    /// player, npc, resource, station, item, fire or grave.
    #[serde(rename = "type")]
    pub kind: String,
    /// East, in tiles.
    pub x: i32,
    /// North, in tiles.
    pub z: i32,
    /// `name` and all other public fields. Of a player who is an agent also `agent: true`, which no
    /// other entity has. While somebody performs an emote, `emote` names it. `worn` names the items
    /// that a player wears for all to see, with spaces between them; it is absent where there are
    /// none. While a player works, `doing` says at what: chop, mine, fish, pick, or the trade of a
    /// recipe, such as cook.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Changes of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityDelta {
    /// Id of the entity.
    pub id: String,
    /// Present tile, if it moved: east, in tiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<i32>,
    /// Present tile, if it moved: north, in tiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<i32>,
    /// Further fields; null removes one.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Changes in one chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChunkUpdate {
    /// Chunk coordinates.
    pub x: i32,
    /// Chunk coordinates.
    pub z: i32,
    /// `enter` is everything in the chunk: forget the chunk's old entities.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// New in this chunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enter: Vec<Entity>,
    /// Changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub update: Vec<EntityDelta>,
    /// Gone from this chunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave: Vec<String>,
    /// Shown once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<Value>,
}

/// `world:update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorldUpdate {
    /// The tick that this shows.
    pub tick: u64,
    /// Changes by chunk.
    pub chunks: Vec<ChunkUpdate>,
    /// Chunks that are out of sight now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<[i32; 2]>,
}

server_events! {
    WorldUpdate => "world:update",
}
