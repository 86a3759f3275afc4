//! Examining: a player takes a good look at something near and reads about it.

mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::told::{Message, Notice, Recipient};

/// Request to take a good look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Takes a good look at something.
    Examine {
        /// Thing to examine.
        target: EntityId,
    },
}

/// Fact about an examined thing that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player examined something.
    Examined {
        /// Player that looked.
        who: CharacterId,
        /// Examined thing.
        target: EntityId,
        /// Text about the thing.
        text: Arc<str>,
    },
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Examined { who, .. } => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Examined { text, .. } => Some(Message::now(&Notice {
                code: "examined".to_owned(),
                message: text.to_string(),
                level: "info".to_owned(),
            })),
        }
    }
}
