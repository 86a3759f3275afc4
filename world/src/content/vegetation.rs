//! `vegetation.json`: plants that clients strew over the land; the rules only know that they are
//! there.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::Reader;

/// File of the plants.
const FILE: &str = "vegetation.json";

/// Plant, stone or the like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plant {
    /// Id, unique among plants.
    pub id: Arc<str>,
    /// Category: tree, bush, grass …
    pub category: Arc<str>,
    /// Path of the model.
    pub model: Arc<str>,
    /// Scale of the model, in thousandths.
    pub scale_thousandths: u32,
    /// Frequency beside others.
    pub weight: u32,
}

pub(crate) fn load(reader: &Reader) -> Catalog<Plant> {
    let mut plants = Catalog::default();
    for fields in &reader.records(FILE) {
        if let Some(id) = fields.key("id") {
            plants.add(fields, id, plant(id, fields));
        }
    }
    plants
}

fn plant(id: &str, fields: &Fields<'_>) -> Plant {
    Plant {
        id: id.into(),
        category: fields.text_or("category", "").to_lowercase().into(),
        model: fields.text("model"),
        scale_thousandths: fields.parts_or("baseScale", 1_000, 1_000),
        weight: fields.count_or("weight", 1),
    }
}
