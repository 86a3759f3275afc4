//! `skill-unlocks.json`: what levels bring, in words.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::reader::Reader;
use super::words::words;
use crate::features::training::skill::Skill;

/// The file.
const FILE: &str = "skill-unlocks.json";

words! {
    /// What sort of thing a level brings.
    UnlockKind {
        Item = "item",
        Ability = "ability",
        Area = "area",
        Quest = "quest",
        Activity = "activity",
    }
}

/// Something that a level brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlock {
    /// The level.
    pub level: u8,
    /// What.
    pub description: Arc<str>,
    /// What sort of thing.
    pub kind: UnlockKind,
}

/// What levels bring, by skill and then by level.
pub type Unlocks = BTreeMap<Skill, Vec<Unlock>>;

/// The file keeps the skills under `skills`, or is the map itself.
pub(crate) fn load(reader: &Reader) -> Unlocks {
    let Some(root) = reader.object(FILE) else {
        return Unlocks::new();
    };
    let skills = if root.has("skills") {
        root.object("skills")
    } else {
        Some(root)
    };
    let Some(skills) = skills else {
        return Unlocks::new();
    };
    skills.by_skill(|name| {
        let list = skills.objects(name);
        let mut unlocks: Vec<Unlock> = list
            .iter()
            .filter_map(|fields| {
                Some(Unlock {
                    description: fields.key("description")?.into(),
                    level: fields.level_or("level", 1),
                    kind: fields.word("type").unwrap_or(UnlockKind::Ability),
                })
            })
            .collect();
        unlocks.sort_by_key(|unlock| unlock.level);
        unlocks
    })
}
