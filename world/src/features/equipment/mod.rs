//! Equipment: wearing things and taking them off.
//!
//! Always: nobody wears what it has not the levels for at the moment of putting it on.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::entity::ids::CharacterId;

/// A request to wear something, or to take it off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Wear what lies in a slot of the pack.
    Equip {
        /// Which slot.
        slot: u8,
    },
    /// Take off what is worn.
    Unequip {
        /// Where.
        place: EquipSlot,
    },
}

/// A fact about worn equipment that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something else is worn. Of value: to be held back until that is saved.
    Changed {
        /// Whose.
        who: CharacterId,
        /// Where, in order.
        slots: Vec<EquipSlot>,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Changed { who, .. } => who,
        }
    }
}
