//! Reads the requests of clients.
//!
//! The gateway reads the envelope. It passes the data of a zone's request on as they came, and the
//! zone reads them.
//!
//! Always: no bytes cause a panic. Both encodings are equally strict, because data in MessagePack
//! become JSON text before they are read. Nothing is nested deeper than [`CLIENT_NESTING_MAX`], no
//! key of the envelope stands twice, and nothing follows the message. A refusal carries the
//! request's id and event wherever these could be read.

use std::fmt;
use std::sync::LazyLock;

use bytes::Bytes;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Number, value::RawValue};

use super::{
    envelope::{Format, Malformed, Message, Request, RequestId, ZoneRequest},
    error::ErrorCode,
    limits::{CLIENT_MESSAGE_BYTES_MAX, CLIENT_NESTING_MAX, REQUEST_ID_BYTES_MAX},
    msgpack,
    table::ClientMessage,
};

/// The longest event name that a refusal repeats, in bytes.
const EVENT_BYTES_MAX: usize = 64;
/// The longest explanation, in characters; it may quote the client.
const WHY_CHARS_MAX: usize = 300;

/// Reads one message from a client: all of it if the gateway answers it, else the envelope.
///
/// # Errors
/// The request is not valid; the error names the fault and the limit.
pub fn decode(format: Format, bytes: &Bytes) -> Result<Request, Malformed> {
    if bytes.len() > CLIENT_MESSAGE_BYTES_MAX {
        let why = format!("a message has at most {CLIENT_MESSAGE_BYTES_MAX} bytes");
        return Err(Seen::default().refuse(ErrorCode::Malformed, why));
    }
    match format {
        Format::Json => {
            let seen = read(bytes, nesting_fault(bytes))?;
            let data = seen.data.map(|data| data.get().as_bytes());
            seen.request(format, bytes, data)
        }
        Format::MessagePack | Format::Compact => {
            let envelope = msgpack::envelope(bytes);
            let seen = read(&envelope.json, envelope.fault)?;
            seen.request(format, bytes, envelope.data)
        }
    }
}

/// Returns the data of a message as JSON text.
///
/// # Errors
/// The MessagePack is broken, or says what JSON cannot say.
pub fn data_json(format: Format, data: Bytes) -> Result<Bytes, String> {
    match format {
        Format::Json => Ok(data),
        Format::MessagePack | Format::Compact => msgpack::data_to_json(&data).map(Bytes::from),
    }
}

/// Wire names of the requests that zones answer.
static ZONE_EVENTS: LazyLock<Vec<&'static str>> = LazyLock::new(world::Intent::events);

/// Reads JSON text. With a `fault` it is refused, and read only for its id and event.
fn read(json: &[u8], fault: Option<String>) -> Result<Seen<'_>, Malformed> {
    let mut seen = Seen::default();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let syntax = reader
        .deserialize_map(&mut seen)
        .and_then(|()| reader.end())
        .map_err(|error| error.to_string());
    let missing = || seen.event.is_none().then(|| "event is missing".to_owned());
    let fault = fault
        .or_else(|| syntax.err())
        .or_else(|| seen.problem.take())
        .or_else(missing);
    match fault {
        Some(why) => Err(seen.refuse(ErrorCode::Malformed, why)),
        None => Ok(seen),
    }
}

/// Parts of an envelope that were read so far.
#[derive(Default)]
struct Seen<'a> {
    event: Option<String>,
    id: Option<RequestId>,
    data: Option<&'a RawValue>,
    /// The first fault that does not keep the text from being read further.
    problem: Option<String>,
}

impl<'a> Seen<'a> {
    fn problem(&mut self, why: &str) {
        self.problem.get_or_insert_with(|| why.to_owned());
    }

    fn keep_event(&mut self, raw: &RawValue) {
        match serde_json::from_str(raw.get()) {
            Ok(event) => self.event = Some(event),
            Err(_) => self.problem("event: must be a string"),
        }
    }

    fn keep_id(&mut self, raw: &RawValue) {
        match request_id(raw.get()) {
            Ok(id) => self.id = id,
            Err(why) => self.problem(&why),
        }
    }

    /// Returns the request. `data`: the part of `bytes` that holds its data.
    fn request(
        mut self,
        format: Format,
        bytes: &Bytes,
        data: Option<&[u8]>,
    ) -> Result<Request, Malformed> {
        let event = self.event.take().unwrap_or_default();
        let message = match object(format, bytes, data) {
            Ok((format, data)) => message(&event, format, data),
            Err(why) => Err((ErrorCode::InvalidData, why)),
        };
        match message {
            Ok(message) => Ok(Request {
                id: self.id,
                message,
            }),
            Err((code, why)) => {
                self.event = Some(event);
                Err(self.refuse(code, why))
            }
        }
    }

    fn refuse(self, code: ErrorCode, why: String) -> Malformed {
        Malformed {
            id: self.id,
            event: self.event.filter(|event| event.len() <= EVENT_BYTES_MAX),
            code,
            why: shortened(why),
        }
    }
}

