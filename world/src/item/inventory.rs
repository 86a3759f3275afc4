//! The pack: 28 slots.
//!
//! Always: an item that can be stacked lies in one slot, as far as it fits. Of any other item there
//! is one in a slot. A refusal has changed nothing, or only a draft that the caller throws away.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{QUANTITY_MAX, SLOTS, Stack};
use crate::content::Content;
use crate::refusal::Refusal;

/// Contents of the slots of a pack, 0 to 27.
pub type Pack = BTreeMap<u8, Stack>;

/// Takes `quantity` out of `slot`, and returns the item.
///
/// # Errors
/// `EmptySlot`; `NotEnough`: there are fewer, or the request is for none.
pub(crate) fn take(pack: &mut Pack, slot: u8, quantity: u32) -> Result<Arc<str>, Refusal> {
    let stack = pack.get_mut(&slot).ok_or(Refusal::EmptySlot)?;
    let item = Arc::clone(&stack.item);
    let left = stack.quantity.checked_sub(quantity);
    let left = left.filter(|_| quantity > 0).ok_or(Refusal::NotEnough)?;
    if left == 0 {
        pack.remove(&slot);
    } else {
        stack.quantity = left;
    }
    Ok(item)
}

/// Takes `quantity` of `item` from all its slots, the first slot first.
///
/// # Errors
/// `NotEnough`: there are fewer, or the request is for none.
pub(crate) fn take_item(pack: &mut Pack, item: &str, quantity: u32) -> Result<(), Refusal> {
    if quantity == 0 || count(pack, item) < u64::from(quantity) {
        return Err(Refusal::NotEnough);
    }
    let mut missing = quantity;
    pack.retain(|_, stack| {
        if *stack.item == *item {
            let taken = missing.min(stack.quantity);
            missing -= taken;
            stack.quantity -= taken;
        }
        stack.quantity > 0
    });
    Ok(())
}

/// Puts `stack` in: where the same lies already, or into the first free slots.
///
/// # Errors
/// `InventoryFull`: it does not fit. The pack may have changed then.
pub(crate) fn put(pack: &mut Pack, content: &Content, stack: &Stack) -> Result<(), Refusal> {
    if !content.stackable(&stack.item) {
        for _ in 0..stack.quantity {
            let slot = free(pack).ok_or(Refusal::InventoryFull)?;
            pack.insert(slot, Stack::new(Arc::clone(&stack.item), 1));
        }
        return Ok(());
    }
    let same = pack.values_mut().find(|there| there.item == stack.item);
    if let Some(there) = same {
        let sum = there.quantity.checked_add(stack.quantity);
        let sum = sum.filter(|sum| *sum <= QUANTITY_MAX);
        there.quantity = sum.ok_or(Refusal::InventoryFull)?;
        return Ok(());
    }
    let slot = free(pack).filter(|_| stack.quantity <= QUANTITY_MAX);
    pack.insert(slot.ok_or(Refusal::InventoryFull)?, stack.clone());
    Ok(())
}

/// Puts `stack` into `slot`, which is empty.
///
/// # Errors
/// `NotFound`: there is no such slot. `Busy`: something lies there.
pub(crate) fn put_at(pack: &mut Pack, slot: u8, stack: &Stack) -> Result<(), Refusal> {
    if slot >= SLOTS {
        return Err(Refusal::NotFound);
    }
    if pack.contains_key(&slot) {
        return Err(Refusal::Busy);
    }
    pack.insert(slot, stack.clone());
    Ok(())
}

/// Puts `stack` into the first of `places` that is free, whatever lies in the others.
///
/// # Errors
/// `InventoryFull`: none is. `NotEnough`: it is nothing, or too much for one place.
pub(crate) fn put_apart(pack: &mut Pack, places: u8, stack: &Stack) -> Result<(), Refusal> {
    if stack.quantity == 0 || stack.quantity > QUANTITY_MAX {
        return Err(Refusal::NotEnough);
    }
    let place = (0..places).find(|place| !pack.contains_key(place));
    pack.insert(place.ok_or(Refusal::InventoryFull)?, stack.clone());
    Ok(())
}

/// Returns the number of empty slots.
pub(crate) fn free_slots(pack: &Pack) -> u32 {
    let used = u32::try_from(pack.len()).unwrap_or(u32::MAX);
    u32::from(SLOTS).saturating_sub(used)
}

