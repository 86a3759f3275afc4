//! Moves things saved under an alias to their ids.
//!
//! Always: the move keeps the quantity of each thing, and keeps it in the same pack, bank or place.

use std::sync::Arc;

use crate::content::Content;
use crate::entity::player::record::PlayerRecord;
use crate::item::Stack;
use crate::item::bank::Arrange;
use crate::item::leg::Leg;

/// Returns the legs after which `record` names all its things by ids; none where it does already.
pub(crate) fn resolved(content: &Content, record: &PlayerRecord) -> Vec<Leg> {
    let mut legs = in_pack(content, record);
    legs.extend(worn(content, record));
    legs.extend(in_bank(content, record));
    legs
}

/// Returns the id behind `item`, or `None` where `item` is no alias.
fn id(content: &Content, item: &Arc<str>) -> Option<Arc<str>> {
    let id = &content.item(item)?.id;
    (id != item).then(|| Arc::clone(id))
}

fn in_pack(content: &Content, record: &PlayerRecord) -> Vec<Leg> {
    let who = || record.id.clone();
    let mut legs = Vec::new();
    for (slot, there) in &record.inventory {
        let Some(id) = id(content, &there.item) else {
            continue;
        };
        let (slot, quantity) = (*slot, there.quantity);
        let who = who();
        let stack = Stack::new(id, quantity);
        legs.push(Leg::FromSlot {
            who: who.clone(),
            slot,
            quantity,
        });
        // A stackable item goes to the pack as a whole; any other goes back into its slot.
        legs.push(if content.stackable(&stack.item) {
            Leg::ToPack { who, stack }
        } else {
            Leg::ToSlot { who, slot, stack }
        });
    }
    legs
}

fn worn(content: &Content, record: &PlayerRecord) -> Vec<Leg> {
    let mut legs = Vec::new();
    for (slot, there) in &record.equipment {
        let Some(id) = id(content, &there.item) else {
            continue;
        };
        let (who, slot, quantity) = (record.id.clone(), *slot, there.quantity);
        let stack = Stack::new(id, quantity);
        legs.push(Leg::FromWorn {
            who: who.clone(),
            slot,
            quantity,
        });
        legs.push(Leg::ToWorn { who, slot, stack });
    }
    legs
}

fn in_bank(content: &Content, record: &PlayerRecord) -> Vec<Leg> {
    let who = || record.id.clone();
    let mut legs = Vec::new();
    for (item, there) in &record.bank.items {
        let Some(id) = id(content, item) else {
            continue;
        };
        if there.quantity > 0 {
            let stack = Stack::new(Arc::clone(item), there.quantity);
            legs.push(Leg::FromBank { who: who(), stack });
        }
        if there.quantity == 0 || record.bank.placeholders {
            let how = Arrange::Release(Some(Arc::clone(item)));
            legs.push(Leg::Arrange { who: who(), how });
        }
        if there.quantity > 0 {
            legs.push(Leg::ToBank {
                who: who(),
                stack: Stack::new(id, there.quantity),
                tab: there.tab,
            });
        }
    }
    legs
}
