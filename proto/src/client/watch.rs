//! Looking on without playing, with a spectator's token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// The longest id, in bytes.
const ID_BYTES_MAX: usize = 64;

/// `world:watch`: looks at one of the account's characters and follows it, or at an area in which
/// players cannot attack each other. One of both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorldWatch {
    /// One of the account's characters, also while it is not in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character_id: Option<String>,
    /// The id of an area, as `GET /api/v1/world/areas` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<String>,
}

impl WorldWatch {
    /// Checks that it names one of both, and the length of the id. The error names the rule.
    pub(crate) fn check(&self) -> Result<(), String> {
        let id = match (&self.character_id, &self.area) {
            (Some(id), None) | (None, Some(id)) => id,
            _ => return Err("one of characterId and area".to_owned()),
        };
        if (1..=ID_BYTES_MAX).contains(&id.len()) {
            return Ok(());
        }
        Err(format!("characterId, area: 1 to {ID_BYTES_MAX} bytes"))
    }
}

/// `world:watching`: the thing in view; `world:update` shows its surroundings, as it does to
/// players. It comes again when a character that the session follows enters or leaves the world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorldWatching {
    /// Character that the session follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character_id: Option<String>,
    /// Whether the character is in the world; else the place is shown where it was last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<bool>,
    /// Area whose middle the session looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<String>,
    /// East, in tiles.
    pub x: i32,
    /// North, in tiles.
    pub z: i32,
}

server_events! {
    WorldWatching => "world:watching",
}
