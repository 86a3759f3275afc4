//! `recipes/crafting.json`.

use std::sync::Arc;

use super::{Effort, Part, UNMADE, effort, item, parts};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Thing that players can craft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crafting {
    /// Product.
    pub output: Arc<str>,
    /// Category as the manifest gives it: leather, jewelry …
    pub category: Arc<str>,
    /// Inputs.
    pub inputs: Vec<Part>,
    /// Tools that a player must have and keeps.
    pub tools: Vec<Arc<str>>,
    /// Supplies, of which one lasts for several products.
    pub consumed: Vec<Consumed>,
    /// Cost and gain.
    pub effort: Effort,
    /// Sort of station at which players make it; none for anywhere.
    pub station: Option<Arc<str>>,
}

/// Supply that lasts for several products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumed {
    /// Item.
    pub item: Arc<str>,
    /// Number of products for one of it.
    pub uses: u32,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Crafting)> {
    let output = item(fields, "output")?;
    let consumed = |part: &Fields<'_>| {
        Some(Consumed {
            item: item(part, "item")?,
            uses: part.count_or("uses", 1).max(1),
        })
    };
    let consumables = fields.objects("consumables");
    let station = fields.text_or("station", "none").to_lowercase();
    let recipe = Crafting {
        output: Arc::clone(&output),
        category: fields.text("category"),
        inputs: parts(fields, "inputs"),
        tools: fields.refer_all("tools", Of::Item, UNMADE),
        consumed: consumables.iter().filter_map(consumed).collect(),
        effort: effort(fields),
        station: (station != "none").then(|| station.into()),
    };
    Some((output.to_string(), recipe))
}
