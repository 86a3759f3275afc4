//! Friends, and players whose messages one does not want: the requests and the answers.
//!
//! Friendship is between characters and mutual. An ignored player is ignored by the whole account,
//! for all its characters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{limits::NAME_CHARS_MAX, table::server_events};

/// The longest id, in bytes.
const ID_BYTES_MAX: usize = 64;

/// `friends:request` and `ignore:add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlayerName {
    /// Name of a player, without regard to case.
    pub name: String,
}

/// `friends:accept` and `friends:decline`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestRef {
    /// A request of the list. The one who made it may decline it too, and takes it back by that.
    pub request_id: String,
}

/// `friends:remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FriendRef {
    /// A friend's character.
    pub friend_id: String,
}

/// `ignore:remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoredRef {
    /// The character that was named when it was added.
    pub ignored_id: String,
}

fn id(name: &str, id: &str) -> Result<(), String> {
    if (1..=ID_BYTES_MAX).contains(&id.len()) {
        return Ok(());
    }
    Err(format!("{name}: 1 to {ID_BYTES_MAX} bytes"))
}

impl PlayerName {
    /// Checks the length of the name. The error names the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        let length = self.name.trim().chars().count();
        if (1..=NAME_CHARS_MAX).contains(&length) {
            return Ok(());
        }
        Err(format!("name: 1 to {NAME_CHARS_MAX} characters"))
    }
}

impl RequestRef {
    /// Checks the length of the id. The error names the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("requestId", &self.request_id)
    }
}

impl FriendRef {
    /// Checks the length of the id. The error names the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("friendId", &self.friend_id)
    }
}

impl IgnoredRef {
    /// Checks the length of the id. The error names the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("ignoredId", &self.ignored_id)
    }
}

/// Whether somebody plays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// In the world.
    Online,
    /// Not in the world.
    Offline,
    /// Not known at the moment.
    #[default]
    Unknown,
}

/// A friend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Friend {
    /// The character.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether it is played.
    pub status: Status,
    /// Its combat level when it was saved last.
    pub level: u32,
    /// Time at which it last came into the world, ISO 8601; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<String>,
}

/// Somebody wants to be somebody's friend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendRequest {
    /// Of the request.
    pub id: String,
    /// Character that asks: one's own, or another.
    pub from_id: String,
    /// Its name.
    pub from_name: String,
    /// Character that is asked.
    pub to_id: String,
    /// Its name.
    pub to_name: String,
    /// When, ISO 8601. It is void after 7 days.
    pub at: String,
}

/// Somebody who is not heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ignored {
    /// The character that was named.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Since when, ISO 8601.
    pub added_at: String,
}

/// `friends:list`: the whole list. The server sends it when the player enters the world, and on
/// request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendsList {
    /// By name; at most 99.
    pub friends: Vec<Friend>,
    /// Requests of both directions, oldest first.
    pub requests: Vec<FriendRequest>,
    /// By name; at most 99.
    pub ignored: Vec<Ignored>,
}

/// `friends:update`: the changes of the list. It answers every request that could change the list,
/// even if nothing changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendsUpdate {
    /// New friends, and such of whom something is different.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub friends: Vec<Friend>,
    /// Characters that are friends no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub friends_gone: Vec<String>,
    /// New requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<FriendRequest>,
    /// Requests that are settled or void.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests_gone: Vec<String>,
    /// Characters that are ignored from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Ignored>,
    /// Characters that are not ignored any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_gone: Vec<String>,
}

/// Whether a friend is played now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendStatus {
    /// Character of the friend.
    pub id: String,
    /// Whether.
    pub status: Status,
}

/// `friends:presence`: friends came, went, or became unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendsPresence {
    /// Each at most once.
    pub friends: Vec<FriendStatus>,
}

server_events! {
    FriendsList => "friends:list",
    FriendsUpdate => "friends:update",
    FriendsPresence => "friends:presence",
}
