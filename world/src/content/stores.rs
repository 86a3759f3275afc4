//! `stores.json`: shops.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{ContentError, Of, Reader};

/// The file.
pub(crate) const FILE: &str = "stores.json";
/// What a shop that does not say pays, in thousandths of an item's worth.
const BUYBACK_THOUSANDTHS: u32 = 500;
/// Until one more is there of what does not say, or says 0: a minute.
const RESTOCK_TICKS: u32 = 100;

/// A shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Unique among shops.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What it is like.
    pub description: Arc<str>,
    /// It buys things, too.
    pub buys: bool,
    /// What it pays, in thousandths of an item's worth.
    pub buyback_thousandths: u32,
    /// What it sells, in the order of the manifest; also what there is not.
    pub goods: Vec<Good>,
}

/// Something that a shop sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Good {
    /// Unique in the shop.
    pub id: Arc<str>,
    /// The item.
    pub item: Arc<str>,
    /// In coins.
    pub price: u32,
    /// How many it has when it has all; none for any number.
    pub stock: Option<u32>,
    /// Ticks until one more is there, at least 1.
    pub restock_ticks: u32,
    /// weapons, food … as the manifest says.
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

/// The manifest says it in milliseconds.
fn restock_ticks(fields: &Fields<'_>) -> u32 {
    match fields.count_or("restockTime", 0) {
        0 => RESTOCK_TICKS,
        _ => fields.ticks_or("", "restockTime", RESTOCK_TICKS),
    }
}
