//! The envelope of `/ws`, in JSON and in MessagePack.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    error::ErrorCode,
    limits::CLIENT_MESSAGE_BYTES_MAX,
    table::{ClientMessage, ServerEvent},
};

/// How a connection writes its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text frames.
    Json,
    /// Binary frames; maps with named fields.
    MessagePack,
}

impl Format {
    /// The WebSocket subprotocol.
    pub const fn subprotocol(self) -> &'static str {
        match self {
            Self::Json => "tilestead.json",
            Self::MessagePack => "tilestead.msgpack",
        }
    }
}

/// What a client names a request by; the answer carries it as `re`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// What is asked.
    pub message: ClientMessage,
}

/// A request that could not be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// The request's id, where that could be read.
    pub id: Option<RequestId>,
    /// The event, where that could be read.
    pub event: Option<String>,
    /// What kind of wrong.
    pub code: ErrorCode,
    /// What was wrong and what is allowed, for people.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inbound<'a> {
    event: String,
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default, borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Outbound<'a, T: ?Sized> {
    event: &'a str,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<&'a RequestId>,
    data: &'a T,
}

/// Reads one message from a client. Never panics, whatever the bytes.
pub fn decode(format: Format, bytes: &[u8]) -> Result<Request, Malformed> {
    let malformed = |why: String| Malformed {
        id: None,
        event: None,
        code: ErrorCode::Malformed,
        why,
    };
    if bytes.len() > CLIENT_MESSAGE_BYTES_MAX {
        let why = format!("a message has at most {CLIENT_MESSAGE_BYTES_MAX} bytes");
        return Err(malformed(why));
    }
    let text;
    let json = match format {
        Format::Json => bytes,
        Format::MessagePack => {
            let value: serde_json::Value =
                rmp_serde::from_slice(bytes).map_err(|e| malformed(e.to_string()))?;
            text = serde_json::to_vec(&value).map_err(|e| malformed(e.to_string()))?;
            &text
        }
    };
    let inbound: Inbound = serde_json::from_slice(json).map_err(|e| malformed(e.to_string()))?;
    read_data(inbound)
}

fn read_data(inbound: Inbound) -> Result<Request, Malformed> {
    let data = inbound.data.map_or("{}", RawValue::get);
    let mut reader = serde_json::Deserializer::from_str(data);
    let (code, why) = match ClientMessage::from_data(&inbound.event, &mut reader) {
        Some(Ok(message)) => {
            return Ok(Request {
                id: inbound.id,
                message,
            });
        }
        Some(Err(why)) => (ErrorCode::InvalidData, why),
        None => (
            ErrorCode::UnknownEvent,
            format!("known events: {}", ClientMessage::NAMES.join(", ")),
        ),
    };
    Err(Malformed {
        id: inbound.id,
        event: Some(inbound.event),
        code,
        why,
    })
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
        Format::MessagePack => {
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
    match format {
        Format::Json => serde_json::to_vec(&message).unwrap_or_default(),
        Format::MessagePack => rmp_serde::to_vec_named(&message).unwrap_or_default(),
    }
}
