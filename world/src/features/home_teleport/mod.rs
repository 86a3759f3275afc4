//! Going home by magic. A handover takes its progress along.
//!
//! Always: a player stands still while the world waits to bring it to a region that others play.

mod rules;
pub(crate) mod state;
pub(crate) mod tick;
pub mod told;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::told::{Message, Recipient};

use told::HomeUpdate;

pub use state::*;

/// Request to go home by magic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Begins to go home by magic, which takes standing still for a while.
    Begin,
}

/// Fact about going home that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player began to go home by magic, stopped, or must wait before it may begin again.
    Progress(CharacterId, HomeUpdate),
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Progress(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Progress(_, told) => Some(Message::now(told)),
        }
    }
}
