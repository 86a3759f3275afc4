//! `recipes/smithing.json`.

use std::sync::Arc;

use super::{Effort, effort, item};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Thing that players can make at an anvil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smithing {
    /// Product.
    pub output: Arc<str>,
    /// Number of products at once.
    pub quantity: u32,
    /// Bar that it takes.
    pub bar: Arc<str>,
    /// Number of bars.
    pub bars: u32,
    /// Category as the manifest gives it: sword, dagger, platebody …
    pub category: Arc<str>,
    /// Cost and gain.
    pub effort: Effort,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Smithing)> {
    let output = item(fields, "output")?;
    let bar = item(fields, "bar")?;
    let recipe = smithing(fields, Arc::clone(&output), bar);
    Some((output.to_string(), recipe))
}

/// Returns the recipe that the product's record carries; its `barType` may be the metal's name.
pub(super) fn embedded(output: &str, fields: &Fields<'_>) -> Smithing {
    let metal = fields.text_or(fields.either(&["barType", "bar"]), "");
    let bar = if metal.ends_with("_bar") || metal.is_empty() {
        metal.to_owned()
    } else {
        format!("{metal}_bar")
    };
    let bar = if bar.is_empty() {
        bar.into()
    } else {
        fields.refer_to("barType", Of::Item, &bar, super::UNMADE)
    };
    smithing(fields, output.into(), bar)
}

fn smithing(fields: &Fields<'_>, output: Arc<str>, bar: Arc<str>) -> Smithing {
    Smithing {
        output,
        quantity: fields.count_or("outputQuantity", 1).max(1),
        bar,
        bars: fields.count_or("barsRequired", 1).max(1),
        category: fields.text("category"),
        effort: effort(fields),
    }
}
