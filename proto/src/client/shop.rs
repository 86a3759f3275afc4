//! Shops: what is asked of them, and what is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// Something that is for sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShopItem {
    /// What.
    pub item_id: String,
    /// What one of it costs now, in coins.
    pub price: u32,
    /// How many there are; null: any number.
    pub stock: Option<u32>,
    /// weapons, food …; empty for what others have sold here.
    pub category: String,
}

/// `shop:state`: the shop, whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShopState {
    /// False: it is closed, and the rest says nothing.
    pub open: bool,
    /// Which.
    pub store_id: String,
    /// As players see it.
    pub name: String,
    /// It buys things, too.
    pub buys: bool,
    /// What it pays while it has no more of a thing than usual, in hundredths of its worth.
    pub pays_percent: u32,
    /// What it sells.
    pub items: Vec<ShopItem>,
}

server_events! {
    ShopState => "shop:state",
}
