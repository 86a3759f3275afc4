//! `stations.json`: furnaces, anvils, banks and the like.
//!
//! A station covers the tiles that its record gives. Without them it covers the size in
//! `model-bounds.json` times the model's scale; if one of these is missing, one tile.

use std::sync::Arc;

use super::bounds::ModelBounds;
use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{Defect, Reader};

/// File of the stations.
const FILE: &str = "stations.json";
/// Most tiles that a side of something covers.
pub(crate) const SIDE_MAX: i32 = 16;

/// Kind of station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationKind {
    /// Type: furnace, anvil, bank …
    pub kind: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Text for a good look.
    pub examine: Arc<str>,
    /// Tiles that it covers, east and north.
    pub footprint: (i32, i32),
    /// Model; a path that begins with `asset://`.
    pub model: Option<Arc<str>>,
    /// Scale of the model, in thousandths.
    pub scale_thousandths: u32,
}

pub(crate) fn load(reader: &Reader, bounds: &ModelBounds) -> Catalog<StationKind> {
    let mut kinds = Catalog::default();
    for fields in &reader.records(FILE) {
        if let Some(kind) = fields.key("type") {
            let kind = kind.to_lowercase();
            kinds.add(fields, &kind, station(&kind, fields, bounds));
        }
    }
    kinds
}

fn station(kind: &str, fields: &Fields<'_>, bounds: &ModelBounds) -> StationKind {
    let scale_thousandths = fields.parts_or("modelScale", 1_000, 1_000);
    let model = fields.text_or("model", "");
    let measured = bounds.footprint(kind, model, scale_thousandths);
    StationKind {
        kind: kind.into(),
        name: fields.text_or("name", fields.text_or("type", "")).into(),
        examine: fields.text("examine"),
        footprint: own_footprint(fields).or(measured).unwrap_or((1, 1)),
        model: Some(model)
            .filter(|model| !model.is_empty())
            .map(Into::into),
        scale_thousandths,
    }
}

/// Reads the footprint of a thing's record: {width, depth}, or a preset's name.
pub(crate) fn own_footprint(fields: &Fields<'_>) -> Option<(i32, i32)> {
    let value = fields.get("footprint")?;
    let Some(preset) = value.as_str() else {
        let footprint = fields.object("footprint")?;
        let side = |name: &str| footprint.int_or(name, 1).clamp(1, i64::from(SIDE_MAX)) as i32;
        return Some((side("width"), side("depth")));
    };
    match preset.to_lowercase().as_str() {
        "standard" | "small" => Some((1, 1)),
        "large" => Some((2, 2)),
        "massive" | "huge" => Some((3, 3)),
        _ => {
            let what = format!("the rules know no footprint {preset:?}, what is measured counts");
            fields.defect(Defect::Unknown, "footprint", &what);
            None
        }
    }
}
