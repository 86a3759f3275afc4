//! Messages about an open shop.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Shelves, rules};
use crate::content::{Content, Store};
use crate::server_events;

/// Something that is for sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShopItem {
    /// Id of the item.
    pub item_id: Arc<str>,
    /// Price of one now, in coins.
    pub price: u32,
    /// Stock; null: any number.
    pub stock: Option<u32>,
    /// weapons, food …; empty for what others have sold here.
    pub category: Arc<str>,
}

/// `shop:state`: the shop, whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShopState {
    /// False: it is closed, and the rest says nothing.
    pub open: bool,
    /// Id of the shop.
    pub store_id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// It buys things, too.
    pub buys: bool,
    /// Hundredths of an item's worth that it pays while its stock is not above the usual.
    pub pays_percent: u32,
    /// Items for sale.
    pub items: Vec<ShopItem>,
}

server_events! {
    ShopState => "shop:state",
}

/// Returns the shop as its customers see it.
pub(crate) fn state(store: &Store, shelves: &Shelves, content: &Content) -> ShopState {
    ShopState {
        open: true,
        store_id: Arc::clone(&store.id),
        name: Arc::clone(&store.name),
        buys: store.buys,
        pays_percent: store.buyback_thousandths / 10,
        items: rules::for_sale(store, shelves, content),
    }
}
