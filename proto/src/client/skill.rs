//! Skills: what is told of experience.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// `skill:xp`: experience was gained, or (with nothing gained) what there is of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillGain {
    /// Its name, lower case.
    pub skill: String,
    /// How much was gained; in tenths at the finest, and so below.
    pub gained: f64,
    /// How much there is now.
    pub xp: f64,
    /// 1 to 99.
    pub level: u32,
    /// It made a new level; only said when it did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leveled_up: bool,
}

server_events! {
    SkillGain => "skill:xp",
}
