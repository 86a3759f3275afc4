//! What is worn: eleven places, what may be done with them, and what is told of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{sync::Stack, table::server_events};

/// What is worn in a place now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceUpdate {
    /// weapon, shield …
    pub slot: String,
    /// Null: nothing.
    pub item: Option<Stack>,
}

/// `equipment:update`: the places that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EquipmentUpdate {
    /// Each at most once.
    pub slots: Vec<PlaceUpdate>,
}

server_events! {
    EquipmentUpdate => "equipment:update",
}
