//! State of a player that goes to something on the ground.

use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;
use crate::geometry::tile::Region;

/// A player's way to something on the ground, to take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pickup {
    /// Number of the input that asked for it.
    pub number: u64,
    /// Thing on the ground.
    pub target: EntityId,
    /// Region of the thing.
    pub region: Region,
}
