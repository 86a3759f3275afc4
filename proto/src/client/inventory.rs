//! The pack: 28 slots, what may be done with them, and what is told of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{sync::Stack, table::server_events};

/// What lies in a slot now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotUpdate {
    /// 0 to 27.
    pub slot: u8,
    /// Null: nothing.
    pub item: Option<Stack>,
}

/// `inventory:update`: the slots that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryUpdate {
    /// Each at most once.
    pub slots: Vec<SlotUpdate>,
}

server_events! {
    InventoryUpdate => "inventory:update",
}
