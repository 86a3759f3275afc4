//! Using an item for its own effect: a player eats food, buries bones and rubs lamps.
//!
//! Always: when the effect is there, the item is gone.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::features::training::skill::Skill;

/// Request to use an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Uses the item in a slot of the pack for its own effect: eats, buries or rubs it.
    Use {
        /// Slot of the pack.
        slot: u8,
        /// Skill to learn from a lamp; nothing else needs it.
        skill: Option<Skill>,
    },
}
