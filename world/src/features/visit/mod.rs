//! Interfaces that a player has open with an NPC or an object: a bank, a shop, a talk, the offer of
//! a quest.

mod rules;
pub(crate) mod state;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::features::bank::told::{self as bank, BankState};
use crate::features::dialogue::told::DialogueNode;
use crate::features::quests::told as quests;
use crate::features::shop::told::ShopState;
use crate::told::{Message, Recipient};

pub use state::*;

/// A notification to one player about an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// An interface is open now, and the client must show it whole; it tells of value.
    Opened {
        /// Recipient of the event.
        who: CharacterId,
        /// The interface.
        what: Interface,
    },
    /// An interface is open no more.
    Closed {
        /// Recipient of the event.
        who: CharacterId,
        /// The interface.
        what: Interface,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Opened { who, .. } | Event::Closed { who, .. } => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Opened { what, .. } => opened(what, to),
            Event::Closed { what, .. } => {
                to.record?;
                closed(what)
            }
        }
    }
}

fn opened(what: &Interface, to: &Recipient<'_>) -> Option<Message> {
    let record = to.record?;
    Some(match what {
        Interface::Bank => Message::of_value(&bank::whole(&record.bank)),
        Interface::Offer { quest } => {
            let detail = quests::detail(&record.quests, to.content, quest, true)?;
            Message::of_value(&detail)
        }
        // They have events of their own.
        Interface::Dialogue { .. } | Interface::Shop => return None,
        Interface::Altar => return None,
    })
}

/// Returns the message for an interface that was closed. It tells of value: it must not overtake
/// the messages that came while the interface was open.
fn closed(what: &Interface) -> Option<Message> {
    Some(match what {
        Interface::Bank => Message::of_value(&BankState::default()),
        Interface::Dialogue { .. } | Interface::Offer { .. } => {
            Message::of_value(&DialogueNode::default())
        }
        Interface::Altar => return None,
        Interface::Shop => Message::of_value(&ShopState::default()),
    })
}
