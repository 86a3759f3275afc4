//! `tools.json`: tools for gathering, best first.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{Of, Reader};
use crate::features::training::skill::Skill;

/// File of the tools.
const FILE: &str = "tools.json";

/// A tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Item of the tool; may be unknown.
    pub item: Arc<str>,
    /// Skill of the tool.
    pub skill: Skill,
    /// Tier: bronze, iron …; empty for none.
    pub tier: Arc<str>,
    /// Level in the skill that it takes.
    pub level: u8,
    /// Priority from the manifest, which generations mean differently: choose by `level` and
    /// `roll_ticks`.
    pub priority: u32,
    /// Ticks between tries with it, if the manifest gives them.
    pub roll_ticks: Option<u32>,
    /// Chance of a quicker try, in millionths.
    pub bonus_chance_millionths: u32,
    /// Ticks that a quicker try takes.
    pub bonus_roll_ticks: u32,
}

pub(crate) fn load(reader: &Reader) -> Catalog<Tool> {
    let mut tools = Catalog::default();
    for fields in &reader.records(FILE) {
        if let Some(tool) = tool(fields) {
            tools.add(fields, &tool.item.clone(), tool);
        }
    }
    tools
}

fn tool(fields: &Fields<'_>) -> Option<Tool> {
    fields.key("itemId")?;
    let skill = fields.skill("skill")?;
    Some(Tool {
        item: fields.refer("itemId", Of::Item, "nobody can have it"),
        skill,
        tier: fields.text_or("tier", "").to_lowercase().into(),
        level: fields.level_or(fields.either(&["levelRequired", "requiredLevel"]), 1),
        priority: fields.count_or("priority", 1),
        roll_ticks: fields
            .has("rollTicks")
            .then(|| fields.count_or("rollTicks", 4).max(1)),
        bonus_chance_millionths: fields.millionths_or("bonusTickChance", 0),
        bonus_roll_ticks: fields.count_or("bonusRollTicks", 0),
    })
}
