//! Banking: items into the own bank and out of it, as themselves or as notes.
//!
//! Always: a player has its bank open while it stays near; the bank holds no notes of items that
//! the content knows.

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
        /// The bank object, or the NPC that keeps it.
        target: EntityId,
    },
    /// Close the bank.
    Close,
    /// Put the item in a slot of the pack, and more of the same, into the bank.
    Deposit {
        /// Slot of the pack.
        slot: u8,
        /// Number of items, as far as there are so many.
        quantity: u32,
        /// Tab for an item that is not in the bank yet, 0 to 8.
        tab: u8,
    },
    /// Put all of the pack into the bank, as far as there is room.
    DepositAll {
        /// Tab for items that are not in the bank yet, 0 to 8.
        tab: u8,
    },
    /// Put all worn things into the bank, as far as there is room.
    DepositWorn {
        /// Tab for items that are not in the bank yet, 0 to 8.
        tab: u8,
    },
    /// Move an item out of the bank into the pack, as far as there is room.
    Withdraw {
        /// Id of the item.
        item: Arc<str>,
        /// Number of items, as far as there are so many.
        quantity: u32,
        /// Whether they come as notes.
        noted: bool,
    },
    /// Move coins from the pouch into the bank, or back.
    Coins {
        /// Number of coins.
        amount: u32,
        /// Whether they come out of the bank.
        out: bool,
    },
    /// Put the bank in order.
    Arrange(Arrange),
}

/// A notification about the bank to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something changed in the bank. Of value: the zone holds it back until the store has saved
    /// that.
    Changed {
        /// Owner of the bank.
        who: CharacterId,
        /// Items that changed; none: only the bank's switch for placeholders changed.
        items: BTreeSet<Arc<str>>,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Changed { who, .. } => who,
        }
    }
}
