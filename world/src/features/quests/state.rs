//! Progress of a character in its quests.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::tile::Tile;
use crate::item::inventory::Pack;
use crate::item::worn::Worn;

/// Quest states of a character, by quest. The character never began a quest without an entry.
pub type Quests = BTreeMap<Arc<str>, QuestState>;

/// Progress of a character with one quest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuestState {
    /// Stage that is under way; `None`: the quest is not.
    pub stage: Option<Arc<str>>,
    /// Whether all is done and the giver waits to hear of it.
    pub ready: bool,
    /// Amount done, by stage.
    pub counts: BTreeMap<Arc<str>, u32>,
    /// Number of completions.
    pub completed: u32,
    /// Whether the character got the gifts for the beginning; if it gives the quest up, it gets
    /// them no second time.
    pub given: bool,
}

/// Progress with a quest, in a word.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum QuestStatus {
    /// Not begun, or given up.
    NotStarted,
    /// Begun.
    InProgress,
    /// All is done, but the giver has not heard of it.
    ReadyToComplete,
    /// Over.
    Completed,
}

impl QuestState {
    /// Returns how far the quest is.
    pub fn status(&self) -> QuestStatus {
        match (&self.stage, self.ready) {
            (Some(_), true) => QuestStatus::ReadyToComplete,
            (Some(_), false) => QuestStatus::InProgress,
            (None, _) if self.completed > 0 => QuestStatus::Completed,
            (None, _) => QuestStatus::NotStarted,
        }
    }
}

/// Returns how far a character is with `quest`.
pub fn status(quests: &Quests, quest: &str) -> QuestStatus {
    let state = quests.get(quest);
    state.map_or(QuestStatus::NotStarted, QuestState::status)
}

/// Something that may count for a quest.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Achievement<'a> {
    /// The character killed an NPC of a kind.
    Killed(&'a str),
    /// The character got so many of an item out of the ground, the water or a tree.
    Gathered(&'a str, u32),
    /// The character made so many of an item.
    Made(&'a str, u32),
    /// The character lit a fire.
    Lit,
    /// The character spoke to an NPC of a kind.
    Talked(&'a str),
    /// The character stands there.
    Stood(Tile),
    /// The character has all this in its pack.
    Has(&'a Pack),
    /// The character wears all this.
    Wears(&'a Worn),
    /// The character sold so many of an item to a shop.
    Sold(&'a str, u32),
    /// The character put so many of an item into its bank.
    Banked(&'a str, u32),
    /// The character prayed at an altar.
    Prayed,
}
