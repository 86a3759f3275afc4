//! What somebody has open with somebody or something: a bank, a shop, a talk, the offer of a quest.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::EntityId;
use crate::tick::Tick;
use crate::tile::Region;

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

/// What an NPC says to somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who says it.
    pub target: EntityId,
    /// Its name.
    pub name: Arc<str>,
    /// Which part of what it has to say this is.
    pub node: Arc<str>,
    /// What.
    pub text: Arc<str>,
    /// What may be answered, each with its number.
    pub answers: Vec<(u8, Arc<str>)>,
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
