//! What somebody has open with somebody or something: a bank, a shop, a talk, the offer of a quest.

pub(crate) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::geometry::tile::Region;
use crate::time::Tick;

/// What can be open. A player has one thing open at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interface {
    /// The own bank.
    Bank,
    /// The shop of whoever it is open with.
    Shop,
    /// A talk.
    Dialogue {
        /// What is being said; empty on the way to it.
        node: Arc<str>,
    },
    /// Somebody offers a quest.
    Offer {
        /// Which.
        quest: Arc<str>,
    },
    /// An altar: one prays there, and nothing stays open.
    Altar,
}

/// On the way to where something can be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// The number of the input that asked for it.
    pub number: u64,
    /// To whom or what.
    pub target: EntityId,
    /// The region to which that belongs.
    pub region: Region,
    /// What is to be opened there.
    pub what: Interface,
}

/// Something that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// What.
    pub what: Interface,
    /// With whom or what.
    pub with: EntityId,
    /// The region to which that belongs.
    pub region: Region,
    /// Since when.
    pub since: Tick,
}

/// A fact about something that is open that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something is open now, to be shown whole; it tells of value.
    Opened {
        /// To whom.
        who: CharacterId,
        /// What.
        what: Interface,
    },
    /// Something is open no more.
    Closed {
        /// To whom.
        who: CharacterId,
        /// What.
        what: Interface,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Opened { who, .. } | Event::Closed { who, .. } => who,
        }
    }
}
