//! What is told of one's grave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{sync::Stack, table::server_events};

/// A tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraveTile {
    /// East.
    pub x: i32,
    /// North.
    pub z: i32,
}

/// `grave:update`: what lies in one's grave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraveUpdate {
    /// Its entity.
    pub grave_id: String,
    /// Where it stands; absent: it is no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<GraveTile>,
    /// What is in it.
    pub items: Vec<Stack>,
    /// For so long only its owner opens it, in milliseconds; then its things lie about.
    pub expires_in_ms: u64,
}

server_events! {
    GraveUpdate => "grave:update",
}
