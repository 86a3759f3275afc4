//! `items/*.json`, or the older `items.json`: what can be had. Today only who is who.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::reader::{ContentError, Reader};

const SINGLE: &str = "items.json";
const REQUIRED: [&str; 5] = [
    "items/weapons.json",
    "items/tools.json",
    "items/resources.json",
    "items/food.json",
    "items/misc.json",
];
const FURTHER: [&str; 3] = [
    "items/ammunition.json",
    "items/armor.json",
    "items/runes.json",
];

/// A kind of item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemKind {
    /// Unique among items.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What a good look tells.
    pub examine: Arc<str>,
    /// Any number of them fills one slot.
    pub stackable: bool,
    /// Worth in coins.
    pub value: u64,
}

pub(crate) fn load(reader: &Reader<'_>) -> Result<BTreeMap<String, Arc<ItemKind>>, ContentError> {
    let mut items = BTreeMap::new();
    if REQUIRED.iter().any(|file| reader.has(file)) {
        for file in REQUIRED {
            read(reader, file, &reader.required(file)?, &mut items)?;
        }
        for file in FURTHER {
            if let Some(json) = reader.optional(file) {
                read(reader, file, &json, &mut items)?;
            }
        }
    } else {
        read(reader, SINGLE, &reader.required(SINGLE)?, &mut items)?;
    }
    Ok(items)
}

fn read(
    reader: &Reader<'_>,
    file: &str,
    json: &serde_json::Value,
    items: &mut BTreeMap<String, Arc<ItemKind>>,
) -> Result<(), ContentError> {
    for fields in reader.records(file, json, &["items"])? {
        let id = fields.text("id")?;
        let item = ItemKind {
            id: id.into(),
            name: fields.text("name")?.into(),
            examine: fields
                .text_or("examine", fields.text_or("description", ""))
                .into(),
            stackable: fields.flag_or("stackable", false),
            value: fields.int_or("value", 0).max(0).cast_unsigned(),
        };
        if items.insert(id.to_owned(), Arc::new(item)).is_some() {
            fields.warn("id", &format!("{id} is there twice, the last one counts"));
        }
    }
    Ok(())
}
