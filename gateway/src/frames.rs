//! Bytes for the socket: WebSocket frames of a server, and the envelope around their messages.

use bytes::{Bytes, BytesMut};
use proto::client::{CloseCode, Format, compact::write as compact};
use serde_json::value::RawValue;

use crate::mailbox::{Reliable, Update};

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
/// Most bytes of the head of a frame that a server sends.
const HEAD_BYTES_MAX: usize = 10;
/// The payload of a control frame has at most this many bytes.
pub(crate) const CONTROL_BYTES_MAX: usize = 125;

/// Appends a reliable message as one frame.
pub(crate) fn reliable(out: &mut Vec<u8>, format: Format, seq: u64, message: &Reliable) {
    let body = match format {
        Format::Json => json(seq, message),
        Format::MessagePack | Format::Compact => {
            let data: &RawValue = serde_json::from_slice(&message.data).unwrap_or(RawValue::NULL);
            let re = message.re.as_ref();
            proto::client::encode_raw(format, seq, re, &message.event, data)
        }
    };
    out.reserve(HEAD_BYTES_MAX + body.len());
    head(out, opcode(format), body.len());
    out.extend_from_slice(&body);
}

fn json(seq: u64, message: &Reliable) -> Vec<u8> {
    let mut body = Vec::with_capacity(message.len() + 64);
    body.extend_from_slice(b"{\"event\":");
    // A write of text to memory cannot fail.
    let _ = serde_json::to_writer(&mut body, &message.event);
    body.extend_from_slice(b",\"seq\":");
    body.extend_from_slice(seq.to_string().as_bytes());
    if let Some(re) = &message.re {
        body.extend_from_slice(b",\"re\":");
        let _ = serde_json::to_writer(&mut body, re);
    }
    body.extend_from_slice(b",\"data\":");
    body.extend_from_slice(&message.data);
    body.push(b'}');
    body
}

/// Appends a `world:update` as one frame, without looking into its pieces.
pub(crate) fn update(out: &mut Vec<u8>, format: Format, seq: u64, update: &Update) {
    let (before, after): (Bytes, &[u8]) = match format {
        Format::Json => {
            let text = format!("{{\"event\":\"world:update\",\"seq\":{seq},\"data\":");
            (text.into(), b"}")
        }
        Format::MessagePack => {
            // A map of three; texts of 5, 12, 3 and 4 bytes; an unsigned number of 8 bytes.
            let mut bytes = b"\x83\xa5event\xacworld:update\xa3seq\xcf".to_vec();
            bytes.extend_from_slice(&seq.to_be_bytes());
            bytes.extend_from_slice(b"\xa4data");
            (bytes.into(), b"")
        }
        Format::Compact => {
            let mut bytes = BytesMut::with_capacity(12);
            compact::begin(&mut bytes, seq);
            (bytes.freeze(), b"")
        }
    };
    let pieces: usize = update.body.iter().map(Bytes::len).sum();
    let length = before.len() + pieces + after.len();
    out.reserve(HEAD_BYTES_MAX + length);
    head(out, opcode(format), length);
    out.extend_from_slice(&before);
    for piece in &update.body {
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(after);
}

/// Appends a whole message as it is.
#[cfg(test)]
pub(crate) fn whole(out: &mut Vec<u8>, text: bool, payload: &[u8]) {
    head(out, if text { TEXT } else { BINARY }, payload.len());
    out.extend_from_slice(payload);
}

/// Appends a ping.
pub(crate) fn ping(out: &mut Vec<u8>) {
    head(out, PING, 0);
}

/// Appends the answer to a ping.
pub(crate) fn pong(out: &mut Vec<u8>, payload: &[u8]) {
    head(out, PONG, payload.len());
    out.extend_from_slice(payload);
}

/// Appends a close frame; cuts a long reason.
pub(crate) fn close(out: &mut Vec<u8>, code: CloseCode, reason: &str) {
    let most = CONTROL_BYTES_MAX - 2;
    let cut = (0..=reason.len().min(most))
        .rev()
        .find(|i| reason.is_char_boundary(*i));
    let reason = &reason.as_bytes()[..cut.unwrap_or(0)];
    head(out, CLOSE, 2 + reason.len());
    out.extend_from_slice(&(code as u16).to_be_bytes());
    out.extend_from_slice(reason);
}

const fn opcode(format: Format) -> u8 {
    match format {
        Format::Json => TEXT,
        Format::MessagePack | Format::Compact => BINARY,
    }
}

/// Appends the head of a whole, unmasked frame.
#[expect(
    clippy::cast_possible_truncation,
    reason = "each length fits by its arm"
)]
fn head(out: &mut Vec<u8>, opcode: u8, length: usize) {
    out.push(0x80 | opcode);
    match length {
        0..=125 => out.push(length as u8),
        126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proto::client::{RequestId, compact::read::Decoder};
    use serde_json::{Value, json};

    use super::*;

    /// Returns the payload of a frame whose length takes two bytes or less.
    fn payload(frame: &[u8]) -> &[u8] {
        match frame[1] {
            126 => &frame[4..],
            _ => &frame[2..],
        }
    }

    #[test]
    fn all_formats_say_the_same() {
        let mut message = Reliable::raw("chat:message", r#"{"message":"hä \"x\"","n":[1,null]}"#);
        message.re = Some(RequestId::Number(7.into()));
        let pieces = |format| match format {
            Format::Json => [r#"{"tick":9,"#, r#""chunks":[]}"#].map(Bytes::from),
            Format::MessagePack => {
                let data = rmp_serde::to_vec_named(&json!({"tick": 9, "chunks": []})).unwrap();
                [Bytes::from(data), Bytes::new()]
            }
            Format::Compact => [Bytes::from_static(&[9]), Bytes::new()],
        };
        let read = |format, frame: &[u8]| -> Value {
            match format {
                Format::Json => serde_json::from_slice(payload(frame)).unwrap(),
                Format::Compact if Decoder::is_update(payload(frame)) => {
                    let (seq, update) = Decoder::default().read(payload(frame)).unwrap();
                    json!({"event": "world:update", "seq": seq, "data": update})
                }
                Format::MessagePack | Format::Compact => {
                    rmp_serde::from_slice(payload(frame)).unwrap()
                }
            }
        };
        for format in Format::ALL {
            let mut out = Vec::new();
            reliable(&mut out, format, 3, &message);
            assert_eq!(
                read(format, &out),
                json!({"event": "chat:message", "seq": 3, "re": 7,
                    "data": {"message": "hä \"x\"", "n": [1, null]}})
            );
            let mut out = Vec::new();
            let shown = Update {
                tick: 9,
                body: pieces(format).to_vec(),
                traceparents: Vec::new(),
                received: Instant::now(),
            };
            update(&mut out, format, 4, &shown);
            assert_eq!(
                read(format, &out),
                json!({"event": "world:update", "seq": 4, "data": {"tick": 9, "chunks": []}})
            );
        }
    }

    #[test]
    fn the_length_of_a_frame_is_written_in_its_shortest_form() {
        for (length, head_length) in [(125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let mut out = Vec::new();
            head(&mut out, BINARY, length);
            assert_eq!(out.len(), head_length);
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let mut out = Vec::new();
        close(&mut out, CloseCode::Policy, &"ä".repeat(100));
        assert!(out.len() - 2 <= CONTROL_BYTES_MAX);
        assert_eq!(std::str::from_utf8(&out[4..]).unwrap().chars().count(), 61);
    }
}
