//! `stations.json`: furnaces, anvils, banks and the like.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::reader::{ContentError, Reader};

/// The file.
pub(crate) const FILE: &str = "stations.json";

/// A kind of station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationKind {
    /// furnace, anvil, bank …
    pub kind: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What a good look tells.
    pub examine: Arc<str>,
    /// Tiles that it covers, east and north.
    pub footprint: (i32, i32),
}

pub(crate) fn load(
    reader: &Reader<'_>,
) -> Result<BTreeMap<String, Arc<StationKind>>, ContentError> {
    let Some(json) = reader.optional(FILE) else {
        return Ok(BTreeMap::new());
    };
    let mut kinds = BTreeMap::new();
    for fields in reader.records(FILE, &json, &["stations"])? {
        let kind = fields.text("type")?.to_lowercase();
        // A footprint may also be a preset's name, which says nothing about tiles.
        let footprint = fields.get("footprint").filter(|f| f.is_object());
        let footprint = footprint.and_then(|_| fields.object_if("footprint"));
        let side = |name: &str| {
            footprint
                .as_ref()
                .map_or(1, |f| f.int_or(name, 1).clamp(1, 8) as i32)
        };
        let station = StationKind {
            kind: kind.as_str().into(),
            name: fields.text_or("name", fields.text("type")?).into(),
            examine: fields.text_or("examine", "").into(),
            footprint: (side("width"), side("depth")),
        };
        kinds.insert(kind, Arc::new(station));
    }
    Ok(kinds)
}
