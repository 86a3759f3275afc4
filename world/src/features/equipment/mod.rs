//! Equipment: wearing things and taking them off.
//!
//! Always: nobody puts on a thing without the levels that it takes.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::entity::ids::CharacterId;

/// Request to wear something, or to take it off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Wears the item in a slot of the pack.
    Equip {
        /// Slot of the pack.
        slot: u8,
    },
    /// Takes off a worn item.
    Unequip {
        /// Equipment slot.
        place: EquipSlot,
    },
}

/// Fact about worn equipment that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Worn equipment changed. Of value: the zone holds it back until the store has saved it.
    Changed {
        /// Wearer.
        who: CharacterId,
        /// Equipment slots that changed, in order.
        slots: Vec<EquipSlot>,
    },
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Changed { who, .. } => who,
        }
    }
}
