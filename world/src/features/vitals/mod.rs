//! Vitals: health, run energy and the choice to run, as their player is told; and getting better in time.

pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;

/// A fact about health or energy that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Health, energy or the choice to run changed enough to be told.
    Changed {
        /// Whose.
        who: CharacterId,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Changed { who, .. } => who,
        }
    }
}
