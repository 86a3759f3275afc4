//! Work: what is told of gathering and making.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::ErrorCode, table::server_events};

/// `activity:update`: the own character has begun to work, or has stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityUpdate {
    /// It is at work.
    pub active: bool,
    /// At work: gather, cook, smelt … as one asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// At work: what it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// At work: which recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Stopped: why; none: all is done, or the player does something else now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// Stopped: why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

server_events! {
    ActivityUpdate => "activity:update",
}
