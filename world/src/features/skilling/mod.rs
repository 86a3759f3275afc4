//! Work at which a player is: gathering, and making things. It moves along in a handover.
//!
//! Always: a player is at one piece of work at most; work at something belongs to the region of
//! that thing.

pub(crate) mod chance;
pub(crate) mod firemaking;
pub(crate) mod gather;
pub(crate) mod make;
mod rules;
pub(crate) mod state;
pub(crate) mod tick;
pub mod told;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::told::{Message, Recipient};

use told::ActivityUpdate;

pub use state::*;

/// A request to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Use the item in a slot of the pack with the item in another.
    UseWith {
        /// Slot of one item.
        slot: u8,
        /// Slot of the other item.
        other: u8,
    },
    /// Use the item in a slot of the pack on something.
    UseOn {
        /// Slot of the item.
        slot: u8,
        /// Target of the use.
        target: EntityId,
    },
    /// Go to a tree, a rock or a fishing spot and gather there.
    Gather {
        /// The tree, rock or fishing spot.
        target: EntityId,
    },
    /// Make things by a recipe.
    Make {
        /// The trade.
        trade: RecipeKind,
        /// Item that is cooked, lit or tanned, else the product; `None`: the only one possible.
        what: Option<Arc<str>>,
        /// Furnace, anvil, fire … of the work; `None`: wherever one is.
        target: Option<EntityId>,
        /// Number of things; `None`: as many as possible.
        quantity: Option<u32>,
    },
}

/// A notification about work to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player has begun to work. The zone holds it back like the results.
    Begun(CharacterId, ActivityUpdate),
    /// A player works no more. Of value: the zone holds it back until the store has saved that.
    Stopped(CharacterId, ActivityUpdate),
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Begun(who, _) | Event::Stopped(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        // The zone tells nothing to a player who is not here.
        to.record?;
        match self {
            Event::Begun(_, told) | Event::Stopped(_, told) => Some(Message::of_value(told)),
        }
    }
}
