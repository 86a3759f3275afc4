//! Talking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{limits::CHAT_CHARS_MAX, table::server_events};

/// Hearers of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Channel {
    /// Everybody within 32 tiles.
    #[default]
    Local,
    /// Everybody; where global chat has shards, everybody of the same language or area. It has a
    /// budget for the world (`global_chat_full`) and perhaps slow mode (`slow_mode`).
    Global,
    /// One player, by name.
    Private,
}

/// `player:chat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlayerChat {
    /// 1 to 200 characters.
    pub message: String,
    /// Local, if not given.
    #[serde(default)]
    pub channel: Channel,
    /// The receiver's name, for private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl PlayerChat {
    /// Checks the length, the characters and the receiver. The error names the fault.
    pub(crate) fn check(&self) -> Result<(), String> {
        let length = self.message.trim().chars().count();
        if length == 0 || self.message.chars().count() > CHAT_CHARS_MAX {
            return Err(format!("message: 1 to {CHAT_CHARS_MAX} characters"));
        }
        if self.message.chars().any(char::is_control) {
            return Err("message: no control characters".to_owned());
        }
        match (self.channel, &self.to) {
            (Channel::Private, None) => Err("to: a private message needs a name".to_owned()),
            (Channel::Local | Channel::Global, Some(_)) => {
                Err("to: only private messages have a receiver".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// `chat:message`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    /// Unique.
    pub id: String,
    /// Hearers of the message.
    pub channel: Channel,
    /// The speaker's name.
    pub from: String,
    /// The speaker's character id.
    pub from_id: String,
    /// Text of the message, never markup.
    pub message: String,
    /// ISO 8601.
    pub at: String,
    /// The speaker's entity, where it may be in sight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<String>,
}

server_events! {
    ChatMessage => "chat:message",
}
