//! Requests: who asks, within which limits, and how it is answered.
//!
//! Always: each input has one answer.

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::item::Value;
use crate::refusal::Refusal;

/// Who asks, and by which input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) who: &'a CharacterId,
    pub(crate) number: u64,
}

impl<'a> Asked<'a> {
    /// An agent asks of its own accord: no input has this number.
    pub(crate) fn by_itself(who: &'a CharacterId) -> Asked<'a> {
        Asked { who, number: 0 }
    }
}

/// What a request may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Whether value may change hands.
    pub(crate) value: Value,
    /// The number of visited tiles at which its searches end.
    pub(crate) searches_end: u64,
}

/// How an intent was followed.
pub(crate) enum Answer {
    Done {
        value: bool,
    },
    Elsewhere {
        target: EntityId,
    },
    /// It was answered by an event of its own.
    Told,
}

/// A fact about an input that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The input was accepted.
    Done {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
        /// It tells of value, and must be held back until that is saved.
        value: bool,
    },
    /// The input was refused and has changed nothing.
    Refused {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
        /// Why.
        refusal: Refusal,
        /// It tells of value, and must be held back until that is saved.
        value: bool,
    },
    /// What was accepted earlier has come to nothing.
    Failed {
        /// Whose.
        who: CharacterId,
        /// Why.
        refusal: Refusal,
        /// It tells of value, and must be held back until that is saved.
        value: bool,
    },
    /// The input wants something that may be where others play: it was neither done nor refused,
    /// and has changed nothing. To be played again there, once.
    Elsewhere {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
        /// What it wants.
        target: EntityId,
    },
    /// An earlier input of the same player goes elsewhere: this one was neither done nor refused,
    /// and has changed nothing. To be played after that one, once.
    Deferred {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Done { who, .. }
            | Event::Refused { who, .. }
            | Event::Failed { who, .. }
            | Event::Elsewhere { who, .. }
            | Event::Deferred { who, .. } => who,
        }
    }
}
