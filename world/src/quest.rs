//! How far somebody is with quests. It is saved, like all of value.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What somebody has to do with quests, by quest. Who is not named was never begun.
pub type Quests = BTreeMap<Arc<str>, QuestState>;

/// How far somebody is with one quest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuestState {
    /// The stage that is under way; `None`: the quest is not.
    pub stage: Option<Arc<str>>,
    /// All that it asks for is done: whoever gave it waits to hear of it.
    pub ready: bool,
    /// How much is done, by stage.
    pub counts: BTreeMap<Arc<str>, u32>,
    /// How often it is over.
    pub completed: u32,
    /// What one gets for its beginning was given; one who gives it up gets it no second time.
    pub given: bool,
}

/// How far somebody is with a quest, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestStatus {
    /// Not begun, or given up.
    NotStarted,
    /// Begun.
    InProgress,
    /// All is done but for telling so.
    ReadyToComplete,
    /// Over.
    Completed,
}

impl QuestState {
    /// How far it is.
    pub fn status(&self) -> QuestStatus {
        match (&self.stage, self.ready) {
            (Some(_), true) => QuestStatus::ReadyToComplete,
            (Some(_), false) => QuestStatus::InProgress,
            (None, _) if self.completed > 0 => QuestStatus::Completed,
            (None, _) => QuestStatus::NotStarted,
        }
    }
}

/// How far somebody is with `quest`.
pub fn status(quests: &Quests, quest: &str) -> QuestStatus {
    let state = quests.get(quest);
    state.map_or(QuestStatus::NotStarted, QuestState::status)
}
