//! Messages about deaths and graves.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;
use crate::geometry::tile::Tile;
use crate::server_events;
use crate::told::{Position, Stack};

/// `player:died`: the own character has no health left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerDied {
    /// The name of its killer, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<Arc<str>>,
    /// Tile of the player.
    pub position: Position,
    /// The tick at which it stands up again.
    pub respawn_tick: u64,
}

/// `player:respawned`: the own character has stood up again and is well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerRespawned {
    /// Tile of the player.
    pub position: Position,
}

/// `grave:update`: the contents of one's grave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraveUpdate {
    /// Its entity.
    pub grave_id: EntityId,
    /// Tile of the grave; absent: the grave is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Tile>,
    /// Items in the grave.
    pub items: Vec<Stack>,
    /// Time for which only its owner opens it, in milliseconds; then its things lie about.
    pub expires_in_ms: u64,
}

server_events! {
    PlayerDied => "player:died",
    PlayerRespawned => "player:respawned",
    GraveUpdate => "grave:update",
}
