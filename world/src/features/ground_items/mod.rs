//! Ground items: dropping, picking up, and expiry.
//!
//! Always: nothing lies where nobody stood; every thing has one owner or none, and goes when it is
//! due.

pub(crate) mod rules;
pub(crate) mod tick;

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

/// Request about ground items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Lays a stack, or some of it, on the ground.
    Drop {
        /// Slot of the pack.
        slot: u8,
        /// Number of things; `None`: all of the stack.
        quantity: Option<u32>,
    },
    /// Goes to something on the ground and takes all of it.
    Pickup {
        /// Thing on the ground.
        target: EntityId,
    },
}
