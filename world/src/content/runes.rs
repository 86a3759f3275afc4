//! `runes.json`: runes, and staves that spare them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{Of, Reader};

/// File of the runes.
const FILE: &str = "runes.json";

/// Kind of rune.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rune {
    /// Item of the rune.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Element: air, water …; empty for none.
    pub element: Arc<str>,
}

/// Runes, and staves that spare them.
#[derive(Debug, Default)]
pub struct Runes {
    /// Runes by item.
    pub runes: Catalog<Rune>,
    /// Runes of which the wielder of a staff has any number, by staff.
    pub staves: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

pub(crate) fn load(reader: &Reader) -> Runes {
    let mut runes = Runes::default();
    for fields in &reader.records(FILE) {
        if let Some(id) = fields.key("id") {
            let item = fields.refer_to("id", Of::Item, id, "nobody can have it");
            runes.runes.add(fields, &item, rune(&item, id, fields));
        }
    }
    // A bare list has no staves.
    let whole = reader.optional(FILE).is_some_and(|value| value.is_object());
    let root = whole.then(|| reader.object(FILE)).flatten();
    for fields in root.map_or_else(Vec::new, |root| root.objects("elementalStaves")) {
        if fields.key("staffId").is_some() {
            let staff = fields.refer("staffId", Of::Item, "nobody can have it");
            let spared = fields.refer_all("providesInfinite", Of::Item, "it spares nothing");
            runes.staves.insert(staff, spared);
        }
    }
    runes
}

fn rune<'v>(item: &Arc<str>, id: &'v str, fields: &Fields<'v>) -> Rune {
    Rune {
        id: Arc::clone(item),
        name: fields.name(id).into(),
        element: fields.text_or("element", "").to_lowercase().into(),
    }
}
