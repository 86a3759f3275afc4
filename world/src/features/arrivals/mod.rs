//! Arrivals: characters that come into the world at a tick's edge, and the starter things of new
//! ones.

pub(crate) mod aliases;
mod regain;
pub(crate) mod starter;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::entity::player::record::{PlayerHot, PlayerRecord};
use crate::geometry::tile::Region;
use crate::refusal::Refusal;
use crate::told::{Message, Recipient};

/// Character that comes into the world at a tick's edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Character, as saved.
    pub record: PlayerRecord,
    /// Its activity when it left; the default for one that comes from rest.
    pub hot: PlayerHot,
    /// Region of the arrival.
    pub region: Region,
    /// How it looks, as its player chose; empty: not chosen.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub look: Arc<str>,
}

/// Fact about an arrival that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player came into the world.
    Joined {
        /// Player that came.
        who: CharacterId,
    },
    /// A player could not come in.
    TurnedAway {
        /// Player that could not come.
        who: CharacterId,
        /// `NotFound`: this process does not play the region. `Busy`: the player is here already.
        refusal: Refusal,
    },
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Joined { who, .. } | Event::TurnedAway { who, .. } => who,
        }
    }

    /// Returns no message: the driver of the world knows what this means.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        None
    }
}
