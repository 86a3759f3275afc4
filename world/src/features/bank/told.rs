//! Messages about the bank.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::bank::{Bank, Deposit};
use crate::server_events;

/// All of one item in the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BankItem {
    /// Id of the item.
    pub item_id: Arc<str>,
    /// 0: only its place is kept.
    pub quantity: u32,
    /// 0 to 8.
    pub tab: u8,
    /// The order in the tab; there may be gaps.
    pub place: u32,
}

/// `bank:state`: the bank, or what changed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BankState {
    /// False: the bank is closed, and the rest says nothing.
    pub open: bool,
    /// `items` are all that there are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// Each item at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<BankItem>,
    /// Items that are there no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Arc<str>>,
    /// Whether an item keeps its place after its owner took out the last of it.
    pub placeholders: bool,
}

server_events! {
    BankState => "bank:state",
}

/// Returns the whole bank, which is open.
pub fn whole(bank: &Bank) -> BankState {
    let items = bank.items.iter();
    BankState {
        open: true,
        full: true,
        items: items.map(|(item, there)| entry(item, *there)).collect(),
        gone: Vec::new(),
        placeholders: bank.placeholders,
    }
}

/// Returns these items of the bank, as they are now.
pub(crate) fn update(bank: &Bank, items: &BTreeSet<Arc<str>>) -> BankState {
    let mut state = BankState {
        open: true,
        placeholders: bank.placeholders,
        ..BankState::default()
    };
    for item in items {
        match bank.items.get(item) {
            Some(there) => state.items.push(entry(item, *there)),
            None => state.gone.push(Arc::clone(item)),
        }
    }
    state
}

fn entry(item: &Arc<str>, there: Deposit) -> BankItem {
    BankItem {
        item_id: Arc::clone(item),
        quantity: there.quantity,
        tab: there.tab,
        place: there.place,
    }
}
