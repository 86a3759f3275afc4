//! Messages of a talk.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::server_events;

/// Something that one may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogueResponse {
    /// Number of the answer. There may be gaps: the server hides answers that do not fit now.
    pub index: u8,
    /// Text of the answer.
    pub text: Arc<str>,
}

/// `dialogue:node`: the present node of a talk, or its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogueNode {
    /// False: the talk is over, and the rest says nothing.
    pub open: bool,
    /// The entity that speaks.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub target: Arc<str>,
    /// Its name.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub name: Arc<str>,
    /// Part of the talk.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub node: Arc<str>,
    /// Words of the speaker. Text, never markup.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Arc<str>,
    /// Possible answers. If there are none, `dialogue:continue` ends the talk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<DialogueResponse>,
}

server_events! {
    DialogueNode => "dialogue:node",
}
