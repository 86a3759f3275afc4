//! Equipment: its requests and notifications.

use std::collections::BTreeMap;

use proto::client::{
    equipment::{EquipmentUpdate, PlaceUpdate},
    sync::Stack,
};
use world::{PlayerRecord, Worn, content::EquipSlot, equipment::Event};

use super::Told;

/// `equipment:update` of these places.
pub(crate) fn update(worn: &Worn, slots: &[EquipSlot]) -> EquipmentUpdate {
    let slots = slots.iter().map(|slot| PlaceUpdate {
        slot: slot.name().to_owned(),
        item: worn.get(slot).map(stack),
    });
    EquipmentUpdate {
        slots: slots.collect(),
    }
}

/// Returns all equipment, as `player:sync` shows it.
pub(crate) fn all(worn: &Worn) -> BTreeMap<String, Stack> {
    let places = worn.iter();
    places
        .map(|(slot, worn)| (slot.name().to_owned(), stack(worn)))
        .collect()
}

fn stack(worn: &world::Stack) -> Stack {
    Stack {
        item_id: worn.item.to_string(),
        quantity: worn.quantity,
    }
}

/// Returns what a player is told of what it wears.
pub(crate) fn told(event: &Event, record: &PlayerRecord) -> Told {
    match event {
        Event::Changed { slots, .. } => Told::of_value(&update(&record.equipment, slots)),
    }
}
