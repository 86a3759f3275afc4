//! Worn items, stakes and banks: the part of holdings that few batches touch.
//!
//! Always: a row of a batch names only the items of the bank that changed; the store keeps all
//! other items as they are.

use std::collections::BTreeMap;

use super::judge::Held;
use super::model::Batch;
use super::value::{Pack, Stack};

/// Places for worn items.
pub(crate) const PLACES: [&str; 11] = [
    "weapon", "shield", "helmet", "body", "legs", "boots", "gloves", "cape", "amulet", "ring",
    "arrows",
];
/// Tabs of a bank.
pub(crate) const TABS: i32 = 9;

/// Worn items by place.
pub(crate) type Worn = BTreeMap<String, Stack>;

/// All of one item in a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Banked {
    /// Quantity; 0: the bank keeps only its place.
    pub(crate) quantity: i32,
    pub(crate) tab: i32,
    /// The order in the tab.
    pub(crate) place: i32,
}

/// A bank by item. In a commit, `None` removes the item.
pub(crate) type Bank = BTreeMap<String, Option<Banked>>;

/// Places of worn items that the rows of a batch change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaceChanges<'a> {
    /// Character, place and its worn item now.
    pub(crate) put: Vec<(&'a str, &'a str, &'a Stack)>,
    /// Character and place that is empty now.
    pub(crate) cleared: Vec<(&'a str, &'a str)>,
}

/// Returns the places that differ from those in the store, and no others.
pub(crate) fn places<'a>(batch: &'a Batch, held: &'a Held) -> PlaceChanges<'a> {
    let mut changes = PlaceChanges::default();
    for row in batch.rows.iter().filter(|row| row.worn) {
        let id = row.record.id.as_str();
        let now = &row.record.holdings.worn;
        let before = held.holdings.get(id).map(|holdings| &holdings.worn);
        let was = |place: &String| before.and_then(|worn| worn.get(place));
        let differs = now
            .iter()
            .filter(|(place, stack)| was(place) != Some(stack));
        let differs = differs.map(|(place, stack)| (id, place.as_str(), stack));
        changes.put.extend(differs);
        let gone = before.into_iter().flat_map(|worn| worn.keys());
        let gone = gone.filter(|place| !now.contains_key(*place));
        changes
            .cleared
            .extend(gone.map(|place| (id, place.as_str())));
    }
    changes
}

/// Returns the characters whose stakes the batch writes, with those stakes.
pub(crate) fn staking(batch: &Batch) -> impl Iterator<Item = (&str, &Pack)> {
    let rows = batch.rows.iter().filter(|row| row.staked);
    rows.map(|row| (row.record.id.as_str(), &row.record.holdings.stakes))
}

/// Returns the bank changes of the batch: character, item, and its state in the bank now.
pub(crate) fn banked(batch: &Batch) -> impl Iterator<Item = (&str, &str, Option<Banked>)> {
    batch.rows.iter().flat_map(|row| {
        let items = row.record.holdings.bank.iter();
        items.map(|(item, lies)| (row.record.id.as_str(), item.as_str(), *lies))
    })
}
