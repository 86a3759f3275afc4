//! Ground items: dropping, picking up, and expiry.
//!
//! Always: nothing lies where nobody stood; every thing has one owner or none, and goes when it is
//! due.

mod rules;
pub(crate) mod state;
pub(crate) mod tick;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;
use crate::features::duel::Conduct;
use crate::features::trade::Screen;
use crate::wire::{self, BadRequest};

pub use state::*;

/// Request about ground items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Lays a stack, or some of it, on the ground.
    #[serde(rename = "inventory:drop")]
    Drop {
        /// Slot of the pack, 0 to 27.
        slot: u8,
        /// Number of things, 1 to 2147483647; all of the stack, if absent.
        quantity: Option<u32>,
    },
    /// Goes to something on the ground and takes all of it.
    #[schemars(skip)]
    Pickup {
        /// Thing on the ground.
        target: EntityId,
    },
}

impl Intent {
    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::Pickup { .. } => Conduct::PickUp,
            Intent::Drop { .. } => Conduct::Other,
        }
    }
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::Drop { slot, quantity } => {
                wire::slot("slot", *slot)?;
                quantity.map_or(Ok(()), |many| wire::quantity("quantity", many))?;
            }
            Intent::Pickup { .. } => {}
        }
        Ok(self)
    }
}
