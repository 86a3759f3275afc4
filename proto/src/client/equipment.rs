//! What is worn: eleven places, what may be done with them, and what is told of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventory::slot, sync::Stack, table::server_events};

/// Where something is worn.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Place {
    Weapon,
    Shield,
    Helmet,
    Body,
    Legs,
    Boots,
    Gloves,
    Cape,
    Amulet,
    Ring,
    Arrows,
}

impl Place {
    /// Its name on the wire.
    pub const fn wire(self) -> &'static str {
        match self {
            Place::Weapon => "weapon",
            Place::Shield => "shield",
            Place::Helmet => "helmet",
            Place::Body => "body",
            Place::Legs => "legs",
            Place::Boots => "boots",
            Place::Gloves => "gloves",
            Place::Cape => "cape",
            Place::Amulet => "amulet",
            Place::Ring => "ring",
            Place::Arrows => "arrows",
        }
    }
}

/// `inventory:equip`: wears what lies in a slot; what was worn there comes into the slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InventoryEquip {
    /// 0 to 27.
    pub slot: u8,
}

impl InventoryEquip {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        slot("slot", self.slot)
    }
}

/// `equipment:remove`: takes off what is worn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EquipmentRemove {
    /// Where.
    pub slot: Place,
}

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
