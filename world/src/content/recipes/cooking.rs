//! `recipes/cooking.json`.

use std::sync::Arc;

use super::{Effort, effort, item};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Food that players can cook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cooking {
    /// Raw item.
    pub raw: Arc<str>,
    /// Cooked item.
    pub cooked: Arc<str>,
    /// Burnt item.
    pub burnt: Arc<str>,
    /// Cost and gain.
    pub effort: Effort,
    /// Level from which it never burns on a fire.
    pub safe_on_fire: u32,
    /// Level from which it never burns on a range.
    pub safe_on_range: u32,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Cooking)> {
    let raw = item(fields, "raw")?;
    let cooked = item(fields, "cooked")?;
    Some((raw.to_string(), cooking(fields, raw, cooked, "burnt")))
}

/// Returns the recipe that the record of `raw` carries.
pub(super) fn embedded(raw: &str, fields: &Fields<'_>) -> Cooking {
    let cooked = fields.refer("cookedItemId", Of::Item, super::UNMADE);
    cooking(fields, raw.into(), cooked, "burntItemId")
}

fn cooking(fields: &Fields<'_>, raw: Arc<str>, cooked: Arc<str>, burnt: &str) -> Cooking {
    let safe = fields.get("stopBurnLevel").filter(|v| v.is_object());
    let safe = safe.and_then(|_| fields.object("stopBurnLevel"));
    let level = |name: &str| match &safe {
        Some(safe) => safe.count_or(name, 99),
        None => fields.count_or("stopBurnLevel", 99),
    };
    Cooking {
        raw,
        cooked,
        burnt: fields.refer(burnt, Of::Item, "nothing is left of it when it burns"),
        effort: effort(fields),
        safe_on_fire: level("fire"),
        safe_on_range: level("range"),
    }
}
