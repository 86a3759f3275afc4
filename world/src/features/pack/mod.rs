//! The pack and the pouch: putting stacks in order, and moving coins from one into the other.
//!
//! Always: things that move here stay with their holder.

pub(crate) mod coins;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;

/// Request about the pack or the pouch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Swaps the stacks of two slots of the pack.
    MoveSlot {
        /// First slot.
        from: u8,
        /// Second slot.
        to: u8,
    },
    /// Takes coins from the pouch, as a stack in the pack.
    WithdrawCoins {
        /// Number of coins.
        amount: u32,
    },
    /// Puts coins from the pack into the pouch.
    DepositCoins {
        /// Number of coins; `None`: all.
        amount: Option<u32>,
    },
}

/// Fact about the pack or the pouch that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something in the pack changed. Of value: the zone holds it back until the store has saved
    /// it.
    Slots {
        /// Holder of the pack.
        who: CharacterId,
        /// Slots that changed, in order.
        slots: Vec<u8>,
    },
    /// The coins in the pouch changed. Of value: the zone holds it back until the store has saved
    /// it.
    Coins {
        /// Holder of the pouch.
        who: CharacterId,
    },
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Slots { who, .. } | Event::Coins { who, .. } => who,
        }
    }
}
