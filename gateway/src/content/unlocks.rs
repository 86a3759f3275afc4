//! The unlocks of levels, in words, ready to send.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use world::{Content, Skill};

use crate::http::stored::{FIVE_MINUTES, Stored};

/// Unlocks by skill.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(example = json!({
    "mining": [{"level": 1, "description": "Copper and tin", "type": "item"}],
}))]
pub(crate) struct Unlocks(BTreeMap<&'static str, Vec<Unlock>>);

/// Something that a level brings.
#[derive(Debug, Serialize, JsonSchema)]
struct Unlock {
    #[schemars(range(min = 1, max = 99))]
    level: u8,
    #[schemars(example = &"Copper and tin")]
    description: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["item", "ability", "area", "quest", "activity"]))]
    kind: String,
}

/// Returns every skill with its list, by level; empty where the content has none.
fn unlocks(content: &Content) -> Unlocks {
    let skill = |skill: &Skill| {
        let list = content.unlocks().get(skill).into_iter().flatten();
        let list = list.map(|unlock| Unlock {
            level: unlock.level,
            description: unlock.description.to_string(),
            kind: unlock.kind.name().to_owned(),
        });
        (skill.name(), list.collect())
    };
    Unlocks(Skill::ALL.iter().map(skill).collect())
}

/// Returns the unlocks of a version of the content, ready to send.
pub(super) fn stored(content: &Content) -> Stored {
    let text = proto::encode::json(&unlocks(content));
    Stored::new(text, "application/json", FIVE_MINUTES).packed()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_skill_is_there_and_each_record_is_whole() {
        let unlocks = serde_json::to_value(unlocks(&Content::embedded())).unwrap();
        let skills = unlocks.as_object().unwrap();
        let names: BTreeSet<&str> = skills.keys().map(String::as_str).collect();
        let known: BTreeSet<&str> = Skill::NAMES.iter().copied().collect();
        assert_eq!(names, known);
        for list in skills.values() {
            let list = list.as_array().unwrap();
            assert!(!list.is_empty());
            assert!(list.is_sorted_by_key(|unlock| unlock["level"].as_u64()));
            for unlock in list {
                assert!(unlock["level"].as_u64().is_some_and(|level| level >= 1));
                assert!(
                    unlock["description"]
                        .as_str()
                        .is_some_and(|d| !d.is_empty())
                );
                let kinds = ["item", "ability", "area", "quest", "activity"];
                assert!(kinds.contains(&unlock["type"].as_str().unwrap()));
            }
        }
    }
}