/// Swaps the contents of the slots `from` and `to`.
///
/// # Errors
/// `EmptySlot`: nothing lies in `from`. `NotFound`: there is no slot `to`.
pub(crate) fn swap(pack: &mut Pack, from: u8, to: u8) -> Result<(), Refusal> {
    if to >= SLOTS {
        return Err(Refusal::NotFound);
    }
    let moved = pack.remove(&from).ok_or(Refusal::EmptySlot)?;
    if let Some(back) = pack.insert(to, moved) {
        pack.insert(from, back);
    }
    Ok(())
}

/// Returns how many of `item` are in the pack.
pub(crate) fn count(pack: &Pack, item: &str) -> u64 {
    let same = pack.values().filter(|stack| *stack.item == *item);
    same.map(|stack| u64::from(stack.quantity)).sum()
}

fn free(pack: &Pack) -> Option<u8> {
    (0..SLOTS).find(|slot| !pack.contains_key(slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(slots: &[(u8, &str, u32)]) -> Pack {
        let slots = slots.iter();
        slots
            .map(|(at, item, n)| (*at, Stack::new(*item, *n)))
            .collect()
    }

    fn put_into(before: &[(u8, &str, u32)], item: &str, quantity: u32) -> Result<Pack, Refusal> {
        let mut pack = pack(before);
        let stack = Stack::new(item, quantity);
        put(&mut pack, &Content::embedded(), &stack).map(|()| pack)
    }

    #[test]
    fn what_stacks_goes_to_its_like_and_the_rest_to_free_slots() {
        let before = [(0, "logs", 1), (2, "candle", 4)];
        let candles = put_into(&before, "candle", 3);
        assert_eq!(candles, Ok(pack(&[(0, "logs", 1), (2, "candle", 7)])));
        let logs = put_into(&before, "logs", 2).unwrap();
        assert_eq!(logs.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
        let unknown = put_into(&[], "from_another_world", 9);
        assert_eq!(unknown, Ok(pack(&[(0, "from_another_world", 9)])));
    }

    #[test]
    fn a_pack_has_28_slots_and_a_stack_an_end() {
        let names: Vec<String> = (0..27).map(|n| format!("unknown_{n}")).collect();
        let full: Vec<(u8, &str, u32)> = (0..).zip(&names).map(|(n, i)| (n, &**i, 1)).collect();
        assert!(put_into(&full, "logs", 1).unwrap().contains_key(&27));
        assert_eq!(put_into(&full, "logs", 2), Err(Refusal::InventoryFull));
        let coins = [(0, "coins", QUANTITY_MAX - 1)];
        assert!(put_into(&coins, "coins", 1).is_ok());
        assert_eq!(put_into(&coins, "coins", 2), Err(Refusal::InventoryFull));
        let far = put_into(&[], "coins", QUANTITY_MAX + 1);
        assert_eq!(far, Err(Refusal::InventoryFull));
    }

    #[test]
    fn nobody_takes_more_than_there_is() {
        let mut held = pack(&[(3, "candle", 4), (5, "candle", 2)]);
        assert_eq!(take(&mut held, 3, 5), Err(Refusal::NotEnough));
        assert_eq!(take(&mut held, 3, 0), Err(Refusal::NotEnough));
        assert_eq!(take(&mut held, 4, 1), Err(Refusal::EmptySlot));
        assert_eq!(take_item(&mut held, "candle", 7), Err(Refusal::NotEnough));
        assert_eq!(take_item(&mut held, "candle", 0), Err(Refusal::NotEnough));
        assert_eq!(held, pack(&[(3, "candle", 4), (5, "candle", 2)]));
        assert_eq!(take(&mut held, 3, 1), Ok("candle".into()));
        assert_eq!(take_item(&mut held, "candle", 4), Ok(()));
        assert_eq!(held, pack(&[(5, "candle", 1)]));
        assert_eq!(take(&mut held, 5, 1), Ok("candle".into()));
        assert_eq!(held, Pack::new());
    }

    #[test]
    fn slots_change_places() {
        let mut held = pack(&[(3, "candle", 4), (5, "logs", 1)]);
        assert_eq!(swap(&mut held, 3, 5), Ok(()));
        assert_eq!(held, pack(&[(3, "logs", 1), (5, "candle", 4)]));
        assert_eq!(swap(&mut held, 3, 27), Ok(()));
        assert_eq!(swap(&mut held, 3, 27), Err(Refusal::EmptySlot));
        assert_eq!(swap(&mut held, 27, 28), Err(Refusal::NotFound));
        assert_eq!(swap(&mut held, 27, 27), Ok(()));
        assert_eq!(held, pack(&[(5, "candle", 4), (27, "logs", 1)]));
    }
}
