//! `ammunition.json`: arrows.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::items::{EquipSlot, Items};
use super::reader::{Defect, Of, Reader};
use crate::features::training::skill::Skill;

/// The file.
const FILE: &str = "ammunition.json";

/// An arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// The item.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What it adds to the most damage of a shot.
    pub ranged_strength: i32,
    /// The level in ranged that it takes.
    pub ranged_level: u8,
    /// The tier of the bow that it takes: the level of that bow.
    pub bow_tier: u32,
}

/// The arrows of the file, and those items worn as arrows of which it says nothing, with a
/// warning where there is a file.
pub(crate) fn load(reader: &Reader, items: &Items) -> Catalog<Arrow> {
    let mut arrows = Catalog::default();
    for fields in &reader.records(FILE) {
        if let Some(id) = fields.key("id") {
            let item = fields.refer_to("id", Of::Item, id, "nobody can have it");
            arrows.add(fields, &item, arrow(&item, id, fields));
        }
    }
    let worn = items
        .iter()
        .filter(|item| item.equip_slot == Some(EquipSlot::Arrows));
    // What is put in below is not what the file says.
    let listed = !arrows.is_empty();
    for item in worn {
        if arrows.contains(&item.id) {
            continue;
        }
        if listed {
            let what = format!(
                "says nothing of {:?}, the item's own bonuses count",
                item.id
            );
            reader.warn(Defect::Dangling, FILE, "arrows", &what);
        }
        let level = item.requires.get(&Skill::Ranged).copied().unwrap_or(1);
        let own = Arrow {
            id: Arc::clone(&item.id),
            name: Arc::clone(&item.name),
            ranged_strength: item.bonuses.ranged_strength,
            ranged_level: level,
            bow_tier: u32::from(level),
        };
        arrows.put(&item.id, own);
    }
    arrows
}

fn arrow<'v>(item: &Arc<str>, id: &'v str, fields: &Fields<'v>) -> Arrow {
    Arrow {
        id: Arc::clone(item),
        name: fields.name(id).into(),
        ranged_strength: fields
            .signed_or("rangedStrength", 1, 0)
            .clamp(-10_000, 10_000),
        ranged_level: fields.level_or("requiredRangedLevel", 1),
        bow_tier: fields.count_or("requiredBowTier", 1),
    }
}
