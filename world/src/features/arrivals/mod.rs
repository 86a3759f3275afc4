//! Arrivals: who comes into the world at a tick's edge, and what a new character begins with.

pub(crate) mod aliases;
pub(crate) mod starter;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::entity::player::record::{PlayerHot, PlayerRecord};
use crate::geometry::tile::Region;
use crate::refusal::Refusal;

/// Somebody who comes into the world at a tick's edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Who, as saved.
    pub record: PlayerRecord,
    /// What it was doing; the default for one who comes from rest.
    pub hot: PlayerHot,
    /// The region that it belongs to.
    pub region: Region,
}

/// A fact about an arrival that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player came into the world.
    Joined {
        /// Who.
        who: CharacterId,
    },
    /// A player could not come in.
    TurnedAway {
        /// Who.
        who: CharacterId,
        /// `NotFound`: the region is not played here. `Busy`: the player is here already.
        refusal: Refusal,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Joined { who, .. } | Event::TurnedAway { who, .. } => who,
        }
    }
}
