//! Friends, and whom one does not want to hear: what is asked, and what is told.
//!
//! Friendship is between characters and mutual. Who is ignored is ignored by an account, with all
//! characters of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{limits::NAME_CHARS_MAX, table::server_events};

/// The longest id, in bytes.
const ID_BYTES_MAX: usize = 64;

/// `friends:request` and `ignore:add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlayerName {
    /// Whose; without regard to case.
    pub name: String,
}

/// `friends:accept` and `friends:decline`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestRef {
    /// A request of the list. Who made it may decline it as well: then it is taken back.
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
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        let length = self.name.trim().chars().count();
        if (1..=NAME_CHARS_MAX).contains(&length) {
            return Ok(());
        }
        Err(format!("name: 1 to {NAME_CHARS_MAX} characters"))
    }
}

impl RequestRef {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("requestId", &self.request_id)
    }
}

impl FriendRef {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        id("friendId", &self.friend_id)
    }
}

impl IgnoredRef {
    /// What is wrong with it, if anything.
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
    /// It cannot be told at the moment.
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
    /// When it came into the world last, ISO 8601; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<String>,
}

/// Somebody wants to be somebody's friend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendRequest {
    /// Of the request.
    pub id: String,
    /// Who asks: the own character, or another.
    pub from_id: String,
    /// Its name.
    pub from_name: String,
    /// Who is asked.
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

/// `friends:list`: all of it; said on entering the world, and when it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendsList {
    /// By name; at most 99.
    pub friends: Vec<Friend>,
    /// Both ways, oldest first.
    pub requests: Vec<FriendRequest>,
    /// By name; at most 99.
    pub ignored: Vec<Ignored>,
}

/// `friends:update`: what changed of the list. The answer to whatever changes it, even if nothing
/// did.
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
    /// Who is not heard any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Ignored>,
    /// Characters that are heard again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_gone: Vec<String>,
}

/// Whether a friend is played now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FriendStatus {
    /// Who.
    pub id: String,
    /// Whether.
    pub status: Status,
}

/// `friends:presence`: friends came, went, or it cannot be told any more.
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
