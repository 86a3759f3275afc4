//! Clothes of a character: at most one stack in each of eleven places.
//!
//! Always: only an item that can be stacked lies more than once in a place.

use std::collections::BTreeMap;

use super::inventory::Pack;
use super::{QUANTITY_MAX, Stack};
use crate::content::{Bonuses, Content, EquipSlot};
use crate::refusal::Refusal;

/// Worn stacks, by place.
pub type Worn = BTreeMap<EquipSlot, Stack>;

/// Takes the whole stack off `slot`.
///
/// # Errors
/// `EmptySlot`; `NotEnough`: the stack there is not of `quantity`.
pub(crate) fn take(worn: &mut Worn, slot: EquipSlot, quantity: u32) -> Result<Stack, Refusal> {
    let stack = worn.remove(&slot).ok_or(Refusal::EmptySlot)?;
    if stack.quantity != quantity {
        return Err(Refusal::NotEnough);
    }
    Ok(stack)
}

/// Puts `stack` on in an empty place, or onto more of the same.
///
/// # Errors
/// `Busy`: another item is there. `InventoryFull`: there is too much of the same.
pub(crate) fn put(worn: &mut Worn, slot: EquipSlot, stack: &Stack) -> Result<(), Refusal> {
    let Some(there) = worn.get_mut(&slot) else {
        worn.insert(slot, stack.clone());
        return Ok(());
    };
    if there.item != stack.item {
        return Err(Refusal::Busy);
    }
    let sum = there.quantity.checked_add(stack.quantity);
    let sum = sum.filter(|sum| *sum <= QUANTITY_MAX);
    there.quantity = sum.ok_or(Refusal::InventoryFull)?;
    Ok(())
}

/// Returns the sum of the bonuses of all worn things to the rolls of their wearer.
pub fn bonuses(content: &Content, worn: &Worn) -> Bonuses {
    let kinds = worn.values().filter_map(|stack| content.item(&stack.item));
    kinds.fold(Bonuses::default(), |sum, kind| sum.plus(kind.bonuses))
}

/// Returns the weight of pack and clothes, in grams; never below nothing.
pub fn weight_grams(content: &Content, pack: &Pack, worn: &Worn) -> u32 {
    let grams = |stack: &Stack| {
        let each = content
            .item(&stack.item)
            .map_or(0, |kind| kind.weight_grams);
        i64::from(each) * i64::from(stack.quantity)
    };
    let sum: i64 = pack.values().chain(worn.values()).map(grams).sum();
    u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_one_kind_of_thing() {
        let mut worn = Worn::new();
        let arrows = |n| Stack::new("bronze_arrow", n);
        assert_eq!(put(&mut worn, EquipSlot::Arrows, &arrows(5)), Ok(()));
        assert_eq!(put(&mut worn, EquipSlot::Arrows, &arrows(7)), Ok(()));
        let other = Stack::new("iron_arrow", 1);
        let refused = put(&mut worn, EquipSlot::Arrows, &other);
        assert_eq!(refused, Err(Refusal::Busy));
        let full = put(&mut worn, EquipSlot::Arrows, &arrows(QUANTITY_MAX));
        assert_eq!(full, Err(Refusal::InventoryFull));
        let none = take(&mut worn.clone(), EquipSlot::Cape, 1);
        assert_eq!(none, Err(Refusal::EmptySlot));
        let some = take(&mut worn.clone(), EquipSlot::Arrows, 11);
        assert_eq!(some, Err(Refusal::NotEnough));
        assert_eq!(take(&mut worn, EquipSlot::Arrows, 12), Ok(arrows(12)));
        assert!(worn.is_empty());
    }
}
