//! The pack and the pouch: putting stacks in order, and coins from one into the other.
//!
//! Always: what is moved here stays with its holder.

pub(crate) mod coins;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;

/// A request about the pack or the pouch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Put what lies in one slot of the pack into another; what lay there comes back.
    MoveSlot {
        /// Which slot.
        from: u8,
        /// Which other.
        to: u8,
    },
    /// Coins from the pouch, as a stack in the pack.
    WithdrawCoins {
        /// How many.
        amount: u32,
    },
    /// Coins from the pack into the pouch.
    DepositCoins {
        /// How many; `None`: all.
        amount: Option<u32>,
    },
}

/// A fact about the pack or the pouch that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something in the pack changed. Of value: to be held back until that is saved.
    Slots {
        /// Whose.
        who: CharacterId,
        /// Which slots, in order.
        slots: Vec<u8>,
    },
    /// The coins in the pouch changed. Of value: to be held back until that is saved.
    Coins {
        /// Whose.
        who: CharacterId,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Slots { who, .. } | Event::Coins { who, .. } => who,
        }
    }
}
