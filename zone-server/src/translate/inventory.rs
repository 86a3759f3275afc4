//! The pack and the pouch: their requests and notifications.

use std::collections::BTreeMap;

use proto::client::{
    coins::CoinsUpdate,
    inventory::{InventoryUpdate, SlotUpdate},
    sync::Stack,
};
use world::{PlayerRecord, Stack as Held, pack::Event};

use super::Told;

/// `inventory:update` of these slots.
pub(crate) fn update(inventory: &BTreeMap<u8, Held>, slots: &[u8]) -> InventoryUpdate {
    let slots = slots.iter().map(|slot| SlotUpdate {
        slot: *slot,
        item: stack(inventory, *slot),
    });
    InventoryUpdate {
        slots: slots.collect(),
    }
}

/// Returns the stack in a slot, as a client reads it.
pub(crate) fn stack(inventory: &BTreeMap<u8, Held>, slot: u8) -> Option<Stack> {
    inventory.get(&slot).map(|stack| Stack {
        item_id: stack.item.to_string(),
        quantity: stack.quantity,
    })
}

/// Returns what a player is told of its pack and its pouch.
pub(crate) fn told(event: &Event, record: &PlayerRecord) -> Told {
    match event {
        Event::Slots { slots, .. } => Told::of_value(&update(&record.inventory, slots)),
        Event::Coins { .. } => Told::of_value(&CoinsUpdate {
            coins: record.coins,
        }),
    }
}
