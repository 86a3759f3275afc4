//! Examining: a player takes a good look at something near and reads about it.

pub(crate) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};

/// A request to take a good look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Take a good look at something.
    Examine {
        /// At what.
        target: EntityId,
    },
}

/// A fact about an examined thing that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// What a player saw on taking a good look.
    Examined {
        /// Who looked.
        who: CharacterId,
        /// At what.
        target: EntityId,
        /// What there is to say about it.
        text: Arc<str>,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Examined { who, .. } => who,
        }
    }
}
