//! Shops: what is in stock, and what customers see of it.

pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::geometry::tile::Region;
use crate::time::Tick;

/// How many of a thing are in stock, where that is not the usual number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shelf {
    pub(crate) count: u32,
    /// When there is one more or one less, on the way to the usual number.
    pub(crate) next_at: Tick,
}

/// What of a shop is not as usual, by item.
pub(crate) type Shelves = BTreeMap<Arc<str>, Shelf>;

/// The shops here that are not as usual, by region and id.
pub(crate) type Shops = BTreeMap<(Region, Arc<str>), Shelves>;

/// Something that is for sale now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForSale {
    /// What.
    pub item: Arc<str>,
    /// What one of it costs, in coins.
    pub price: u32,
    /// How many there are; `None`: any number.
    pub stock: Option<u32>,
    /// As the manifest says; empty for what the shop does not usually sell.
    pub category: Arc<str>,
}

/// A shop as its customers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShopShown {
    /// Which.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// It buys things, too.
    pub buys: bool,
    /// What it pays while it has no more of a thing than usual, in thousandths of its worth.
    pub pays_thousandths: u32,
    /// What it sells.
    pub goods: Vec<ForSale>,
}

/// A request of a shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to somebody who keeps one, and open it.
    Open {
        /// Who.
        target: EntityId,
    },
    /// Close it.
    Close,
    /// Buy something.
    Buy {
        /// What.
        item: Arc<str>,
        /// How many.
        quantity: u32,
    },
    /// Sell what lies in a slot of the pack, and more of the same.
    Sell {
        /// Which slot.
        slot: u8,
        /// How many, as far as there are so many.
        quantity: u32,
    },
}

/// A fact about an open shop that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The shop that is open, as it is now. Of value: to be held back until that is saved.
    Shown {
        /// To whom.
        who: CharacterId,
        /// What is seen.
        shop: ShopShown,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Shown { who, .. } => who,
        }
    }
}
