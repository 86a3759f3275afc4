//! Walking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `player:move`: walk to a tile, stop, or only switch running on or off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlayerMove {
    /// Where to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Run from now on, or walk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<bool>,
    /// Stand still. Not together with a target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// A tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// East.
    pub x: i32,
    /// North.
    pub z: i32,
}

impl PlayerMove {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.stop && self.target.is_some() {
            return Err("stop and target exclude each other".to_owned());
        }
        if !self.stop && self.target.is_none() && self.run.is_none() {
            return Err("one of target, run and stop is needed".to_owned());
        }
        let max = super::limits::COORDINATE_MAX;
        match self.target {
            Some(t) if t.x.abs() > max || t.z.abs() > max => {
                Err(format!("target: coordinates go from -{max} to {max}"))
            }
            _ => Ok(()),
        }
    }
}
