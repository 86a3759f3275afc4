//! Using a thing for what it is: food is eaten, bones are buried, lamps are rubbed.
//!
//! Always: the thing is gone when its effect is there.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::features::training::skill::Skill;

/// A request to use an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Use what lies in a slot of the pack for what it is: eat it, bury it, rub it.
    Use {
        /// Which slot.
        slot: u8,
        /// What one wants to learn of a lamp; nothing else asks for it.
        skill: Option<Skill>,
    },
}
