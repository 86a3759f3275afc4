//! `recipes/fletching.json`.

use std::sync::Arc;

use super::{Effort, Part, UNMADE, effort, item, parts};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Thing that players can fletch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fletching {
    /// Product.
    pub output: Arc<str>,
    /// Number of products at once.
    pub quantity: u32,
    /// Category as the manifest gives it: shortbows, arrows …
    pub category: Arc<str>,
    /// Inputs.
    pub inputs: Vec<Part>,
    /// Tools that a player must have and keeps.
    pub tools: Vec<Arc<str>>,
    /// Cost and gain.
    pub effort: Effort,
}

impl Fletching {
    /// Returns the key of a recipe: several recipes may have the same product.
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
