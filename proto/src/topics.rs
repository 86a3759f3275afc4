//! Channels and keys of the bus (Redis, or the in-process bus of the local launcher), and the
//! envelopes that travel on them as JSON.

use serde::{Deserialize, Serialize};

/// Chat that everybody hears, where the world is one shard of it.
pub const GLOBAL_CHAT: &str = "chat:global";

/// Returns the channel of global chat in one shard of the world.
pub fn global_chat(shard: &str) -> String {
    format!("{GLOBAL_CHAT}:{shard}")
}

/// Signs of life of all gateways; a [`Beat`].
pub const BEATS: &str = "beats";

/// Returns the key that keeps a character from global chat while slow mode lets it wait.
pub fn slow_mode(character_id: &str) -> String {
    format!("slow:{character_id}")
}

/// Announcements of operators to everybody; a `Notice`.
pub const NOTICES: &str = "notices";

/// Returns the channel of chat spoken in one region.
pub fn region_chat(x: i32, z: i32) -> String {
    format!("chat:region:{x}:{z}")
}

/// Returns the channel of messages to the sessions of one gateway.
pub fn gateway(gateway_id: &str) -> String {
    format!("gateway:{gateway_id}")
}

/// News of friends and ignored players, for all gateways; a [`SocialEnvelope`].
pub const SOCIAL: &str = "social";

/// Returns the channel of news in one of `shards` parts; the only one is [`SOCIAL`].
pub fn social(shard: u32, shards: u32) -> String {
    if shards <= 1 {
        return SOCIAL.to_owned();
    }
    format!("{SOCIAL}:{shard}")
}

/// Returns the key of a character's place: the value is a [`Presence`], with a time to live.
pub fn presence(character_id: &str) -> String {
    format!("presence:{character_id}")
}

/// Returns the key of a name's present bearer: the value is the character id, with a time to live.
pub fn presence_name(name: &str) -> String {
    format!("presence:name:{}", crate::client::names::folded(name))
}

/// Session that plays a character, and its gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    /// The gateway that holds the socket.
    pub gateway_id: String,
    /// The session on it.
    pub session_id: String,
    /// The character's account, against which ignores are checked.
    pub account_id: String,
    /// The login's epoch; 0 from gateways that do not tell it.
    #[serde(default)]
    pub session_epoch: u64,
}

/// Sign of life of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Beat {
    /// The gateway.
    pub gateway_id: String,
    /// Address at which clients reach this gateway and no other; absent: it wants no players of
    /// others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Number of its players; 0 from gateways that do not tell it.
    #[serde(default)]
    pub players: u64,
    /// Mean work of showing a tick to all its sessions, in microseconds; 0 from gateways that do not
    /// tell it, and before the first.
    #[serde(default)]
    pub flush_us: u32,
    /// Seconds since it began; absent from gateways that do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uptime_s: Option<u64>,
}

/// A character that came into the world or left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PresenceChange {
    /// Whether it came.
    pub online: bool,
    /// The gateway that plays it, or played it.
    pub gateway_id: String,
    /// The login's epoch, which grows with each.
    pub session_epoch: u64,
}

/// One message on a chat channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatEnvelope {
    /// Unique; a receiver that sees it again drops it.
    pub id: String,
    /// `local` or `global`.
    pub channel: String,
    /// The speaker's name.
    pub from: String,
    /// The speaker's character id.
    pub from_id: String,
    /// The speaker's account id.
    pub from_account: String,
    /// Text of the message.
    pub message: String,
    /// ISO 8601.
    pub at: String,
    /// Tile of the speaker, for local chat.
    pub tile: Option<[i32; 2]>,
}

/// Message of one gateway to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum GatewayEnvelope {
    /// A private message for a session there.
    Private {
        /// The receiver.
        to_character: String,
        /// Channel for the acknowledgement.
        reply_to: String,
        /// The message.
        chat: ChatEnvelope,
    },
    /// A private message reached the receiver's socket.
    Delivered {
        /// Id of the message.
        id: String,
    },
    /// A private message cannot be delivered there.
    NotDelivered {
        /// Id of the message.
        id: String,
    },
    /// A newer session plays the character elsewhere.
    Replaced {
        /// The character.
        character_id: String,
        /// The newer session's epoch.
        session_epoch: u64,
    },
    /// A session goes on at another gateway.
    Resumed {
        /// The session.
        session_id: String,
        /// The number of its attach there; the message does not concern a session with a higher
        /// one.
        attach: u64,
    },
}

/// Message about friends to all gateways. It tells who came and went. Of lists it only names the
/// one to read again, because the store keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum SocialEnvelope {
    /// A character came into the world, or left it.
    Presence {
        /// The character.
        character_id: String,
        /// The change; without it, the bus knows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<PresenceChange>,
    },
    /// The lists of a character are different.
    Friends {
        /// Character whose lists changed.
        character_id: String,
    },
    /// An account ignores others than before.
    Ignored {
        /// The account.
        account_id: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gateways_of_before_are_understood() {
        let news = r#"{"kind":"presence","characterId":"c"}"#;
        let change = None;
        let character_id = "c".to_owned();
        let expected = SocialEnvelope::Presence {
            character_id,
            change,
        };
        assert_eq!(
            serde_json::from_str::<SocialEnvelope>(news).unwrap(),
            expected
        );
        assert_eq!(serde_json::to_string(&expected).unwrap(), news);
        let beat: Beat = serde_json::from_str(r#"{"gatewayId":"g"}"#).unwrap();
        assert_eq!((beat.address, beat.players), (None, 0));
        assert_eq!((beat.flush_us, beat.uptime_s), (0, None));
        let place = r#"{"gatewayId":"g","sessionId":"s","accountId":"a"}"#;
        assert_eq!(
            serde_json::from_str::<Presence>(place)
                .unwrap()
                .session_epoch,
            0
        );
    }

    #[test]
    fn news_have_one_channel_or_one_for_each_part() {
        assert_eq!(social(0, 1), SOCIAL);
        assert_eq!(social(3, 16), "social:3");
    }
}
