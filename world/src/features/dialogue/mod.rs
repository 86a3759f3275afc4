//! Dialogue: NPCs say something, and the player picks one of the answers.
//!
//! Always: the words depend on nothing but the state and the possessions of that player.

pub(crate) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};

/// Words that an NPC says to somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// NPC that speaks.
    pub target: EntityId,
    /// Name of the NPC.
    pub name: Arc<str>,
    /// Node of its dialogue.
    pub node: Arc<str>,
    /// The words.
    pub text: Arc<str>,
    /// Answers that the player may give, each with its number.
    pub answers: Vec<(u8, Arc<str>)>,
}

/// A request in a talk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to somebody and talk with it.
    Talk {
        /// NPC with which to talk.
        target: EntityId,
    },
    /// Give one of the answers.
    Respond {
        /// Number of the answer.
        index: u8,
    },
    /// Hear the words to their end.
    Continue,
    /// Break a talk off, or turn an offer down.
    End,
}

/// A notification about a talk to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// An NPC says something to the player; it tells of value.
    Said {
        /// Recipient of the event.
        who: CharacterId,
        /// The words, and the answers to them.
        said: Said,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Said { who, .. } => who,
        }
    }
}
