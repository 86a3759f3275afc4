//! `skill-unlocks.json`: descriptions of the rewards of levels.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::reader::Reader;
use super::words::words;
use crate::features::training::skill::Skill;

/// File of the rewards.
const FILE: &str = "skill-unlocks.json";

words! {
    /// Sort of reward that a level brings.
    UnlockKind {
        Item = "item",
        Ability = "ability",
        Area = "area",
        Quest = "quest",
        Activity = "activity",
    }
}

/// Reward that a level brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlock {
    /// Level.
    pub level: u8,
    /// Description of the reward.
    pub description: Arc<str>,
    /// Sort of reward.
    pub kind: UnlockKind,
}

/// Rewards of levels, by skill and then by level.
pub type Unlocks = BTreeMap<Skill, Vec<Unlock>>;

/// Reads the rewards. The file keeps the skills under `skills`, or is the map itself.
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
