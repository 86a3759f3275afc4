//! Messages about prayer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::player::record::PlayerRecord;
use crate::features::training::skill::Skill;
use crate::server_events;

/// `prayer:update`: the prayer points and active prayers of a player.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prayer {
    /// Points left.
    pub points: u32,
    /// Points at most.
    pub max_points: u32,
    /// The ids of the active prayers.
    pub active: Vec<String>,
}

server_events! {
    Prayer => "prayer:update",
}

/// Returns the prayer points and active prayers of a player.
pub fn all(record: &PlayerRecord) -> Prayer {
    let active = record.prayer.active.iter();
    Prayer {
        points: record.prayer.points,
        max_points: record.level(Skill::Prayer),
        active: active.map(ToString::to_string).collect(),
    }
}
