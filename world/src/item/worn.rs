//! What a character wears: at most one stack in each of eleven places.
//!
//! Always: only what can be stacked is worn more than once in a place.

use std::collections::BTreeMap;

use super::inventory::Pack;
use super::{QUANTITY_MAX, Stack};
use crate::content::{Bonuses, Content, EquipSlot};
use crate::refusal::Refusal;

/// What is worn, by place.
pub type Worn = BTreeMap<EquipSlot, Stack>;

/// Takes all off that is worn in `slot`.
///
/// # Errors
/// `EmptySlot`; `NotEnough`: it is not `quantity` that is worn there.
pub(crate) fn take(worn: &mut Worn, slot: EquipSlot, quantity: u32) -> Result<Stack, Refusal> {
    let stack = worn.remove(&slot).ok_or(Refusal::EmptySlot)?;
    if stack.quantity != quantity {
        return Err(Refusal::NotEnough);
    }
    Ok(stack)
}

/// Puts `stack` on, where nothing is worn or more of the same.
///
/// # Errors
/// `Busy`: something else is worn there. `InventoryFull`: too much of the same is.
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

/// What all that is worn adds to its wearer's rolls.
pub fn bonuses(content: &Content, worn: &Worn) -> Bonuses {
    let kinds = worn.values().filter_map(|stack| content.item(&stack.item));
    kinds.fold(Bonuses::default(), |sum, kind| sum.plus(kind.bonuses))
}

/// What pack and clothes weigh; never below nothing.
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
