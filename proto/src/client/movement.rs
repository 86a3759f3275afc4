//! Walking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

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

/// `home:update`: the own character has begun to go home by magic, does so no more, or may not do
/// so again for a while.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HomeUpdate {
    /// The tick at which it is to be at home; absent: it does not go there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrives_tick: Option<u64>,
    /// The tick from which it may go home again.
    pub ready_tick: u64,
}

server_events! {
    HomeUpdate => "home:update",
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
