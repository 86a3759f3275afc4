//! Movement: walking and running, following, run energy, and crossing the borders of regions.
//!
//! Always: a player stands on a walkable tile and goes by free steps only; a held player stays.

pub(crate) mod agility;
pub mod border;
pub(crate) mod energy;
pub mod follow;
pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::geometry::tile::Tile;

/// A request to move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to a tile, or as near as there is a way.
    Walk {
        /// Goal of the walk.
        to: Tile,
        /// Run or walk from now on; `None`: no change.
        run: Option<bool>,
    },
    /// Run (`true`) or walk (`false`) from now on.
    Run(bool),
    /// Stand still.
    Stop,
    /// Go where another player goes.
    Follow {
        /// Player to follow.
        target: EntityId,
    },
    /// Put a player somewhere else, at once and however far, for an operator.
    Teleport {
        /// Goal, or as near to it as one can stand.
        to: Tile,
    },
}

/// A notification about movement to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player stands somewhere else all at once.
    Teleported {
        /// Player that moved.
        who: CharacterId,
        /// Tile on which it stands now.
        tile: Tile,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Teleported { who, .. } => who,
        }
    }
}