/// Returns an explanation, which may quote a client, without its end if it is long.
pub fn shortened(why: String) -> String {
    match why.char_indices().nth(WHY_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &why[..end]),
        None => why,
    }
}

/// Returns the data and their encoding; absent data and null are an empty object.
fn object(format: Format, bytes: &Bytes, data: Option<&[u8]>) -> Result<(Format, Bytes), String> {
    let (null, is_object): (&[u8], fn(u8) -> bool) = match format {
        Format::Json => (b"null", |first| first == b'{'),
        Format::MessagePack | Format::Compact => {
            (&[0xc0], |first| matches!(first, 0x80..=0x8f | 0xde | 0xdf))
        }
    };
    match data {
        None => Ok((Format::Json, Bytes::from_static(b"{}"))),
        Some(data) if data == null => Ok((Format::Json, Bytes::from_static(b"{}"))),
        Some(data) if data.first().copied().is_some_and(is_object) => {
            Ok((format, bytes.slice_ref(data)))
        }
        Some(_) => Err("data: must be an object".to_owned()),
    }
}

fn message(event: &str, format: Format, data: Bytes) -> Result<Message, (ErrorCode, String)> {
    if let Some(event) = ZONE_EVENTS.iter().find(|known| **known == event) {
        return Ok(Message::Zone(ZoneRequest {
            event,
            data,
            format,
        }));
    }
    let json = data_json(format, data).map_err(|why| (ErrorCode::Malformed, why))?;
    let mut reader = serde_json::Deserializer::from_slice(&json);
    match ClientMessage::from_data(event, &mut reader) {
        Some(Ok(message)) => Ok(Message::Gateway(message)),
        Some(Err(why)) => Err((ErrorCode::InvalidData, without_position(&why).to_owned())),
        None => {
            let zones = ZONE_EVENTS.iter();
            let known: Vec<&str> = ClientMessage::NAMES.iter().chain(zones).copied().collect();
            let why = format!("known events: {}", known.join(", "));
            Err((ErrorCode::UnknownEvent, why))
        }
    }
}

impl<'de> Visitor<'de> for &mut Seen<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with event, id and data")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut event, mut id, mut data) = (false, false, false);
        while let Some(key) = map.next_key::<String>()? {
            let twice = match key.as_str() {
                "event" => std::mem::replace(&mut event, true),
                "id" => std::mem::replace(&mut id, true),
                "data" => std::mem::replace(&mut data, true),
                _ => {
                    self.problem(&format!(
                        "unknown key {key:?}: event, id and data are known"
                    ));
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let raw: &'de RawValue = map.next_value()?;
            match key.as_str() {
                _ if twice => self.problem(&format!("{key} stands twice")),
                "event" => self.keep_event(raw),
                "id" => self.keep_id(raw),
                _ => self.data = Some(raw),
            }
        }
        Ok(())
    }
}

fn request_id(text: &str) -> Result<Option<RequestId>, String> {
    let whole = !text.contains(['.', 'e', 'E']);
    match text.as_bytes().first() {
        _ if text == "null" => Ok(None),
        Some(b'"') => {
            let id: String = serde_json::from_str(text).map_err(|e| format!("id: {}", bare(&e)))?;
            if id.len() > REQUEST_ID_BYTES_MAX {
                return Err(format!("id: at most {REQUEST_ID_BYTES_MAX} bytes"));
            }
            Ok(Some(RequestId::Text(id)))
        }
        // A number that would come back as another one is not taken.
        Some(b'-' | b'0'..=b'9') if whole => {
            let signed = text.parse::<i64>().map(Number::from);
            let number = signed.or_else(|_| text.parse::<u64>().map(Number::from));
            let number = number.map_err(|_| "id: a whole number of at most 64 bits".to_owned())?;
            Ok(Some(RequestId::Number(number)))
        }
        Some(b'-' | b'0'..=b'9') => {
            let number = text.parse().ok().and_then(Number::from_f64);
            let number = number.ok_or_else(|| "id: must be a finite number".to_owned())?;
            Ok(Some(RequestId::Number(number)))
        }
        _ => Err("id: must be a string or a number".to_owned()),
    }
}

fn bare(error: &serde_json::Error) -> String {
    without_position(&error.to_string()).to_owned()
}

/// Returns the words without a position. A position inside a part of the message would mislead a
/// reader of the whole.
fn without_position(why: &str) -> &str {
    why.rfind(" at line ").map_or(why, |end| &why[..end])
}

/// Returns the fault in the nesting of a JSON text, which it finds without parsing the text.
fn nesting_fault(json: &[u8]) -> Option<String> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                if depth > CLIENT_NESTING_MAX {
                    return Some(too_deep());
                }
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

pub(super) fn too_deep() -> String {
    format!("nested deeper than {CLIENT_NESTING_MAX} levels")
}

#[cfg(test)]
mod tests;
