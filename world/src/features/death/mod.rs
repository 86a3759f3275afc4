//! Death: deaths, the contents of graves, and respawns.
//!
//! Always: the dead do nothing, and nobody does anything to them; a death is one transfer.

pub(crate) mod graves;
mod rules;
pub(crate) mod tick;
pub mod told;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::geometry::tile::Tile;
use crate::time::Tick;
use crate::told::{Message, Position, Recipient};

use told::{GraveUpdate, PlayerDied, PlayerRespawned};

/// A request of a dead player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Stand up again; a dead player does so in its time, asked or not.
    Respawn,
}

/// A notification about a death to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The contents of the player's grave now. Of value: the zone holds it back until the store has
    /// saved that.
    Grave(CharacterId, GraveUpdate),
    /// The player has no health left.
    Died {
        /// Player that died.
        who: CharacterId,
        /// Name of its killer; `None`: the killer has no name.
        killer: Option<Arc<str>>,
        /// Tile of the death.
        tile: Tile,
        /// Tick at which it stands up again.
        until: Tick,
    },
    /// The player has stood up again and is well.
    Respawned {
        /// Player that stood up.
        who: CharacterId,
        /// Tile on which it stands.
        tile: Tile,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Grave(who, _) | Event::Died { who, .. } | Event::Respawned { who, .. } => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        let record = to.record?;
        Some(match self {
            Event::Grave(_, told) => Message::of_value(told),
            Event::Died {
                killer,
                tile,
                until,
                ..
            } => Message::now(&PlayerDied {
                killed_by: killer.clone(),
                position: Position::of(record, *tile),
                respawn_tick: until.0,
            }),
            Event::Respawned { tile, .. } => Message::now(&PlayerRespawned {
                position: Position::of(record, *tile),
            }),
        })
    }
}
