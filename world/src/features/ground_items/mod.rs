//! Ground items: dropping, picking up, and what becomes of things that lie about.
//!
//! Always: nothing lies where nobody stood; every thing has one owner or none, and goes when it is due.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;
use crate::geometry::tile::Region;

/// On the way to something on the ground, to take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pickup {
    /// The number of the input that asked for it.
    pub number: u64,
    /// What.
    pub target: EntityId,
    /// The region to which it belongs.
    pub region: Region,
}

/// A request about ground items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Lay a stack, or some of it, on the ground.
    Drop {
        /// Which slot of the pack.
        slot: u8,
        /// How many; `None`: all of it.
        quantity: Option<u32>,
    },
    /// Go to something on the ground and take all of it.
    Pickup {
        /// What.
        target: EntityId,
    },
}
