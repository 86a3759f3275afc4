//! Supplies of attacks: arrows and runes.
//!
//! Always: the supplies are gone before the blow flies. One arrow in five breaks. The others lie
//! where the target stood.

use super::fighter::{self, Means};
use crate::content::{Content, EquipSlot};
use crate::entity::player::record::PlayerRecord;
use crate::item::leg::Leg;
use crate::item::{Stack, inventory};
use crate::refusal::Refusal;
use crate::rng::Dice;

/// One arrow in so many breaks.
const BREAKS_ONE_IN: u32 = 5;

/// Supplies that an attack uses up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Used {
    /// Nothing.
    Nothing,
    /// These runes.
    Runes(Vec<Leg>),
    /// An arrow, and whether it breaks.
    Arrow {
        off: Vec<Leg>,
        arrow: Stack,
        breaks: bool,
    },
}

/// Returns the supplies that an attack of `record` would use up.
///
/// # Errors
/// `NoAmmunition`: the player has no arrow, or none for its bow. `NoRunes`.
pub(crate) fn used(
    content: &Content,
    record: &PlayerRecord,
    dice: &mut Dice,
) -> Result<Used, Refusal> {
    let who = || record.id.clone();
    match fighter::means(content, record) {
        Means::Hand => Ok(Used::Nothing),
        Means::Cast(spell) => {
            let costs = spell.runes.iter();
            let costs = costs.filter(|cost| !endless(content, record, &cost.rune));
            let mut legs = Vec::new();
            for cost in costs {
                let has = inventory::count(&record.inventory, &cost.rune);
                if has < u64::from(cost.quantity) {
                    return Err(Refusal::NoRunes);
                }
                let stack = Stack::new(cost.rune.clone(), cost.quantity);
                legs.push(Leg::FromPack { who: who(), stack });
            }
            Ok(if legs.is_empty() {
                Used::Nothing
            } else {
                Used::Runes(legs)
            })
        }
        Means::Shot(None) => Err(Refusal::NoAmmunition),
        Means::Shot(Some(_)) => {
            let slot = EquipSlot::Arrows;
            let worn = record.equipment.get(&slot).ok_or(Refusal::NoAmmunition)?;
            let mut off = vec![Leg::FromWorn {
                who: who(),
                slot,
                quantity: worn.quantity,
            }];
            if worn.quantity > 1 {
                off.push(Leg::ToWorn {
                    who: who(),
                    slot,
                    stack: Stack::new(worn.item.clone(), worn.quantity - 1),
                });
            }
            Ok(Used::Arrow {
                off,
                arrow: Stack::new(worn.item.clone(), 1),
                breaks: dice.below(BREAKS_ONE_IN) == 0,
            })
        }
    }
}

/// Returns whether the wielded weapon stands for any number of `rune`.
fn endless(content: &Content, record: &PlayerRecord, rune: &str) -> bool {
    let Some(held) = record.equipment.get(&EquipSlot::Weapon) else {
        return false;
    };
    let spares = |runes: &Vec<std::sync::Arc<str>>| runes.iter().any(|one| **one == *rune);
    let listed = content.runes().staves.get(&held.item);
    let own = content.item(&held.item).map(|kind| &kind.endless_runes);
    listed.is_some_and(spares) || own.is_some_and(spares)
}
