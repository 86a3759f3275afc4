//! Banking: items into the own bank and out of it, as themselves or as notes.
//!
//! Always: a player has its bank open while it stays near; the bank holds no notes of items that
//! the content knows.

mod rules;
pub(crate) mod tick;
pub mod told;

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::trade::Screen;
use crate::item::bank::Arrange;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

/// A request about the own bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Go to a bank and open the own one there.
    #[serde(rename = "bank:open")]
    Open {
        /// The bank object, or the NPC that keeps it.
        target: EntityId,
    },
    /// Close the bank.
    #[serde(rename = "bank:close")]
    Close,
    /// Put the item in a slot of the pack, and more of the same, into the bank.
    #[serde(rename = "bank:deposit")]
    Deposit {
        /// Slot of the pack, 0 to 27.
        slot: u8,
        /// Number of items, 1 to 2147483647, as far as there are so many.
        quantity: u32,
        /// Tab for an item that is not in the bank yet, 0 to 8.
        #[serde(default)]
        tab: u8,
    },
    /// Put all of the pack into the bank, as far as there is room.
    #[serde(rename = "bank:depositAll")]
    DepositAll {
        /// Tab for items that are not in the bank yet, 0 to 8.
        #[serde(default)]
        tab: u8,
    },
    /// Put all worn things into the bank, as far as there is room.
    #[serde(rename = "bank:depositEquipment")]
    DepositWorn {
        /// Tab for items that are not in the bank yet, 0 to 8.
        #[serde(default)]
        tab: u8,
    },
    /// Move an item out of the bank into the pack, as far as there is room.
    #[serde(rename = "bank:withdraw")]
    Withdraw {
        /// Id of the item.
        #[serde(rename = "itemId")]
        item: Arc<str>,
        /// Number of items, 1 to 2147483647, as far as there are so many and they fit.
        quantity: u32,
        /// Whether they come as notes.
        #[serde(default)]
        noted: bool,
    },
    /// Move coins from the pouch into the bank, or back.
    #[serde(rename = "bank:coins")]
    Coins {
        /// Number of coins, 1 to 2147483647.
        amount: u32,
        /// Whether they come out of the bank.
        #[serde(rename = "withdraw", default)]
        out: bool,
    },
    /// Put the bank in order; [`Packet`] has its requests.
    #[schemars(skip)]
    Arrange(Arrange),
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::Open { target } => wire::id("target", target.as_str())?,
            Intent::Deposit {
                slot,
                quantity,
                tab,
            } => {
                wire::slot("slot", *slot)?;
                wire::quantity("quantity", *quantity)?;
                wire::tab(*tab)?;
            }
            Intent::DepositAll { tab } | Intent::DepositWorn { tab } => wire::tab(*tab)?,
            Intent::Withdraw { item, quantity, .. } => {
                wire::id("itemId", item)?;
                wire::quantity("quantity", *quantity)?;
            }
            Intent::Coins { amount, .. } => wire::quantity("amount", *amount)?,
            Intent::Close | Intent::Arrange(_) => {}
        }
        Ok(self)
    }
}

/// Requests that put the bank in order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum Packet {
    /// Swaps an item with another, or puts it just before another. The client names one of both.
    #[serde(rename = "bank:move")]
    Move {
        /// Item to move.
        item_id: Arc<str>,
        /// Item with which it changes places.
        with: Option<Arc<str>>,
        /// Item before which it comes.
        before: Option<Arc<str>>,
    },
    /// Puts an item last in a tab.
    #[serde(rename = "bank:tab")]
    Tab {
        /// Item to move.
        item_id: Arc<str>,
        /// Tab, 0 to 8.
        tab: u8,
    },
    /// Keeps or frees the places of items. The client names one of the three.
    #[serde(rename = "bank:placeholder")]
    Placeholder {
        /// Whether an item keeps its place from now on after its owner took out the last of it.
        keep: Option<bool>,
        /// Item that loses its kept place.
        release: Option<Arc<str>>,
        /// Frees all kept places.
        #[serde(default)]
        release_all: bool,
    },
}

impl wire::Requests for Packet {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let how = match self {
            Packet::Move {
                item_id: item,
                with,
                before,
            } => {
                wire::id("itemId", &item)?;
                match (with, before) {
                    (Some(with), None) => {
                        wire::id("with", &with)?;
                        Arrange::Swap { item, with }
                    }
                    (None, Some(other)) => {
                        wire::id("before", &other)?;
                        Arrange::Before { item, other }
                    }
                    (Some(_), Some(_)) | (None, None) => {
                        return Err("either with or before".to_owned().into());
                    }
                }
            }
            Packet::Tab { item_id: item, tab } => {
                wire::id("itemId", &item)?;
                wire::tab(tab)?;
                Arrange::Tab { item, tab }
            }
            Packet::Placeholder {
                keep,
                release,
                release_all,
            } => match (keep, release, release_all) {
                (Some(keep), None, false) => Arrange::Placeholders(keep),
                (None, None, true) => Arrange::Release(None),
                (None, Some(item), false) => {
                    wire::id("release", &item)?;
                    Arrange::Release(Some(item))
                }
                _ => return Err("one of keep, release and releaseAll".to_owned().into()),
            },
        };
        Ok(Intent::Arrange(how))
    }
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

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        let record = to.record?;
        Some(match self {
            Event::Changed { items, .. } => Message::of_value(&told::update(&record.bank, items)),
        })
    }
}
