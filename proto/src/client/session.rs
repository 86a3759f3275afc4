//! Connecting, authenticating, resuming, entering and leaving the world.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;

pub use world::told::Notice;

use super::{look::Look, table::server_events};

/// `authenticate`: by a token of ours, or anonymously by a device key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Authenticate {
    /// An access token of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The key of an anonymous account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_key: Option<String>,
}

/// `session:resume`: goes on where a lost connection ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resume {
    /// The last one that the server sent: in `session:welcome`, `session:resumed`,
    /// `world:entered` or `world:left`.
    pub resume_token: String,
    /// The last `seq` that the client has.
    pub last_seq: u64,
}

/// `ping`: answered by `pong` with the same `t`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ping {
    /// Any finite number of the client's.
    #[serde(default, deserialize_with = "exact")]
    pub t: f64,
}

/// Reads a number to its last bit, because the client may compare it with the one in the answer.
fn exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let number: Option<f64> = raw.get().parse().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| D::Error::custom("t: expected a finite number"))
}

/// `character:create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CharacterCreate {
    /// 2 to 20 letters, digits, spaces, `-` and `_`, of which two are letters or digits. All
    /// letters are of one script. Nothing in it is invisible, no name of staff, and nothing looks
    /// like another character's name. The server keeps it in Unicode's form NFKC, trimmed, with
    /// single spaces.
    pub name: String,
    /// How it looks; without one, its name decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
}

/// `character:delete` and `world:enter`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CharacterRef {
    /// One of the account's characters.
    pub character_id: String,
}

/// Wire name of the request to leave the world, which the gateway passes on to the zone.
pub const WORLD_LEAVE: &str = "world:leave";

/// An event without data; any object is refused that has fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// `session:hello`: the first message on every connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The protocol's version.
    pub protocol: u32,
    /// Between two heartbeats.
    pub heartbeat_ms: u64,
    /// Time to authenticate.
    pub auth_timeout_ms: u64,
    /// One may play without an account.
    pub anonymous: bool,
}

/// Authenticated account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Known by a device key only.
    pub anonymous: bool,
}

/// A character as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Character {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// 3 to 126.
    pub combat_level: u32,
    /// Its look; absent: its player chose none, and its name decides.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub look: String,
    /// ISO 8601; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_login_at: Option<String>,
}

/// `session:welcome`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// This connection's session.
    pub session_id: String,
    /// Resumes the session. It is absent if the session only looks on, because nobody can or needs
    /// to resume such a session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resume_token: String,
    /// An access token of ours.
    pub auth_token: String,
    /// When that ends, ISO 8601.
    pub expires_at: String,
    /// Authenticated account.
    pub account: Account,
    /// When the server made one: keep it, it is the anonymous account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_key: Option<String>,
    /// The account's characters.
    pub characters: Vec<Character>,
}

/// `session:resumed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// Session that goes on.
    pub session_id: String,
    /// Messages that follow from before.
    pub replayed: u64,
    /// Nothing is replayed: `seq` starts at 1 and everything is sent anew. Requests without an
    /// answer have an unknown outcome, also those that are not named: another gateway than the
    /// one that took them cannot name them.
    pub resync: bool,
    /// Resumes it from now on; absent: the one that was used does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_token: Option<String>,
    /// Character that the session plays; absent: it is not in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character_id: Option<String>,
    /// WebSocket address of the gateway that shows this area to most players. A client may resume
    /// its session there at once; absent: this gateway is as good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

/// `session:invalid`: authenticate anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invalid {
    /// For people.
    pub reason: String,
}

/// `session:draining`: this gateway goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Draining {
    /// Reconnect and resume within this time.
    pub after_ms: u64,
}

/// `pong`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pong {
    /// The client's number.
    pub t: f64,
    /// ISO 8601.
    pub server_time: String,
    /// The last tick that the gateway has.
    pub tick: u64,
}

/// `character:list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CharacterList {
    /// All of the account's.
    pub characters: Vec<Character>,
}

/// `character:created`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CharacterCreated {
    /// The new one.
    pub character: Character,
}

/// `world:entered`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorldEntered {
    /// Character that entered the world.
    pub character_id: String,
    /// Its entity, which has the same id.
    pub entity_id: String,
    /// The tick at which it stands there.
    pub tick: u64,
    /// Region of the character's tile.
    pub region: [i32; 2],
    /// The run that plays it.
    pub zone: String,
    /// Resumes the session from now on, at any gateway; an earlier one does not name the character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_token: Option<String>,
    /// WebSocket address of the gateway that shows this area to most players. A client may resume
    /// its session there at once; absent: this gateway is as good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

/// `world:left`: out of the world, durably.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorldLeft {
    /// Character that left the world.
    pub character_id: String,
    /// Resumes the session from now on; an earlier one names the character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_token: Option<String>,
}

/// `ack`: done as asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {}

server_events! {
    Hello => "session:hello",
    Welcome => "session:welcome",
    Resumed => "session:resumed",
    Invalid => "session:invalid",
    Draining => "session:draining",
    Pong => "pong",
    CharacterList => "character:list",
    CharacterCreated => "character:created",
    WorldEntered => "world:entered",
    WorldLeft => "world:left",
    Ack => "ack",
}
