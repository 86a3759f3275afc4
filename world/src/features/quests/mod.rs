//! How far somebody is with quests. It is saved, like all of value.

pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;

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

/// A request about quests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// To see all of them.
    List,
    /// To see all about one.
    Show {
        /// Which.
        quest: Arc<str>,
    },
    /// Begin one that is offered.
    Accept {
        /// Which.
        quest: Arc<str>,
    },
    /// Give one up.
    Abandon {
        /// Which.
        quest: Arc<str>,
    },
    /// Tell whoever gave it that it is done.
    Complete {
        /// Which.
        quest: Arc<str>,
    },
}

/// A fact about quests that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// All quests are to be shown, with how far it is. Of value: to be held back until that is
    /// saved.
    Listed {
        /// To whom.
        who: CharacterId,
    },
    /// All about a quest is to be shown. Of value, as before.
    Shown {
        /// To whom.
        who: CharacterId,
        /// Which.
        quest: Arc<str>,
    },
    /// It is elsewhere in a quest than before. Of value, as before.
    Progressed {
        /// Who.
        who: CharacterId,
        /// In which.
        quest: Arc<str>,
    },
    /// It has completed a quest, and has what that gives. Of value, as before.
    Completed {
        /// Who.
        who: CharacterId,
        /// Which.
        quest: Arc<str>,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Listed { who, .. }
            | Event::Shown { who, .. }
            | Event::Progressed { who, .. }
            | Event::Completed { who, .. } => who,
        }
    }
}
