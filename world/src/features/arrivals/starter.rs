//! The things with which a new character begins.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::content::Content;
use crate::entity::ids::CharacterId;
use crate::item::Stack;
use crate::item::leg::Leg;

const COINS: u32 = 25;
const THINGS: [(&str, u32); 11] = [
    ("bronze_hatchet", 1),
    ("bronze_pickaxe", 1),
    ("tinderbox", 1),
    ("small_fishing_net", 1),
    ("fishing_net", 1),
    ("hammer", 1),
    ("candle", 5),
    ("bronze_sword", 1),
    ("bronze_shortsword", 1),
    ("shrimp", 5),
    ("bread", 5),
];

/// Returns the legs that give `who` coins, and each starter thing that the content knows.
pub(crate) fn pack(content: &Content, who: &CharacterId) -> Vec<Leg> {
    let amount = COINS;
    let coins = Leg::ToPouch {
        who: who.clone(),
        amount,
    };
    let things = things(content).map(|(item, quantity)| Leg::ToPack {
        who: who.clone(),
        stack: Stack::new(item, quantity),
    });
    std::iter::once(coins).chain(things).collect()
}

/// Returns those of [`THINGS`] that the content knows, by their ids, with their quantities. If two
/// names mean one item, it comes once.
pub(crate) fn things(content: &Content) -> impl Iterator<Item = (Arc<str>, u32)> + '_ {
    let mut given = BTreeSet::new();
    THINGS.into_iter().filter_map(move |(item, quantity)| {
        let id = &content.item(item)?.id;
        given
            .insert(Arc::clone(id))
            .then(|| (Arc::clone(id), quantity))
    })
}
