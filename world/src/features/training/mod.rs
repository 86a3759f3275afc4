//! Training: skills, and the experience that makes their levels.
//!
//! Always: experience alone makes a level, the saved level never counts; experience never falls.

pub mod experience;
mod rules;
pub mod skill;
pub(crate) mod tick;
pub mod told;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::told::{Message, Recipient};

use told::SkillGain;

/// Fact about experience that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player gained experience. Of value: the zone holds it back until the store has saved it.
    Gained(CharacterId, SkillGain),
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Gained(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        // The zone tells nothing to a player who is not here.
        to.record?;
        match self {
            Event::Gained(_, told) => Some(Message::of_value(told)),
        }
    }
}
