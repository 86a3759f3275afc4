//! Dialogue: NPCs say something, and the player picks one of the answers.
//!
//! Always: what is said depends on nothing but what that player is and has.

pub(crate) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};

/// What an NPC says to somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who says it.
    pub target: EntityId,
    /// Its name.
    pub name: Arc<str>,
    /// Which part of what it has to say this is.
    pub node: Arc<str>,
    /// What.
    pub text: Arc<str>,
    /// What may be answered, each with its number.
    pub answers: Vec<(u8, Arc<str>)>,
}

/// A request in a talk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to somebody and talk with it.
    Talk {
        /// With whom.
        target: EntityId,
    },
    /// Give one of the answers to what is said.
    Respond {
        /// Its number.
        index: u8,
    },
    /// Hear what is said to its end.
    Continue,
    /// Break a talk off, or turn an offer down.
    End,
}

/// A fact about a talk that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Somebody says something to it; it tells of value.
    Said {
        /// To whom.
        who: CharacterId,
        /// What.
        said: Said,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Said { who, .. } => who,
        }
    }
}
