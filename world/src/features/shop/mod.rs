//! Shops: their stock, and their customers' view of it.

mod rules;
pub(crate) mod tick;
pub mod told;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::trade::Screen;
use crate::geometry::tile::Region;
use crate::time::Tick;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

use told::ShopState;

/// Number of a thing in stock, where that is not the usual number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shelf {
    pub(crate) count: u32,
    /// Tick at which there is one more or one less, on the way to the usual number.
    pub(crate) next_at: Tick,
}

/// Shelves of a shop that are not as usual, by item.
pub(crate) type Shelves = BTreeMap<Arc<str>, Shelf>;

/// The shops here that are not as usual, by region and id.
pub(crate) type Shops = BTreeMap<(Region, Arc<str>), Shelves>;

/// A request to a shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Go to an NPC that keeps a shop, and open it.
    #[serde(rename = "shop:open")]
    Open {
        /// NPC that keeps the shop.
        target: EntityId,
    },
    /// Close the shop.
    #[serde(rename = "shop:close")]
    Close,
    /// Buy something.
    #[serde(rename = "shop:buy")]
    Buy {
        /// Id of the item.
        #[serde(rename = "itemId")]
        item: Arc<str>,
        /// Quantity, 1 to 2147483647.
        quantity: u32,
    },
    /// Sell the item in a slot of the pack, and more of the same.
    #[serde(rename = "shop:sell")]
    Sell {
        /// Slot of the pack, 0 to 27.
        slot: u8,
        /// Quantity, 1 to 2147483647, as far as there are so many.
        quantity: u32,
    },
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::Open { target } => wire::id("target", target.as_str())?,
            Intent::Buy { item, quantity } => {
                wire::id("itemId", item)?;
                wire::quantity("quantity", *quantity)?;
            }
            Intent::Sell { slot, quantity } => {
                wire::slot("slot", *slot)?;
                wire::quantity("quantity", *quantity)?;
            }
            Intent::Close => {}
        }
        Ok(self)
    }
}

/// A notification about an open shop to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The shop that is open, as it is now. Of value: the zone holds it back until the store has
    /// saved that.
    Shown(CharacterId, ShopState),
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Shown(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        // The zone tells nothing to a player who is not here.
        to.record?;
        match self {
            Event::Shown(_, told) => Some(Message::of_value(told)),
        }
    }
}
