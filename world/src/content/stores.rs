//! `stores.json`: shops.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{ContentError, Of, Reader};

/// File of the shops.
pub(crate) const FILE: &str = "stores.json";
/// Price that a shop pays if its record gives none, in thousandths of an item's worth.
const BUYBACK_THOUSANDTHS: u32 = 500;
/// Ticks until one more is there, if the record gives none or 0: a minute.
const RESTOCK_TICKS: u32 = 100;

/// A shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Id, unique among shops.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Description for players.
    pub description: Arc<str>,
    /// Whether it buys things, too.
    pub buys: bool,
    /// Price that it pays, in thousandths of an item's worth.
    pub buyback_thousandths: u32,
    /// Goods that it sells, in the order of the manifest; some may be unknown items.
    pub goods: Vec<Good>,
}

/// Item that a shop sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Good {
    /// Id, unique in the shop.
    pub id: Arc<str>,
    /// Item.
    pub item: Arc<str>,
    /// Price, in coins.
    pub price: u32,
    /// Full stock; none for any number.
    pub stock: Option<u32>,
    /// Ticks until one more is there, at least 1.
    pub restock_ticks: u32,
    /// Category as the manifest gives it: weapons, food …
    pub category: Arc<str>,
}

pub(crate) fn load(reader: &Reader) -> Result<Catalog<Store>, ContentError> {
    let mut stores = Catalog::default();
    for fields in &reader.required_records(FILE)? {
        if let Some(id) = fields.key("id") {
            stores.add(fields, id, store(id, fields));
        }
    }
    Ok(stores)
}

fn store<'v>(id: &'v str, fields: &Fields<'v>) -> Store {
    Store {
        id: id.into(),
        name: fields.name(id).into(),
        description: fields.text("description"),
        buys: fields.flag_or("buyback", true),
        buyback_thousandths: fields.parts_or("buybackRate", 1_000, BUYBACK_THOUSANDTHS),
        goods: fields.objects("items").iter().filter_map(good).collect(),
    }
}

fn good(fields: &Fields<'_>) -> Option<Good> {
    let item = fields.key("itemId")?;
    let stock = fields.int_or("stockQuantity", -1);
    Some(Good {
        id: fields.text_or("id", item).into(),
        item: fields.refer("itemId", Of::Item, "it is not sold"),
        price: fields.count_or("price", 0),
        stock: (stock >= 0).then(|| stock.min(i64::from(i32::MAX)) as u32),
        restock_ticks: restock_ticks(fields),
        category: fields.text("category"),
    })
}

/// Reads the time until one more is there, which the manifest gives in milliseconds.
fn restock_ticks(fields: &Fields<'_>) -> u32 {
    match fields.count_or("restockTime", 0) {
        0 => RESTOCK_TICKS,
        _ => fields.ticks_or("", "restockTime", RESTOCK_TICKS),
    }
}
