//! The bank: its requests and notifications.

use std::collections::BTreeSet;
use std::sync::Arc;

use proto::client::bank::{BankItem, BankState};
use world::{Bank, Deposit, PlayerRecord, bank::Event};

use super::Told;

/// `bank:state` with all that there is.
pub(crate) fn whole(bank: &Bank) -> BankState {
    let items = bank.items.iter();
    BankState {
        open: true,
        full: true,
        items: items.map(|(item, there)| entry(item, *there)).collect(),
        gone: Vec::new(),
        placeholders: bank.placeholders,
    }
}

/// `bank:state` of these items.
pub(crate) fn update(bank: &Bank, items: &BTreeSet<Arc<str>>) -> BankState {
    let mut state = BankState {
        open: true,
        placeholders: bank.placeholders,
        ..BankState::default()
    };
    for item in items {
        match bank.items.get(item) {
            Some(there) => state.items.push(entry(item, *there)),
            None => state.gone.push(item.to_string()),
        }
    }
    state
}

fn entry(item: &Arc<str>, there: Deposit) -> BankItem {
    BankItem {
        item_id: item.to_string(),
        quantity: there.quantity,
        tab: there.tab,
        place: there.place,
    }
}

/// Returns what a player is told of its bank.
pub(crate) fn told(event: &Event, record: &PlayerRecord) -> Told {
    match event {
        Event::Changed { items, .. } => Told::of_value(&update(&record.bank, items)),
    }
}
