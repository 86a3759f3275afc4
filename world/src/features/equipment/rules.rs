//! Wearing things: a weapon in the hand, a helmet on the head.
//!
//! Always: nobody puts on a thing without the levels that it takes; a two-handed weapon leaves no
//! room for a shield.

use crate::content::{Content, EquipSlot, ItemKind};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::item::leg::Leg;
use crate::item::worn::Worn;
use crate::item::{Stack, inventory};
use crate::refusal::Refusal;

/// Returns the legs by which `player` puts on the item in `slot` of its pack: all of a stackable
/// one, else one. The item worn there before comes back into that slot. Another item that must come
/// off goes into the pack.
///
/// # Errors
/// `EmptySlot`, `NotWearable`, `LevelTooLow`.
pub(crate) fn equip(player: &Player, content: &Content, slot: u8) -> Result<Vec<Leg>, Refusal> {
    let record = player.record();
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let kind = content.item(&stack.item).ok_or(Refusal::NotWearable)?;
    let place = kind.equip_slot.ok_or(Refusal::NotWearable)?;
    may_use(record, kind)?;
    let who = || record.id.clone();
    let quantity = if kind.stackable { stack.quantity } else { 1 };
    let mut legs = vec![Leg::FromSlot {
        who: who(),
        slot,
        quantity,
    }];
    let before = record.equipment.get(&place);
    if let Some(worn) = before.filter(|worn| worn.item != stack.item || !kind.stackable) {
        legs.push(off(record, place, worn));
        // A stackable item joins its like in the pack, if there is any.
        let lies =
            content.stackable(&worn.item) && inventory::count(&record.inventory, &worn.item) > 0;
        let (who, stack) = (who(), worn.clone());
        legs.push(if lies {
            Leg::ToPack { who, stack }
        } else {
            Leg::ToSlot { who, slot, stack }
        });
    }
    if let Some(other) = in_the_way(record, content, kind, place)
        && let Some(worn) = record.equipment.get(&other)
    {
        legs.push(off(record, other, worn));
        let (who, stack) = (who(), worn.clone());
        legs.push(Leg::ToPack { who, stack });
    }
    legs.push(Leg::ToWorn {
        who: who(),
        slot: place,
        stack: Stack::new(stack.item.clone(), quantity),
    });
    Ok(legs)
}

/// Returns the legs by which `player` takes off the item worn in `place`.
///
/// # Errors
/// `EmptySlot`.
pub(crate) fn remove(player: &Player, place: EquipSlot) -> Result<Vec<Leg>, Refusal> {
    let record = player.record();
    let worn = record.equipment.get(&place).ok_or(Refusal::EmptySlot)?;
    let to = Leg::ToPack {
        who: record.id.clone(),
        stack: worn.clone(),
    };
    Ok(vec![off(record, place, worn), to])
}

/// Checks whether `record` has the levels that `kind` takes.
///
/// # Errors
/// `LevelTooLow`.
pub(crate) fn may_use(record: &PlayerRecord, kind: &ItemKind) -> Result<(), Refusal> {
    let mut requires = kind.requires.iter();
    if requires.all(|(skill, level)| record.level(*skill) >= u32::from(*level)) {
        Ok(())
    } else {
        Err(Refusal::LevelTooLow)
    }
}

/// Places whose things everybody sees.
const SEEN: [EquipSlot; 8] = [
    EquipSlot::Weapon,
    EquipSlot::Shield,
    EquipSlot::Helmet,
    EquipSlot::Body,
    EquipSlot::Legs,
    EquipSlot::Boots,
    EquipSlot::Gloves,
    EquipSlot::Cape,
];

/// Returns whether everybody sees what is worn in `place`.
pub(crate) fn is_seen(place: EquipSlot) -> bool {
    SEEN.contains(&place)
}

/// Returns the ids of all worn items that everybody sees, with spaces between them; `None`: there
/// are none.
pub(crate) fn seen(worn: &Worn) -> Option<String> {
    let stacks = SEEN.iter().filter_map(|place| worn.get(place));
    let items: Vec<&str> = stacks.map(|stack| &*stack.item).collect();
    (!items.is_empty()).then(|| items.join(" "))
}

fn off(record: &PlayerRecord, slot: EquipSlot, worn: &Stack) -> Leg {
    Leg::FromWorn {
        who: record.id.clone(),
        slot,
        quantity: worn.quantity,
    }
}

/// Returns the other slot that must be empty: both hands hold one two-handed thing, or two things.
fn in_the_way(
    record: &PlayerRecord,
    content: &Content,
    kind: &ItemKind,
    place: EquipSlot,
) -> Option<EquipSlot> {
    match place {
        EquipSlot::Weapon if kind.two_handed => Some(EquipSlot::Shield),
        EquipSlot::Shield => {
            let weapon = record.equipment.get(&EquipSlot::Weapon)?;
            let held = content.item(&weapon.item)?;
            held.two_handed.then_some(EquipSlot::Weapon)
        }
        _ => None,
    }
}
