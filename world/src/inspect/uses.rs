//! Faults of items that promise an effect of their own.

use super::Faults;
use crate::content::{Content, ItemKind};

/// Actions of an item in a pack that need an effect of the item itself.
const PROMISES: [&str; 7] = ["Eat", "Drink", "Bury", "Rub", "Read", "Open", "Scatter"];

/// Adds faults for items that offer an action without an effect.
pub(super) fn inspect(content: &Content, faults: &mut Faults) {
    for item in content.items().iter() {
        if item.lamp.is_some_and(|lamp| lamp.xp_tenths == 0) {
            faults.add("item", &item.id, "teaches nothing");
        }
        let promised = item.actions.iter().map(AsRef::as_ref);
        for promise in promised.filter(|action| PROMISES.contains(action)) {
            if !plays(item) {
                let what = format!("offers {promise:?}, and nothing comes of it");
                faults.add("item", &item.id, what);
            }
        }
    }
}

/// Returns whether using the item for its own effect does something (`rules::use_item`).
fn plays(item: &ItemKind) -> bool {
    item.heals > 0 || item.bury_xp_tenths > 0 || item.lamp.is_some() || item.potion.is_some()
}
