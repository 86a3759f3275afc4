//! Vitals: a player's health, run energy and choice to run, as it hears of them; and recovery in
//! time.

pub(crate) mod tick;
pub mod told;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::told::{Message, Recipient};

/// Fact about health or energy that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Health, energy or the choice to run changed enough to tell.
    Changed {
        /// Player whose vitals changed.
        who: CharacterId,
    },
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Changed { who, .. } => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Changed { .. } => Some(Message::now(&told::vitals(to.record?))),
        }
    }
}
