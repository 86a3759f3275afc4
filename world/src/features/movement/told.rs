//! Messages about where the own character stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::server_events;
use crate::told::Position;

/// `teleport`: the own character stands elsewhere at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Teleport {
    /// Tile of the player.
    pub position: Position,
}

server_events! {
    Teleport => "teleport",
}
