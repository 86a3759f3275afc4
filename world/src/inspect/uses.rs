//! What things promise to do by themselves.

use super::Faults;
use crate::content::{Content, ItemKind};

/// What can be chosen of a thing in a pack that only an effect of its own makes true.
const PROMISES: [&str; 7] = ["Eat", "Drink", "Bury", "Rub", "Read", "Open", "Scatter"];

/// Things that offer what nothing comes of.
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

/// Whether using it for what it is does something (`rules::use_item`).
fn plays(item: &ItemKind) -> bool {
    item.heals > 0 || item.bury_xp_tenths > 0 || item.lamp.is_some()
}
