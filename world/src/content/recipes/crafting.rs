//! `recipes/crafting.json`.

use std::sync::Arc;

use super::{Effort, Part, UNMADE, effort, item, parts};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Something that can be crafted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crafting {
    /// What.
    pub output: Arc<str>,
    /// leather, jewelry … as the manifest says.
    pub category: Arc<str>,
    /// What it is made of.
    pub inputs: Vec<Part>,
    /// What one must have and keeps.
    pub tools: Vec<Arc<str>>,
    /// What is used up now and then.
    pub consumed: Vec<Consumed>,
    /// What it takes and gives.
    pub effort: Effort,
    /// The sort of station at which it is made; none for anywhere.
    pub station: Option<Arc<str>>,
}

/// Something that is used up now and then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumed {
    /// The item.
    pub item: Arc<str>,
    /// How many things can be made with one of it.
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
