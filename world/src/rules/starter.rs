//! What a new character begins with.

use crate::content::Content;
use crate::ids::CharacterId;
use crate::item::Stack;
use crate::item::transfer::Leg;

const COINS: u32 = 25;
const THINGS: [(&str, u32); 3] = [("bronze_hatchet", 1), ("tinderbox", 1), ("candle", 5)];

/// Coins, and those things that the content knows.
pub(crate) fn pack(content: &Content, who: &CharacterId) -> Vec<Leg> {
    let amount = COINS;
    let coins = Leg::ToPouch {
        who: who.clone(),
        amount,
    };
    let known = THINGS
        .iter()
        .filter(|(item, _)| content.item(item).is_some());
    let things = known.map(|(item, quantity)| Leg::ToPack {
        who: who.clone(),
        stack: Stack::new(*item, *quantity),
    });
    std::iter::once(coins).chain(things).collect()
}
