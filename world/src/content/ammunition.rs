//! `ammunition.json`: arrows.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::items::{EquipSlot, Items};
use super::reader::{Defect, Of, Reader};
use crate::features::training::skill::Skill;

/// File of the arrows.
const FILE: &str = "ammunition.json";

/// Kind of arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// Item of the arrow.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Bonus to the most damage of a shot.
    pub ranged_strength: i32,
    /// Level in ranged that it takes.
    pub ranged_level: u8,
    /// Tier of the bow that it takes: the level of that bow.
    pub bow_tier: u32,
}

/// Reads the arrows of the file. Adds those items worn as arrows that the file leaves out, with a
/// warning if there is a file.
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
    // The loop below adds arrows that the file does not list.
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
