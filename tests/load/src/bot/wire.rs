//! The envelope as a client sees it: requests out, messages in. Strict: a message that does not fit
//! the protocol's types is an error, never a guess.

use anyhow::{Context, Result};
use proto::client::{
    Format, RequestId, chat::ChatMessage, error::Error, exchange::TradeError, friends, session,
    sync, update::WorldUpdate,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned, de::IgnoredAny};
use world::death::told::{PlayerDied, PlayerRespawned};
use world::movement::told::Teleport;
use world::pack::told::{CoinsUpdate, InventoryUpdate};
use world::trade::told as trade;
use world::training::told::SkillGain;
use world::vitals::told::VitalsUpdate;

/// Something that the server said.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Grows by one per message on a connection.
    pub seq: u64,
    /// The request that it answers.
    pub re: Option<RequestId>,
    /// Content of the message.
    pub payload: Payload,
}

/// Content of a `world:update` that a hasty reader takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance {
    /// The tick that it shows.
    pub tick: u64,
    /// Own position in it, if any: x and z, each if it changed.
    pub own: Option<(Option<i32>, Option<i32>)>,
}

#[derive(Serialize)]
struct Outbound<'a, T: ?Sized> {
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    data: &'a T,
}

#[derive(Deserialize)]
struct Head {
    event: String,
    seq: u64,
    #[serde(default)]
    re: Option<RequestId>,
    #[serde(rename = "data")]
    _data: IgnoredAny,
}

#[derive(Deserialize)]
struct Body<T> {
    data: T,
}

macro_rules! payload {
    ($($variant:ident($data:ty) = $name:literal,)*) => {
        /// A server event with its data.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::large_enum_variant)] // short-lived, one at a time
        pub enum Payload {
            $(#[doc = concat!("`", $name, "`")] $variant($data),)*
            /// `world:update`, of which only a part was read.
            Glance(Glance),
            /// An event that this client does not know, by name.
            Other(String),
        }

        impl Payload {
            /// Returns the event's wire name.
            pub fn event(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Glance(_) => "world:update",
                    Self::Other(name) => name,
                }
            }
        }

        fn payload(format: Format, event: String, bytes: &[u8]) -> Result<Payload> {
            Ok(match event.as_str() {
                $($name => Payload::$variant(parse::<Body<$data>>(format, bytes)?.data),)*
                _ => Payload::Other(event),
            })
        }
    };
}

payload! {
    Hello(session::Hello) = "session:hello",
    Welcome(session::Welcome) = "session:welcome",
    Resumed(session::Resumed) = "session:resumed",
    Invalid(session::Invalid) = "session:invalid",
    Draining(session::Draining) = "session:draining",
    Pong(session::Pong) = "pong",
    CharacterList(session::CharacterList) = "character:list",
    CharacterCreated(session::CharacterCreated) = "character:created",
    WorldEntered(session::WorldEntered) = "world:entered",
    WorldLeft(session::WorldLeft) = "world:left",
    Ack(session::Ack) = "ack",
    Notice(session::Notice) = "notice",
    Error(Error) = "error",
    Sync(Box<sync::PlayerSync>) = "player:sync",
    Vitals(VitalsUpdate) = "vitals:update",
    Inventory(InventoryUpdate) = "inventory:update",
    Coins(CoinsUpdate) = "coins:update",
    Xp(SkillGain) = "skill:xp",
    Teleport(Teleport) = "teleport",
    Died(PlayerDied) = "player:died",
    Respawned(PlayerRespawned) = "player:respawned",
    Update(WorldUpdate) = "world:update",
    Chat(ChatMessage) = "chat:message",
    FriendsList(friends::FriendsList) = "friends:list",
    TradeIncoming(trade::TradeIncoming) = "tradeIncoming",
    TradeStarted(trade::TradeStarted) = "tradeStarted",
    TradeUpdated(trade::TradeUpdated) = "tradeUpdated",
    TradeConfirmScreen(trade::TradeConfirmScreen) = "tradeConfirmScreen",
    TradeCompleted(trade::TradeCompleted) = "tradeCompleted",
    TradeCancelled(trade::TradeCancelled) = "tradeCancelled",
    TradeError(TradeError) = "tradeError",
}

/// Returns one request as bytes.
pub fn request<T: Serialize + ?Sized>(
    format: Format,
    event: &str,
    id: Option<u64>,
    data: &T,
) -> Result<Vec<u8>> {
    let message = Outbound { event, id, data };
    Ok(match format {
        Format::Json => serde_json::to_vec(&message)?,
        Format::MessagePack | Format::Compact => rmp_serde::to_vec_named(&message)?,
    })
}

/// Reads one message of the server.
pub fn read(format: Format, bytes: &[u8]) -> Result<Message> {
    let head: Head = parse(format, bytes).context("envelope")?;
    let event = head.event.clone();
    let payload = payload(format, head.event, bytes).with_context(|| format!("data of {event}"))?;
    Ok(Message {
        seq: head.seq,
        re: head.re,
        payload,
    })
}

fn parse<T: DeserializeOwned>(format: Format, bytes: &[u8]) -> Result<T> {
    Ok(match format {
        Format::Json => serde_json::from_slice(bytes)?,
        Format::MessagePack | Format::Compact => rmp_serde::from_slice(bytes)?,
    })
}

#[cfg(test)]
mod tests {
    use proto::client::{encode, update::ChunkUpdate};

    use super::*;

    #[test]
    fn both_encodings_read_what_the_server_writes() {
        let update =
            WorldUpdate {
                tick: 7,
                chunks: vec![ChunkUpdate {
                    x: -1,
                    z: 2,
                    full: true,
                    enter: vec![serde_json::from_value(serde_json::json!({
                    "id": "npc:1", "type": "npc", "x": -3, "z": 17, "name": "Goat", "level": 2
                }))
                .unwrap()],
                    ..ChunkUpdate::default()
                }],
                gone: vec![[4, 5]],
            };
        for format in [Format::Json, Format::MessagePack] {
            let id = RequestId::Number(9.into());
            let message = read(format, &encode(format, 3, Some(&id), &update)).unwrap();
            assert_eq!(message.seq, 3);
            assert_eq!(message.re, Some(id));
            assert_eq!(message.payload, Payload::Update(update.clone()));
        }
    }

    #[test]
    fn a_message_without_seq_is_refused() {
        assert!(read(Format::Json, br#"{"event":"ack","data":{}}"#).is_err());
    }

    #[test]
    fn the_server_can_read_requests_of_both_encodings() {
        for format in [Format::Json, Format::MessagePack] {
            let data = serde_json::json!({"target": {"x": 1, "z": -2}, "run": true});
            let bytes = request(format, "player:move", Some(4), &data).unwrap();
            let request = proto::client::decode(format, &bytes.into()).unwrap();
            assert_eq!(request.id, Some(RequestId::Number(4.into())));
            assert_eq!(request.message.name(), "player:move");
        }
    }
}
