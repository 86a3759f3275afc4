//! Dialogue: NPCs say something, and the player picks one of the answers.
//!
//! Always: the words depend on nothing but the state and the possessions of that player.

mod rules;
pub(crate) mod tick;
pub mod told;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::trade::Screen;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

use told::DialogueNode;

/// A request in a talk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Go to somebody and talk with it.
    #[schemars(skip)]
    Talk {
        /// NPC with which to talk.
        target: EntityId,
    },
    /// Give one of the answers.
    #[serde(rename = "dialogue:respond")]
    Respond {
        /// Number of the answer, as it was shown.
        index: u8,
    },
    /// Hear the words to their end.
    #[serde(rename = "dialogue:continue")]
    Continue,
    /// Break a talk off, or turn an offer down.
    #[serde(rename = "dialogue:close")]
    End,
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        Ok(self)
    }
}

/// A notification about a talk to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// An NPC says something to the player; it tells of value.
    Said(CharacterId, DialogueNode),
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Said(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        // The zone tells nothing to a player who is not here.
        to.record?;
        match self {
            Event::Said(_, told) => Some(Message::of_value(told)),
        }
    }
}
