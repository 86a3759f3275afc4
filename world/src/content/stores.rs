//! `stores.json`: shops. Today only who is who, and that they sell what there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::items::ItemKind;
use crate::content::reader::{ContentError, Reader};

/// The file.
pub(crate) const FILE: &str = "stores.json";

/// A shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Unique among shops.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
}

pub(crate) fn load(
    reader: &Reader<'_>,
    items: &BTreeMap<String, Arc<ItemKind>>,
) -> Result<BTreeMap<String, Store>, ContentError> {
    let json = reader.required(FILE)?;
    let mut stores = BTreeMap::new();
    for fields in reader.records(FILE, &json, &["stores"])? {
        let id = fields.text("id")?;
        let store = Store {
            id: id.into(),
            name: fields.text("name")?.into(),
        };
        for sold in fields.objects("items") {
            let item = sold.text_or("itemId", "");
            if !items.contains_key(item) {
                sold.warn("itemId", &format!("there is no item {item:?}"));
            }
        }
        if stores.insert(id.to_owned(), store).is_some() {
            fields.warn("id", &format!("{id} is there twice, the last one counts"));
        }
    }
    Ok(stores)
}
