//! Equipment: wearing things and taking them off.
//!
//! Always: nobody puts on a thing without the levels that it takes.

mod rules;
pub(crate) mod tick;
pub mod told;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::entity::ids::CharacterId;
use crate::features::trade::Screen;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

pub(crate) use rules::{is_seen, may_use};

/// Request to wear something, or to take it off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Wears the item in a slot of the pack.
    #[serde(rename = "inventory:equip")]
    Equip {
        /// Slot of the pack, 0 to 27.
        slot: u8,
    },
    /// Takes off a worn item.
    #[serde(rename = "equipment:remove")]
    Unequip {
        /// Equipment slot.
        #[serde(rename = "slot")]
        place: EquipSlot,
    },
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::Equip { slot } => wire::slot("slot", *slot)?,
            Intent::Unequip { .. } => {}
        }
        Ok(self)
    }
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

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        let record = to.record?;
        Some(match self {
            Event::Changed { slots, .. } => {
                Message::of_value(&told::update(&record.equipment, slots))
            }
        })
    }
}
