//! Banking: things in and out, as themselves or as notes.
//!
//! Always: the bank holds no notes of items that the content knows; a request for more than there
//! is gets all that there is.

use std::sync::Arc;

use crate::content::Content;
use crate::entity::player::record::PlayerRecord;
use crate::item::bank::Bank;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::item::{COINS, Stack, inventory};
use crate::refusal::Refusal;

/// Cause of the plan, only if items become notes or cease to be notes, and the legs to play.
pub(crate) type Plan = (Option<Cause>, Vec<Leg>);

/// Returns the plan to put `quantity` of the item in `slot`, from there first, into the bank.
///
/// # Errors
/// `EmptySlot`; `NotEnough`: the request is for none.
pub(crate) fn deposit(
    record: &PlayerRecord,
    content: &Content,
    slot: u8,
    quantity: u32,
    tab: u8,
) -> Result<Plan, Refusal> {
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let there = inventory::count(&record.inventory, &stack.item);
    let many = quantity.min(u32::try_from(there).unwrap_or(u32::MAX));
    let from_slot = many.min(stack.quantity);
    let who = || record.id.clone();
    let mut legs = vec![Leg::FromSlot {
        who: who(),
        slot,
        quantity: from_slot,
    }];
    if many > from_slot {
        let stack = Stack::new(stack.item.clone(), many - from_slot);
        legs.push(Leg::FromPack { who: who(), stack });
    }
    let kept = content.items().unnoted(&stack.item);
    let cause = (kept != stack.item).then_some(Cause::Note);
    let stack = Stack::new(kept, many);
    legs.push(Leg::ToBank {
        who: who(),
        stack,
        tab,
    });
    Ok((cause, legs))
}

/// Returns the plan to put all of the pack into the bank, as far as there is room.
///
/// # Errors
/// `EmptySlot`: there is nothing in the pack. `BankFull`.
pub(crate) fn deposit_all(
    record: &PlayerRecord,
    content: &Content,
    tab: u8,
) -> Result<Plan, Refusal> {
    let taken = record.inventory.iter().map(|(slot, stack)| {
        let leg = Leg::FromSlot {
            who: record.id.clone(),
            slot: *slot,
            quantity: stack.quantity,
        };
        (leg, stack)
    });
    all(record, content, taken, tab)
}

/// Returns the plan to put all worn things into the bank, as far as there is room.
///
/// # Errors
/// `EmptySlot`: the player wears nothing. `BankFull`.
pub(crate) fn deposit_worn(
    record: &PlayerRecord,
    content: &Content,
    tab: u8,
) -> Result<Plan, Refusal> {
    let taken = record.equipment.iter().map(|(slot, stack)| {
        let leg = Leg::FromWorn {
            who: record.id.clone(),
            slot: *slot,
            quantity: stack.quantity,
        };
        (leg, stack)
    });
    all(record, content, taken, tab)
}

fn all<'a>(
    record: &PlayerRecord,
    content: &Content,
    taken: impl Iterator<Item = (Leg, &'a Stack)>,
    tab: u8,
) -> Result<Plan, Refusal> {
    let mut bank: Bank = record.bank.clone();
    let (mut legs, mut cause, mut refusal) = (Vec::new(), None, Refusal::EmptySlot);
    for (leg, stack) in taken {
        let kept = content.items().unnoted(&stack.item);
        if let Err(why) = bank.put(&kept, stack.quantity, tab) {
            refusal = why;
            continue;
        }
        if kept != stack.item {
            cause = Some(Cause::Note);
        }
        legs.push(leg);
        legs.push(Leg::ToBank {
            who: record.id.clone(),
            stack: Stack::new(kept, stack.quantity),
            tab,
        });
    }
    if legs.is_empty() {
        return Err(refusal);
    }
    Ok((cause, legs))
}

/// Returns the plan to move `quantity` of `item` out of the bank into the pack, as far as there is
/// room; as notes if the player asks for notes.
///
/// # Errors
/// `NotEnough`: there is none. `NoNote`; `InventoryFull`.
pub(crate) fn withdraw(
    record: &PlayerRecord,
    content: &Content,
    item: &Arc<str>,
    quantity: u32,
    noted: bool,
) -> Result<Plan, Refusal> {
    let mut many = quantity.min(record.bank.count(item));
    let form = if noted {
        let note = content.items().note_of(item).ok_or(Refusal::NoNote)?;
        Arc::clone(&note.id)
    } else {
        Arc::clone(item)
    };
    if !content.stackable(&form) {
        let free = inventory::free_slots(&record.inventory);
        if free == 0 && many > 0 {
            return Err(Refusal::InventoryFull);
        }
        many = many.min(free);
    }
    let who = || record.id.clone();
    let from = Leg::FromBank {
        who: who(),
        stack: Stack::new(Arc::clone(item), many),
    };
    let cause = (form != *item).then_some(Cause::Note);
    let to = Leg::ToPack {
        who: who(),
        stack: Stack::new(form, many),
    };
    Ok((cause, vec![from, to]))
}

/// Returns the plan to move coins from the pouch into the bank, or back (`out`).
pub(crate) fn coins(record: &PlayerRecord, amount: u32, out: bool) -> Plan {
    let who = || record.id.clone();
    let stack = Stack::new(COINS, amount);
    let legs = if out {
        vec![
            Leg::FromBank { who: who(), stack },
            Leg::ToPouch { who: who(), amount },
        ]
    } else {
        vec![
            Leg::FromPouch { who: who(), amount },
            Leg::ToBank {
                who: who(),
                stack,
                tab: 0,
            },
        ]
    };
    (None, legs)
}
