//! What becomes of the things of one who died: a few are kept where nobody need fear to lose
//! them, the rest goes to a grave, or lies about where players fight each other.
//!
//! Always: the pouch and the bank are kept; what is lost is all of the pack and the clothes that
//! is not kept.

use std::collections::BTreeMap;

use crate::content::{Content, EquipSlot};
use crate::entity::player::record::PlayerRecord;
use crate::geometry::tile::Tile;
use crate::item::Stack;
use crate::item::transfer::Leg;

/// Things that are kept in safe areas: those that are worth most.
const KEPT: usize = 3;

/// What sort of place it is to die at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Some things are kept.
    Safe,
    /// Nothing is kept.
    Wild,
    /// Players fight each other: nothing is kept, and there is no grave.
    Contested,
}

/// What sort of place `tile` is.
pub(crate) fn place(content: &Content, tile: Tile) -> Place {
    match content.area_at(tile) {
        Some(area) if area.pvp => Place::Contested,
        Some(area) if area.safe_zone => Place::Safe,
        Some(_) | None => Place::Wild,
    }
}

/// Where something was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Pack(u8),
    Worn(EquipSlot),
}

/// Something that one who dies loses.
pub(crate) struct Lost {
    /// How it is taken.
    pub(crate) legs: Vec<Leg>,
    /// What it is.
    pub(crate) stack: Stack,
}

/// What one who dies at `place` loses.
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

/// How `quantity` of what is there is taken. What is worn comes off as a whole, and what is kept
/// of it goes on again.
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

/// How many are kept of what lies where: one by one whatever is worth most, in the order of
/// places where it is worth the same.
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
