//! `recipes/smelting.json`.

use std::sync::Arc;

use super::{Effort, Part, effort, item, parts};
use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Bar that players can smelt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smelting {
    /// Product.
    pub output: Arc<str>,
    /// Inputs.
    pub inputs: Vec<Part>,
    /// Cost and gain.
    pub effort: Effort,
    /// Chance that the bar succeeds, in millionths.
    pub success_millionths: u32,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Smelting)> {
    let output = item(fields, "output")?;
    let recipe = smelting(fields, Arc::clone(&output), parts(fields, "inputs"));
    Some((output.to_string(), recipe))
}

/// Returns the recipe that the record of the bar carries.
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
