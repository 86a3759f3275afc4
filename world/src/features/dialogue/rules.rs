//! Words that NPCs say to a character, and the answers that it may give.
//!
//! Always: they depend on nothing but the state and the possessions of that character.

use std::sync::Arc;

use super::told::DialogueResponse;
use crate::content::{Condition, Dialogue, Node, Test};
use crate::entity::player::record::PlayerRecord;
use crate::features::quests::{QuestStatus, status};
use crate::item::inventory;

/// Returns the node with which a talk begins: about a quest that is ready to be completed, else one
/// under way (and its stage), else one that is over, else the first. `None`: the NPC says nothing.
pub(crate) fn entry(dialogue: &Dialogue, record: &PlayerRecord) -> Option<Arc<str>> {
    let order = [
        QuestStatus::ReadyToComplete,
        QuestStatus::InProgress,
        QuestStatus::Completed,
    ];
    for wanted in order {
        for (quest, to) in &dialogue.overrides {
            let stage = record.quests.get(quest).and_then(|q| q.stage.as_ref());
            let node = match wanted {
                QuestStatus::ReadyToComplete => to.ready_to_complete.as_ref(),
                QuestStatus::InProgress => stage
                    .and_then(|stage| to.stages.get(stage))
                    .or(to.in_progress.as_ref()),
                QuestStatus::Completed | QuestStatus::NotStarted => to.completed.as_ref(),
            };
            if let Some(node) = node
                && status(&record.quests, quest) == wanted
            {
                return Some(Arc::clone(node));
            }
        }
    }
    let known = dialogue.nodes.contains_key(&dialogue.entry);
    known.then(|| Arc::clone(&dialogue.entry))
}

/// Returns the answers that the character may give now, each with its number in the node.
pub(crate) fn answers(node: &Node, record: &PlayerRecord) -> Vec<DialogueResponse> {
    let numbered = (0u8..).zip(&node.answers);
    let open = numbered.filter(|(_, answer)| holds(answer.condition.as_ref(), record));
    let shown = open.map(|(index, answer)| DialogueResponse {
        index,
        text: Arc::clone(&answer.text),
    });
    shown.collect()
}

/// Returns whether a condition holds; no condition always does.
pub(crate) fn holds(condition: Option<&Condition>, record: &PlayerRecord) -> bool {
    let Some(condition) = condition else {
        return true;
    };
    let is = match &condition.test {
        Test::HasItem(item, many) => {
            let pack = inventory::count(&record.inventory, item);
            let pouch = if **item == *crate::item::COINS {
                record.coins
            } else {
                0
            };
            pack + pouch >= u64::from(*many)
        }
        Test::HasLevel(skill, level) => record.level(*skill) >= *level,
        Test::Quest(quest, wanted) => status(&record.quests, quest) == *wanted,
        // If nobody understands a test, neither it nor its contrary holds.
        Test::Unknown => return false,
    };
    is != condition.not
}
