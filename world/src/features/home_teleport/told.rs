//! Messages about going home.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Homeward;
use crate::server_events;

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

/// Returns the progress of a player in going home.
pub(crate) fn progress(homeward: &Homeward) -> HomeUpdate {
    HomeUpdate {
        arrives_tick: homeward.done_at.map(|at| at.0),
        ready_tick: homeward.ready_at.0,
    }
}
