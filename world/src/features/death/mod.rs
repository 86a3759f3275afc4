//! Death: who dies, what is left in the grave, and who stands up again.
//!
//! Always: one who is dead does nothing and nothing is done to it; a death is one transfer.

pub(crate) mod graves;
pub(crate) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ground_item::GraveShown;
use crate::entity::ids::CharacterId;
use crate::geometry::tile::Tile;
use crate::time::Tick;

/// A request of one who is dead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Stand up again; one who is dead does so in its time, asked or not.
    Respawn,
}

/// A fact about a death that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// What is in one's grave now. Of value: to be held back until that is saved.
    Grave {
        /// Whose it is.
        who: CharacterId,
        /// What is seen.
        grave: GraveShown,
    },
    /// It has no health left.
    Died {
        /// Who.
        who: CharacterId,
        /// The name of its killer; none for what has no name.
        killer: Option<Arc<str>>,
        /// Where.
        tile: Tile,
        /// When it stands up again.
        until: Tick,
    },
    /// It has stood up again and is well.
    Respawned {
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
            Event::Grave { who, .. } | Event::Died { who, .. } | Event::Respawned { who, .. } => {
                who
            }
        }
    }
}
