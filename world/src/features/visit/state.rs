//! State of a player that goes to an interface, or has one open.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;
use crate::geometry::tile::Region;
use crate::time::Tick;

/// Tiles from any tile of the host within which an interface opens, and stays open.
pub(crate) const REACH_TILES: u32 = 2;

/// An interface that can be open. A player has one open at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interface {
    /// The own bank.
    Bank,
    /// The shop of the NPC with which it is open.
    Shop,
    /// A talk.
    Dialogue {
        /// Node that the NPC says now; empty on the way to it.
        node: Arc<str>,
    },
    /// The offer of a quest.
    Offer {
        /// Id of the quest.
        quest: Arc<str>,
    },
    /// An altar: one prays there, and nothing stays open.
    Altar,
}

/// A player's way to something that it wants to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// Number of the input that asked for it.
    pub number: u64,
    /// NPC or object that the player visits.
    pub target: EntityId,
    /// Region to which the target belongs.
    pub region: Region,
    /// Interface to open there.
    pub what: Interface,
}

/// An open interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The interface.
    pub what: Interface,
    /// NPC or object that has the interface.
    pub with: EntityId,
    /// Region to which that host belongs.
    pub region: Region,
    /// Tick since which it is open.
    pub since: Tick,
}
