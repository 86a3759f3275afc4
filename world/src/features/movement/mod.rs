//! Movement: walking and running, following, run energy, and crossing the borders of regions.
//!
//! Always: a player stands on a walkable tile and goes by free steps only; one who is held stays.

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
        /// Where to.
        to: Tile,
        /// Run or walk from now on; `None`: as before.
        run: Option<bool>,
    },
    /// Run (`true`) or walk (`false`) from now on.
    Run(bool),
    /// Stand still.
    Stop,
    /// Go where another player goes.
    Follow {
        /// Who.
        target: EntityId,
    },
    /// An operator puts one somewhere else, at once and however far.
    Teleport {
        /// Where to, or as near as one can stand.
        to: Tile,
    },
}

/// A fact about movement that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player stands somewhere else all at once.
    Teleported {
        /// Who.
        who: CharacterId,
        /// Where.
        tile: Tile,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Teleported { who, .. } => who,
        }
    }
}
