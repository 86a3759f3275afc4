//! Items on the ground.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{CharacterId, EntityId};
use crate::tick::Tick;
use crate::tile::{Region, Tile};

/// A stack that lies on the ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundItem {
    /// `item:<run id>-<number>`, for ever its own.
    pub id: EntityId,
    /// The region to which it belongs for ever: that of whoever dropped it.
    pub region: Region,
    /// Where it lies.
    pub tile: Tile,
    /// Which item.
    pub item: Arc<str>,
    /// At least 1.
    pub quantity: u32,
    /// Who alone may take it before `public_at`; `None`: anybody may.
    pub owner: Option<CharacterId>,
    /// From then on anybody may take it.
    pub public_at: Tick,
    /// From then on it is gone.
    pub expires_at: Tick,
}

/// What became of something on the ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroundChange {
    /// It lies there now, or something about it changed.
    Put(GroundItem),
    /// It lies there no more.
    Gone {
        /// The region to which it belonged.
        region: Region,
    },
}
