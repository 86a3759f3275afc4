//! Messages about the pack and the pouch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::inventory::Pack;
use crate::server_events;
use crate::told::Stack;

/// Stack in a slot of the pack now.
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

/// `coins:update`: the coins in the pouch now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoinsUpdate {
    /// All of it.
    pub coins: u64,
}

server_events! {
    InventoryUpdate => "inventory:update",
    CoinsUpdate => "coins:update",
}

/// Returns these slots of a pack, as they are now.
pub fn update(pack: &Pack, slots: &[u8]) -> InventoryUpdate {
    let slots = slots.iter().map(|slot| SlotUpdate {
        slot: *slot,
        item: pack.get(slot).map(Stack::from),
    });
    InventoryUpdate {
        slots: slots.collect(),
    }
}
