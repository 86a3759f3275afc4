//! What levels bring, in words, for the skills panel.

use std::sync::Arc;

use axum::{extract::State, http::HeaderMap, response::Response};
use serde_json::{Map, Value, json};
use world::{Content, Skill};

use super::stored::{FIVE_MINUTES, Stored};
use crate::app::App;

/// Every skill with its list, by level; empty where nothing is said of it.
fn unlocks(content: &Content) -> Value {
    let skill = |skill: &Skill| {
        let list = content.unlocks().get(skill).into_iter().flatten();
        let list = list.map(|unlock| {
            json!({
                "level": unlock.level,
                "description": unlock.description.as_ref(),
                "type": unlock.kind.name(),
            })
        });
        (skill.name().to_owned(), Value::Array(list.collect()))
    };
    Value::Object(Skill::ALL.iter().map(skill).collect::<Map<_, _>>())
}

pub(super) async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.shown.version().unlocks.answer(&headers)
}

/// What is sent for a version of the content.
pub(crate) fn stored(content: &Content) -> Stored {
    let text = unlocks(content).to_string();
    Stored::new(text, "application/json", FIVE_MINUTES).packed()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_skill_is_there_and_each_record_is_whole() {
        let unlocks = unlocks(&Content::embedded());
        let skills = unlocks.as_object().unwrap();
        let names: BTreeSet<&str> = skills.keys().map(String::as_str).collect();
        let known: BTreeSet<&str> = Skill::ALL.iter().map(|skill| skill.name()).collect();
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
