//! Prayer state: a player's points, and its active prayers.
//!
//! Always: points never exceed the level in prayer; without points no prayer is active.

mod rules;
pub(crate) mod state;
pub(crate) mod tick;
pub mod told;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::duel::Conduct;
use crate::features::trade::Screen;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

pub use state::*;

/// Request to pray.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Turns a prayer on, or an active one off.
    #[serde(rename = "prayer:toggle")]
    Toggle {
        /// Prayer to turn on or off.
        prayer: Arc<str>,
    },
    /// Goes to an altar and prays there, for new points.
    #[schemars(skip)]
    PrayAt {
        /// Altar.
        target: EntityId,
    },
}

impl Intent {
    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::Toggle { .. } => Conduct::Pray,
            Intent::PrayAt { .. } => Conduct::Other,
        }
    }
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::Toggle { prayer } => wire::id("prayer", prayer)?,
            Intent::PrayAt { .. } => {}
        }
        Ok(self)
    }
}

/// Fact about prayer that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player's prayer points, or the prayers that are on, have changed.
    Changed {
        /// Player whose prayer state changed.
        who: CharacterId,
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
        match self {
            Event::Changed { .. } => Some(Message::now(&told::all(to.record?))),
        }
    }
}
