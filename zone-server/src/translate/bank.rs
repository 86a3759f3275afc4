//! The bank: its requests and notifications.

use std::collections::BTreeSet;
use std::sync::Arc;

use proto::client::bank::{
    BankCoins, BankDeposit, BankDepositAll, BankItem, BankMove, BankOpen, BankPlaceholder,
    BankState, BankTab, BankWithdraw,
};
use world::{Arrange, Bank, Deposit, Intent, PlayerRecord, bank, bank::Event};

use super::Told;

/// `bank:open`.
pub(crate) fn open(asked: &BankOpen) -> Intent {
    Intent::Bank(bank::Intent::Open {
        target: asked.target.as_str().into(),
    })
}

/// `bank:depositAll`.
pub(crate) fn deposit_all(asked: &BankDepositAll) -> Intent {
    Intent::Bank(bank::Intent::DepositAll { tab: asked.tab })
}

/// `bank:depositEquipment`.
pub(crate) fn deposit_worn(asked: &BankDepositAll) -> Intent {
    Intent::Bank(bank::Intent::DepositWorn { tab: asked.tab })
}

/// `bank:deposit`.
pub(crate) fn deposit(asked: &BankDeposit) -> Intent {
    Intent::Bank(bank::Intent::Deposit {
        slot: asked.slot,
        quantity: asked.quantity,
        tab: asked.tab,
    })
}

/// `bank:withdraw`.
pub(crate) fn withdraw(asked: &BankWithdraw) -> Intent {
    Intent::Bank(bank::Intent::Withdraw {
        item: asked.item_id.as_str().into(),
        quantity: asked.quantity,
        noted: asked.noted,
    })
}

/// `bank:move`; it was checked: there is `with` or `before`.
pub(crate) fn moved(asked: &BankMove) -> Intent {
    let item = asked.item_id.as_str().into();
    arrange(match (&asked.with, &asked.before) {
        (Some(with), _) => Arrange::Swap {
            item,
            with: with.as_str().into(),
        },
        (None, other) => Arrange::Before {
            other: other.as_deref().map_or(Arc::clone(&item), Into::into),
            item,
        },
    })
}

/// `bank:tab`.
pub(crate) fn tab(asked: &BankTab) -> Intent {
    arrange(Arrange::Tab {
        item: asked.item_id.as_str().into(),
        tab: asked.tab,
    })
}

/// `bank:placeholder`.
pub(crate) fn placeholder(asked: &BankPlaceholder) -> Intent {
    arrange(match asked.keep {
        Some(keep) => Arrange::Placeholders(keep),
        None => Arrange::Release(asked.release.as_deref().map(Into::into)),
    })
}

/// `bank:coins`.
pub(crate) fn coins(asked: &BankCoins) -> Intent {
    Intent::Bank(bank::Intent::Coins {
        amount: asked.amount,
        out: asked.withdraw,
    })
}

fn arrange(how: Arrange) -> Intent {
    Intent::Bank(bank::Intent::Arrange(how))
}

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
