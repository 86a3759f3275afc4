//! Messages about worn equipment.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::item::worn::Worn;
use crate::server_events;
use crate::told::Stack;

/// Item in an equipment slot now.
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

/// Returns these places, as they are now.
pub fn update(worn: &Worn, slots: &[EquipSlot]) -> EquipmentUpdate {
    let slots = slots.iter().map(|slot| PlaceUpdate {
        slot: slot.name().to_owned(),
        item: worn.get(slot).map(Stack::from),
    });
    EquipmentUpdate {
        slots: slots.collect(),
    }
}

/// Returns all equipment by the names of its places.
pub fn all(worn: &Worn) -> BTreeMap<String, Stack> {
    let places = worn.iter();
    places
        .map(|(slot, worn)| (slot.name().to_owned(), Stack::from(worn)))
        .collect()
}
