//! Coins, between the pouch and a stack in the pack.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// `coins:update`: what is in the pouch now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoinsUpdate {
    /// All of it.
    pub coins: u64,
}

server_events! {
    CoinsUpdate => "coins:update",
}
