//! Prayers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// `prayer:update`: what a player has of prayer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prayer {
    /// Points left.
    pub points: u32,
    /// Points at most.
    pub max_points: u32,
    /// The ids of the prayers that are on.
    pub active: Vec<String>,
}

server_events! {
    Prayer => "prayer:update",
}
