//! The envelope of `/ws`, in JSON and in MessagePack; `decode` reads it, this file writes it.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::encode;

use super::{
    error::ErrorCode,
    table::{ClientMessage, Needs, ServerEvent},
};

/// Encoding of a connection's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text frames.
    Json,
    /// Binary frames; maps with named fields.
    MessagePack,
    /// Binary frames: `world:update` as [`compact`](super::compact) has it, all else as MessagePack.
    Compact,
}

impl Format {
    /// Returns the WebSocket subprotocol.
    pub const fn subprotocol(self) -> &'static str {
        match self {
            Self::Json => "tilestead.json",
            Self::MessagePack => "tilestead.msgpack",
            Self::Compact => "tilestead.v2",
        }
    }

    /// All formats.
    pub const ALL: [Self; 3] = [Self::Json, Self::MessagePack, Self::Compact];

    /// Returns whether messages come in text frames.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Json)
    }
}

/// Client's name for a request; the answer carries it as `re`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(serde_json::Number),
    /// A text of at most 64 bytes.
    Text(String),
}

/// A request that could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Absent: the client wants no answer but an error.
    pub id: Option<RequestId>,
    /// The request itself.
    pub message: Message,
}

/// Request of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The gateway answers it.
    Gateway(ClientMessage),
    /// The zone that plays the character answers it.
    Zone(ZoneRequest),
}

/// Request for a zone. The gateway passes its data on as they came, and the zone reads them.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneRequest {
    /// Wire name of the event.
    pub event: &'static str,
    /// Data, an object.
    pub data: Bytes,
    /// Encoding of the data.
    pub format: Format,
}

impl Message {
    /// Returns the event's wire name.
    pub const fn name(&self) -> &'static str {
        match self {
            Message::Gateway(message) => message.name(),
            Message::Zone(request) => request.event,
        }
    }

    /// Returns the condition for the event.
    pub const fn needs(&self) -> Needs {
        match self {
            Message::Gateway(message) => message.needs(),
            Message::Zone(_) => Needs::World,
        }
    }
}

/// A request that could not be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// The request's id, where that could be read.
    pub id: Option<RequestId>,
    /// The event, where that could be read.
    pub event: Option<String>,
    /// Kind of the fault.
    pub code: ErrorCode,
    /// Fault and limit, for people.
    pub why: String,
}

#[derive(Serialize)]
struct Outbound<'a, T: ?Sized> {
    event: &'a str,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<&'a RequestId>,
    data: &'a T,
}

/// Writes one message to a client.
pub fn encode<T: ServerEvent>(
    format: Format,
    seq: u64,
    re: Option<&RequestId>,
    data: &T,
) -> Vec<u8> {
    write(format, T::NAME, seq, re, data)
}

/// Writes one message whose data are JSON text already, as zones send them.
pub fn encode_raw(
    format: Format,
    seq: u64,
    re: Option<&RequestId>,
    event: &str,
    data: &RawValue,
) -> Vec<u8> {
    match format {
        Format::Json => write(format, event, seq, re, data),
        Format::MessagePack | Format::Compact => {
            let value: serde_json::Value = serde_json::from_str(data.get()).unwrap_or_default();
            write(format, event, seq, re, &value)
        }
    }
}

fn write<T: Serialize + ?Sized>(
    format: Format,
    event: &str,
    seq: u64,
    re: Option<&RequestId>,
    data: &T,
) -> Vec<u8> {
    let message = Outbound {
        event,
        seq,
        re,
        data,
    };
    to_bytes(format, &message)
}

fn to_bytes<T: Serialize>(format: Format, message: &T) -> Vec<u8> {
    match format {
        Format::Json => encode::json(message),
        Format::MessagePack | Format::Compact => encode::message_pack(message),
    }
}
