//! Requests: the player that asks, the limits, and the answer.
//!
//! Always: each input has one answer.

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::item::Value;
use crate::refusal::Refusal;
use crate::told::{Message, Recipient};

/// Player that asks, and the number of the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) who: &'a CharacterId,
    pub(crate) number: u64,
}

impl<'a> Asked<'a> {
    /// Returns a request of an agent of its own accord: no input has this number.
    pub(crate) fn by_itself(who: &'a CharacterId) -> Asked<'a> {
        Asked { who, number: 0 }
    }
}

/// Limits on a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Whether value may change owners.
    pub(crate) value: Value,
    /// The number of visited tiles at which its searches end.
    pub(crate) searches_end: u64,
}

/// Answer to an intent.
pub(crate) enum Answer {
    Done {
        value: bool,
    },
    Elsewhere {
        target: EntityId,
    },
    /// The feature answered with an event of its own.
    Told,
}

/// A notification about an input to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The world accepted the input.
    Done {
        /// Player that sent the input.
        who: CharacterId,
        /// Number of the input.
        number: u64,
        /// Whether it tells of value: then the zone holds it back until the store has saved that.
        value: bool,
    },
    /// The world refused the input and has changed nothing.
    Refused {
        /// Player that sent the input.
        who: CharacterId,
        /// Number of the input.
        number: u64,
        /// Reason of the refusal.
        refusal: Refusal,
        /// Whether it tells of value: then the zone holds it back until the store has saved that.
        value: bool,
    },
    /// A request that the world accepted earlier has come to nothing.
    Failed {
        /// Player that sent the input.
        who: CharacterId,
        /// Reason of the refusal.
        refusal: Refusal,
        /// Whether it tells of value: then the zone holds it back until the store has saved that.
        value: bool,
    },
    /// The input needs something that may be where others play: the world neither did nor refused
    /// it, and changed nothing. Another zone must play it again, once.
    Elsewhere {
        /// Player that sent the input.
        who: CharacterId,
        /// Number of the input.
        number: u64,
        /// Entity that the input needs.
        target: EntityId,
    },
    /// An earlier input of the same player goes elsewhere: the world neither did nor refused this
    /// one, and changed nothing. It comes after the earlier one, once.
    Deferred {
        /// Player that sent the input.
        who: CharacterId,
        /// Number of the input.
        number: u64,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Done { who, .. }
            | Event::Refused { who, .. }
            | Event::Failed { who, .. }
            | Event::Elsewhere { who, .. }
            | Event::Deferred { who, .. } => who,
        }
    }

    /// Returns no message: the driver of the world knows what this means.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        None
    }
}
