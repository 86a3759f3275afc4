//! `gathering/*.json` (or the older `resources.json`): what trees, rocks and fishing spots are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::reader::{ContentError, Reader};

const FILES: [&str; 4] = [
    "resources.json",
    "gathering/woodcutting.json",
    "gathering/mining.json",
    "gathering/fishing.json",
];

/// A kind of tree, rock or fishing spot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceKind {
    /// Unique among kinds.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// tree, ore, fishing_spot …
    pub kind: Arc<str>,
    /// What a good look tells.
    pub examine: Arc<str>,
    /// The level that it takes.
    pub level: u32,
}

/// The kinds by id.
pub(crate) type Resources = BTreeMap<String, Arc<ResourceKind>>;

pub(crate) fn load(reader: &Reader<'_>) -> Result<Resources, ContentError> {
    let mut kinds = BTreeMap::new();
    for file in FILES {
        let Some(json) = reader.optional(file) else {
            continue;
        };
        let names = ["trees", "rocks", "spots", "resources"];
        for fields in reader.records(file, &json, &names)? {
            let id = fields.text("id")?;
            let level = fields.int_or("requiredLevel", 1);
            let level = fields.int_or("levelRequired", level).clamp(1, 99);
            let kind = ResourceKind {
                id: id.into(),
                name: fields.text("name")?.into(),
                kind: fields.text_or("type", "resource").to_lowercase().into(),
                examine: fields.text_or("examine", "").into(),
                level: level as u32,
            };
            if kinds.insert(id.to_owned(), Arc::new(kind)).is_some() {
                fields.warn("id", &format!("{id} is there twice, the last one counts"));
            }
        }
    }
    Ok(kinds)
}
