//! Equipment: its requests and notifications.

use std::collections::BTreeMap;

use proto::client::{
    equipment::{EquipmentUpdate, InventoryEquip, Place, PlaceUpdate},
    sync::Stack,
};
use world::{Intent, PlayerRecord, Worn, content::EquipSlot, equipment, equipment::Event};

use super::Told;

/// `inventory:equip`.
pub(crate) fn equip(asked: &InventoryEquip) -> Intent {
    Intent::Equipment(equipment::Intent::Equip { slot: asked.slot })
}

/// `equipment:remove`.
pub(crate) fn remove(asked: Place) -> Intent {
    let place = match asked {
        Place::Weapon => EquipSlot::Weapon,
        Place::Shield => EquipSlot::Shield,
        Place::Helmet => EquipSlot::Helmet,
        Place::Body => EquipSlot::Body,
        Place::Legs => EquipSlot::Legs,
        Place::Boots => EquipSlot::Boots,
        Place::Gloves => EquipSlot::Gloves,
        Place::Cape => EquipSlot::Cape,
        Place::Amulet => EquipSlot::Amulet,
        Place::Ring => EquipSlot::Ring,
        Place::Arrows => EquipSlot::Arrows,
    };
    Intent::Equipment(equipment::Intent::Unequip { place })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_and_the_world_call_places_the_same() {
        for place in EquipSlot::ALL {
            let word = serde_json::json!({ "slot": place.name() });
            let asked: proto::client::equipment::EquipmentRemove =
                serde_json::from_value(word).unwrap();
            assert_eq!(asked.slot.wire(), place.name());
            assert_eq!(
                remove(asked.slot),
                Intent::Equipment(equipment::Intent::Unequip { place })
            );
        }
    }
}
