//! All that a player may ask of the world, and who comes into it.

use serde::{Deserialize, Serialize};

use crate::ids::{CharacterId, EntityId};
use crate::record::{PlayerHot, PlayerRecord};
use crate::tile::{Region, Tile};

/// What a player asks.
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
    /// Take a good look at something.
    Examine {
        /// At what.
        target: EntityId,
    },
}

/// One intent of one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInput {
    /// Whose.
    pub who: CharacterId,
    /// Grows from one input of a player to the next; echoed in the answer.
    pub number: u64,
    /// What is asked.
    pub intent: Intent,
}

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
