//! The pack and the pouch: putting stacks in order, and moving coins from one into the other.
//!
//! Always: things that move here stay with their holder.

pub(crate) mod coins;
pub(crate) mod tick;
pub mod told;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::features::trade::Screen;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

use told::CoinsUpdate;

/// Request about the pack or the pouch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Swaps the stacks of two slots of the pack.
    #[serde(rename = "inventory:move")]
    MoveSlot {
        /// First slot, 0 to 27.
        from: u8,
        /// Second slot, 0 to 27; not `from`.
        to: u8,
    },
    /// Takes coins from the pouch, as a stack in the pack.
    #[serde(rename = "coins:withdraw")]
    WithdrawCoins {
        /// Number of coins, 1 to 2147483647.
        amount: u32,
    },
    /// Puts coins from the pack into the pouch.
    #[serde(rename = "coins:deposit")]
    DepositCoins {
        /// Number of coins, 1 to 2147483647; all coins in the pack, if absent.
        amount: Option<u32>,
    },
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::MoveSlot { from, to } => {
                wire::slot("from", *from)?;
                wire::slot("to", *to)?;
                wire::within(from != to, || "from and to are the same slot".to_owned())?;
            }
            Intent::WithdrawCoins { amount } => wire::quantity("amount", *amount)?,
            Intent::DepositCoins { amount } => {
                amount.map_or(Ok(()), |many| wire::quantity("amount", many))?;
            }
        }
        Ok(self)
    }
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

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        let record = to.record?;
        Some(match self {
            Event::Slots { slots, .. } => {
                Message::of_value(&told::update(&record.inventory, slots))
            }
            Event::Coins { .. } => Message::of_value(&CoinsUpdate {
                coins: record.coins,
            }),
        })
    }
}
