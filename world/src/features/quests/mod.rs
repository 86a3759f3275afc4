//! Progress of characters with quests. The store saves it, like all of value.

mod rules;
pub(crate) mod state;
pub(crate) mod tick;
pub mod told;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::features::duel::Conduct;
use crate::features::trade::Screen;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

pub use state::*;

/// A request about quests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// List all of them.
    #[serde(rename = "quest:list")]
    List,
    /// Show all about one.
    #[serde(rename = "quest:detail")]
    Show {
        /// Id of the quest.
        #[serde(rename = "questId")]
        quest: Arc<str>,
    },
    /// Begin a quest that an NPC offers.
    #[serde(rename = "quest:accept")]
    Accept {
        /// Id of the quest.
        #[serde(rename = "questId")]
        quest: Arc<str>,
    },
    /// Give one up.
    #[serde(rename = "quest:abandon")]
    Abandon {
        /// Id of the quest.
        #[serde(rename = "questId")]
        quest: Arc<str>,
    },
    /// Tell the giver of the quest that it is done.
    #[serde(rename = "quest:complete")]
    Complete {
        /// Id of the quest.
        #[serde(rename = "questId")]
        quest: Arc<str>,
    },
}

impl Intent {
    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::List | Intent::Show { .. } => Conduct::Harmless,
            Intent::Accept { .. } | Intent::Abandon { .. } | Intent::Complete { .. } => {
                Conduct::Other
            }
        }
    }
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::List => {}
            Intent::Show { quest }
            | Intent::Accept { quest }
            | Intent::Abandon { quest }
            | Intent::Complete { quest } => wire::id("questId", quest)?,
        }
        Ok(self)
    }
}

/// A notification about quests to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The list of all quests, with the player's progress. Of value: the zone holds it back until
    /// the store has saved that.
    Listed {
        /// Recipient of the event.
        who: CharacterId,
    },
    /// All about a quest. Of value, as [`Event::Listed`].
    Shown {
        /// Recipient of the event.
        who: CharacterId,
        /// Id of the quest.
        quest: Arc<str>,
    },
    /// The player is elsewhere in a quest than before. Of value, as [`Event::Listed`].
    Progressed {
        /// The player.
        who: CharacterId,
        /// Id of the quest.
        quest: Arc<str>,
    },
    /// The player has completed a quest, and has its rewards. Of value, as [`Event::Listed`].
    Completed {
        /// The player.
        who: CharacterId,
        /// Id of the quest.
        quest: Arc<str>,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Listed { who, .. }
            | Event::Shown { who, .. }
            | Event::Progressed { who, .. }
            | Event::Completed { who, .. } => who,
        }
    }

    /// Returns the message for the player; `None` also for a quest that the content does not know.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        let (quests, content) = (&to.record?.quests, to.content);
        Some(match self {
            Event::Listed { .. } => Message::of_value(&told::list(quests, content)),
            Event::Shown { quest, .. } => {
                Message::of_value(&told::detail(quests, content, quest, false)?)
            }
            Event::Progressed { quest, .. } => {
                Message::of_value(&told::update(quests, content, quest)?)
            }
            Event::Completed { quest, .. } => Message::of_value(&told::completed(content, quest)?),
        })
    }
}
