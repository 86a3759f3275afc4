//! `recipes/runecrafting.json`.

use std::sync::Arc;

use super::{UNMADE, item};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Rune that players can make at its altar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runecrafting {
    /// Type as altars give it: air, water …
    pub rune_type: Arc<str>,
    /// Product.
    pub output: Arc<str>,
    /// Level that it takes.
    pub level: u8,
    /// XP for one essence, in tenths.
    pub xp_tenths: u32,
    /// Essences, of which any one will do.
    pub essences: Vec<Arc<str>>,
    /// Levels from which one essence gives one rune more.
    pub more_from: Vec<u32>,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Runecrafting)> {
    let rune_type = fields.key("runeType")?.to_lowercase();
    let mut more_from = Vec::new();
    for value in fields.values("multiRuneLevels") {
        match value.as_f64() {
            Some(level) => more_from.push(level.clamp(1.0, 1e6) as u32),
            None => fields.warn("multiRuneLevels", "a level is no number, skipped"),
        }
    }
    let recipe = Runecrafting {
        rune_type: rune_type.as_str().into(),
        output: item(fields, "runeItemId")?,
        level: fields.level_or(fields.either(&["levelRequired", "level"]), 1),
        xp_tenths: fields.tenths(fields.either(&["xpPerEssence", "xp"])),
        essences: fields.refer_all("essenceTypes", Of::Item, UNMADE),
        more_from,
    };
    Some((rune_type, recipe))
}
