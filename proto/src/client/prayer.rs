//! Prayers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{combat::named, table::server_events};

/// `prayer:toggle`: turns a prayer on, or off if it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PrayerToggle {
    /// Its id.
    pub prayer: String,
}

impl PrayerToggle {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        named("prayer", &self.prayer)
    }
}

/// `prayer:update`: what a player has of prayer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prayer {
    /// Points left.
    pub points: u32,
    /// Points at most.
    pub max_points: u32,
    /// The ids of the prayers that are on.
    pub active: Vec<String>,
}

server_events! {
    Prayer => "prayer:update",
}
