//! `recipes/smelting.json`.

use std::sync::Arc;

use super::{Effort, Part, effort, item, parts};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// A bar that can be smelted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smelting {
    /// The bar.
    pub output: Arc<str>,
    /// What it is made of.
    pub inputs: Vec<Part>,
    /// What it takes and gives.
    pub effort: Effort,
    /// The chance that it comes of it, in millionths.
    pub success_millionths: u32,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Smelting)> {
    let output = item(fields, "output")?;
    let recipe = smelting(fields, Arc::clone(&output), parts(fields, "inputs"));
    Some((output.to_string(), recipe))
}

/// The recipe that the record of the bar carries.
pub(super) fn embedded(output: &str, fields: &Fields<'_>) -> Smelting {
    let ore = |name: &str| {
        let item = fields.refer(name, Of::Item, super::UNMADE);
        (!item.is_empty()).then_some(Part { item, amount: 1 })
    };
    let mut inputs: Vec<Part> = ["primaryOre", "secondaryOre"]
        .into_iter()
        .filter_map(ore)
        .collect();
    let coal = fields.count_or("coalRequired", 0);
    if coal > 0 {
        inputs.push(Part {
            item: "coal".into(),
            amount: coal,
        });
    }
    smelting(fields, output.into(), inputs)
}

fn smelting(fields: &Fields<'_>, output: Arc<str>, inputs: Vec<Part>) -> Smelting {
    Smelting {
        output,
        inputs,
        effort: effort(fields),
        success_millionths: fields.millionths_or("successRate", 1_000_000),
    }
}
