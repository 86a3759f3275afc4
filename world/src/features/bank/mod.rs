//! Banking: items into the own bank and out of it, as themselves or as notes.
//!
//! Always: one has its bank open while it stays near; the bank holds no notes of what the content knows.

pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::item::bank::Arrange;

/// A request about the own bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to a bank and open the own one there.
    Open {
        /// Which, or whose.
        target: EntityId,
    },
    /// Close the bank.
    Close,
    /// What lies in a slot of the pack, and more of the same, into the bank.
    Deposit {
        /// Which slot.
        slot: u8,
        /// How many, as far as there are so many.
        quantity: u32,
        /// Where it lies if none of it does yet, 0 to 8.
        tab: u8,
    },
    /// All of the pack into the bank, as far as there is room.
    DepositAll {
        /// As before.
        tab: u8,
    },
    /// All that is worn into the bank, as far as there is room.
    DepositWorn {
        /// As before.
        tab: u8,
    },
    /// Out of the bank into the pack, as far as there is room.
    Withdraw {
        /// What.
        item: Arc<str>,
        /// How many, as far as there are so many.
        quantity: u32,
        /// As notes.
        noted: bool,
    },
    /// Coins from the pouch into the bank, or back.
    Coins {
        /// How many.
        amount: u32,
        /// Out of the bank.
        out: bool,
    },
    /// Put the bank in order.
    Arrange(Arrange),
}

/// A fact about the bank that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something changed in the bank. Of value: to be held back until that is saved.
    Changed {
        /// Whose.
        who: CharacterId,
        /// Of which items; of none: how it is kept.
        items: BTreeSet<Arc<str>>,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Changed { who, .. } => who,
        }
    }
}
