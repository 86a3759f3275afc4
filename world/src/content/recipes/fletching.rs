//! `recipes/fletching.json`.

use std::sync::Arc;

use super::{Effort, Part, UNMADE, effort, item, parts};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Something that can be fletched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fletching {
    /// What.
    pub output: Arc<str>,
    /// How many at once.
    pub quantity: u32,
    /// shortbows, arrows … as the manifest says.
    pub category: Arc<str>,
    /// What it is made of.
    pub inputs: Vec<Part>,
    /// What one must have and keeps.
    pub tools: Vec<Arc<str>>,
    /// What it takes and gives.
    pub effort: Effort,
}

impl Fletching {
    /// What tells recipes apart: the same thing can be made of several.
    pub fn key(output: &str, first: &str) -> String {
        format!("{output}/{first}")
    }
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Fletching)> {
    let output = item(fields, "output")?;
    let inputs = parts(fields, "inputs");
    let first = inputs.first().map_or("", |part| &part.item);
    let key = Fletching::key(&output, first);
    let recipe = Fletching {
        output,
        quantity: fields.count_or("outputQuantity", 1).max(1),
        category: fields.text("category"),
        inputs,
        tools: fields.refer_all("tools", Of::Item, UNMADE),
        effort: effort(fields),
    };
    Some((key, recipe))
}
