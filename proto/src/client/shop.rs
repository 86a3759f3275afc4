//! Shops: what is asked of them, and what is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    inventory::{quantity, slot},
    table::server_events,
};

/// The longest id, in bytes.
const ID_BYTES_MAX: usize = 64;

/// `shop:open`: goes to somebody who keeps a shop, and opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShopOpen {
    /// Who.
    pub target: String,
}

/// `shop:buy`: from the shop that is open, for coins of the pouch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShopBuy {
    /// What.
    pub item_id: String,
    /// 1 to 2147483647.
    pub quantity: u32,
}

/// `shop:sell`: to the shop that is open, for coins into the pouch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShopSell {
    /// 0 to 27: what lies there, and more of the same.
    pub slot: u8,
    /// 1 to 2147483647; as many as there are, if there are fewer.
    pub quantity: u32,
}

fn id(name: &str, id: &str) -> Result<(), String> {
    if (1..=ID_BYTES_MAX).contains(&id.len()) {
        return Ok(());
    }
    Err(format!("{name}: 1 to {ID_BYTES_MAX} bytes"))
}

impl ShopOpen {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("target", &self.target)
    }
}

impl ShopBuy {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("itemId", &self.item_id)?;
        quantity("quantity", self.quantity)
    }
}

impl ShopSell {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        slot("slot", self.slot)?;
        quantity("quantity", self.quantity)
    }
}

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
