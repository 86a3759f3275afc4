//! Shops: their stock, and their customers' view of it.

pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::trade::Screen;
use crate::geometry::tile::Region;
use crate::intent;
use crate::time::Tick;
use crate::wire::{self, BadRequest};

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

/// Something that is for sale now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForSale {
    /// Id of the item.
    pub item: Arc<str>,
    /// Price of one, in coins.
    pub price: u32,
    /// How many there are; `None`: any number.
    pub stock: Option<u32>,
    /// Category in the manifest; empty for an item that the shop does not usually sell.
    pub category: Arc<str>,
}

/// A shop as its customers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShopShown {
    /// Id of the shop.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Whether it buys things, too.
    pub buys: bool,
    /// Price that it pays while it has no more of a thing than usual, in thousandths of its worth.
    pub pays_thousandths: u32,
    /// Goods that it sells.
    pub goods: Vec<ForSale>,
}

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
    fn intent(self, _: Screen) -> Result<intent::Intent, BadRequest> {
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
        Ok(self.into())
    }
}

/// A notification about an open shop to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The shop that is open, as it is now. Of value: the zone holds it back until the store has
    /// saved that.
    Shown {
        /// Player that sees it.
        who: CharacterId,
        /// The shop as the player sees it.
        shop: ShopShown,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Shown { who, .. } => who,
        }
    }
}
