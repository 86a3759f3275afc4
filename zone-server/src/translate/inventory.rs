//! The pack and the pouch: their requests and notifications.

use std::collections::BTreeMap;

use proto::client::{
    ErrorCode,
    coins::{CoinsDeposit, CoinsUpdate, CoinsWithdraw},
    inventory::{
        InventoryDrop, InventoryMove, InventoryUpdate, InventoryUse, SlotUpdate, UseTarget,
    },
    sync::Stack,
};
use world::{
    Intent, PlayerRecord, Skill, Stack as Held, ground_items, pack, pack::Event, skilling, use_item,
};

use super::{Refused, Told};

/// `inventory:drop`.
pub(crate) fn drop(asked: &InventoryDrop) -> Intent {
    Intent::GroundItems(ground_items::Intent::Drop {
        slot: asked.slot,
        quantity: asked.quantity,
    })
}

/// `inventory:use`.
///
/// # Errors
/// There is no such skill.
pub(crate) fn used(asked: &InventoryUse) -> Result<Intent, Refused> {
    let slot = asked.slot;
    let skill = asked.skill.as_deref().map(skill).transpose()?;
    Ok(match &asked.target {
        None => Intent::UseItem(use_item::Intent::Use { slot, skill }),
        Some(UseTarget::Slot(other)) => Intent::Skilling(skilling::Intent::UseWith {
            slot,
            other: *other,
        }),
        Some(UseTarget::Entity(id)) => Intent::Skilling(skilling::Intent::UseOn {
            slot,
            target: id.as_str().into(),
        }),
    })
}

fn skill(name: &str) -> Result<Skill, Refused> {
    Skill::named(name).ok_or_else(|| Refused {
        code: ErrorCode::InvalidData,
        words: format!("skill: one of {}", Skill::ALL.map(Skill::name).join(", ")),
    })
}

/// `inventory:move`.
pub(crate) fn move_slot(asked: &InventoryMove) -> Intent {
    Intent::Pack(pack::Intent::MoveSlot {
        from: asked.from,
        to: asked.to,
    })
}

/// `coins:withdraw`.
pub(crate) fn withdraw(asked: &CoinsWithdraw) -> Intent {
    Intent::Pack(pack::Intent::WithdrawCoins {
        amount: asked.amount,
    })
}

/// `coins:deposit`.
pub(crate) fn deposit(asked: &CoinsDeposit) -> Intent {
    Intent::Pack(pack::Intent::DepositCoins {
        amount: asked.amount,
    })
}

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
