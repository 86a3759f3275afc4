//! What a player has of prayer: points, and the prayers that are on.
//!
//! Always: no more points than the level in prayer; without points nothing is on.

pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};

/// Points and prayers; saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrayerState {
    /// Points left.
    pub points: u32,
    /// The prayers that are on, by id; five at most.
    pub active: BTreeSet<Arc<str>>,
}

/// A request to pray.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Turn a prayer on, or off if it is.
    Toggle {
        /// Which.
        prayer: Arc<str>,
    },
    /// Go to an altar and pray there, for new points.
    PrayAt {
        /// Which.
        target: EntityId,
    },
}

/// A fact about prayer that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Its prayer points, or the prayers that are on, have changed.
    Changed {
        /// Whose.
        who: CharacterId,
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
