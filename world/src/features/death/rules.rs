//! Fate of the things of a character that died: it keeps a few if it dies at a safe place. The rest
//! goes to a grave, or lies about where players fight each other.
//!
//! Always: the character keeps the pouch and the bank; it loses all of the pack and the clothes
//! that it does not keep.

use std::collections::BTreeMap;

use crate::content::{Content, EquipSlot};
use crate::entity::player::record::PlayerRecord;
use crate::geometry::tile::Tile;
use crate::item::Stack;
use crate::item::leg::Leg;

/// Number of things that one keeps in safe areas: those of the greatest worth.
const KEPT: usize = 3;

/// Sort of place at which somebody dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The dead keep some things.
    Safe,
    /// The dead keep nothing.
    Wild,
    /// Players fight each other: the dead keep nothing, and there is no grave.
    Contested,
}

/// Returns the sort of place of `tile`.
pub(crate) fn place(content: &Content, tile: Tile) -> Place {
    match content.area_at(tile) {
        Some(area) if area.pvp => Place::Contested,
        Some(area) if area.safe_zone => Place::Safe,
        Some(_) | None => Place::Wild,
    }
}

/// Place of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Pack(u8),
    Worn(EquipSlot),
}

/// Something that a dead character loses.
pub(crate) struct Lost {
    /// Legs that take it.
    pub(crate) legs: Vec<Leg>,
    /// The lost stack.
    pub(crate) stack: Stack,
}

/// Returns the stacks that a character loses when it dies at `place`.
pub(crate) fn lost(record: &PlayerRecord, content: &Content, place: Place) -> Vec<Lost> {
    let pack = record.inventory.iter();
    let pack = pack.map(|(slot, stack)| (At::Pack(*slot), stack));
    let worn = record.equipment.iter();
    let worn = worn.map(|(slot, stack)| (At::Worn(*slot), stack));
    let all: Vec<(At, &Stack)> = pack.chain(worn).collect();
    let kept = if place == Place::Safe {
        kept(&all, content)
    } else {
        BTreeMap::new()
    };
    let lost = all.into_iter().filter_map(|(at, stack)| {
        let kept = kept.get(&at).copied().unwrap_or(0);
        let quantity = stack.quantity.checked_sub(kept).filter(|many| *many > 0)?;
        Some((at, Stack::new(stack.item.clone(), quantity)))
    });
    let taken = lost.map(|(at, stack)| Lost {
        legs: taken(record, at, stack.quantity),
        stack,
    });
    taken.collect()
}

/// Returns the legs that take `quantity` of the stack at `at`. A worn stack comes off as a whole,
/// and its kept part goes on again.
fn taken(record: &PlayerRecord, at: At, quantity: u32) -> Vec<Leg> {
    let who = || record.id.clone();
    let slot = match at {
        At::Pack(slot) => {
            let who = who();
            return vec![Leg::FromSlot {
                who,
                slot,
                quantity,
            }];
        }
        At::Worn(slot) => slot,
    };
    let Some(worn) = record.equipment.get(&slot) else {
        return Vec::new();
    };
    let mut legs = vec![Leg::FromWorn {
        who: who(),
        slot,
        quantity: worn.quantity,
    }];
    let kept = worn.quantity.saturating_sub(quantity);
    if kept > 0 {
        legs.push(Leg::ToWorn {
            who: who(),
            slot,
            stack: Stack::new(worn.item.clone(), kept),
        });
    }
    legs
}

/// Returns how many of each stack one keeps: one by one the thing of the greatest worth. If things
/// have the same worth, the order of places decides.
fn kept(all: &[(At, &Stack)], content: &Content) -> BTreeMap<At, u32> {
    let worth = |stack: &Stack| content.item(&stack.item).map_or(0, |kind| kind.value);
    let mut by_worth: Vec<(u64, At, u32)> = all
        .iter()
        .map(|(at, stack)| (worth(stack), *at, stack.quantity))
        .collect();
    by_worth.sort_by(|(a_worth, a, _), (b_worth, b, _)| (b_worth, a).cmp(&(a_worth, b)));
    let singles = by_worth.iter().flat_map(|(_, at, many)| {
        let many = usize::try_from(*many).unwrap_or(KEPT);
        std::iter::repeat_n(*at, many.min(KEPT))
    });
    let mut kept = BTreeMap::new();
    for at in singles.take(KEPT) {
        *kept.entry(at).or_default() += 1;
    }
    kept
}
