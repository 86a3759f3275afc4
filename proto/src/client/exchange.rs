//! Refusals of requests about trades and duels. `world` defines all other messages about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::ErrorCode, table::server_events};

/// `tradeError`: a refusal of a request about a trade; the request changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TradeError {
    /// One of those in capitals.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The trade that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trade_id: Option<String>,
}

/// `duelError`: a refusal of a request about a duel; the request changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelError {
    /// One of those in capitals.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The duel that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duel_id: Option<String>,
}

server_events! {
    TradeError => "tradeError",
    DuelError => "duelError",
}
