//! Reading of a `world:update` only what concerns oneself: a load generator that reads all of what
//! thousands are shown would measure itself.

use std::ops::RangeInclusive;

use anyhow::Result;
use memchr::memmem;
use proto::client::Format;
use serde::Deserialize;

use super::{
    Message, Payload,
    wire::{self, Glance},
};

/// A map of MessagePack with 15 keys or fewer: its first byte says how many.
const SMALL_MAP: RangeInclusive<u8> = 0x80..=0x8f;

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    x: Option<i32>,
    #[serde(default)]
    z: Option<i32>,
}

/// Reads one message: a `world:update` of JSON or MessagePack for its tick and the entity `own`
/// only, anything else whole. Of such an update only the beginning is checked.
///
/// # Errors
/// The message does not fit the protocol.
pub fn read(format: Format, bytes: &[u8], own: &str) -> Result<Message> {
    let (head, own) = match format {
        Format::Json => (json_head(bytes), json(own)),
        Format::MessagePack => (message_pack_head(bytes), message_pack(own)),
        Format::Compact => (None, Vec::new()),
    };
    match head {
        Some((seq, tick)) => Ok(Message {
            seq,
            re: None,
            payload: Payload::Glance(Glance {
                tick,
                own: place(format, bytes, &own)?,
            }),
        }),
        // An update that begins in another way than ours do is read whole.
        None => wire::read(format, bytes),
    }
}

/// Returns the number and the tick of an update that begins with them, as the gateways' do.
fn json_head(bytes: &[u8]) -> Option<(u64, u64)> {
    let rest = bytes.strip_prefix(br#"{"event":"world:update","seq":"#)?;
    let (seq, rest) = number(rest)?;
    let rest = rest.strip_prefix(br#","data":{"tick":"#)?;
    let (tick, _) = number(rest)?;
    Some((seq, tick))
}

/// Returns the number with which a text begins, and what follows.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

/// Returns the number and the tick of an update that begins with them, as the gateways' do.
fn message_pack_head(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut rest = bytes.strip_prefix(b"\x83\xa5event\xacworld:update\xa3seq")?;
    let seq = rmp_serde::from_read(&mut rest).ok()?;
    let (map, rest) = rest.strip_prefix(b"\xa4data")?.split_first()?;
    let mut rest = rest.strip_prefix(b"\xa4tick")?;
    let tick = rmp_serde::from_read(&mut rest).ok()?;
    SMALL_MAP.contains(map).then_some((seq, tick))
}

/// Returns how an entity begins, from its id on.
fn json(own: &str) -> Vec<u8> {
    format!("\"id\":\"{own}\"").into_bytes()
}

/// Returns how an entity begins, from its id on.
fn message_pack(own: &str) -> Vec<u8> {
    [
        proto::encode::message_pack("id"),
        proto::encode::message_pack(own),
    ]
    .concat()
}

/// Returns the place in the update of the entity that begins with `own`, if it has one; its last
/// mention counts. An entity's id comes first.
fn place(format: Format, bytes: &[u8], own: &[u8]) -> Result<Option<(Option<i32>, Option<i32>)>> {
    // The search from the front is the faster one.
    let Some(id) = memmem::find_iter(bytes, own).last() else {
        return Ok(None);
    };
    let place = match format {
        Format::Json => {
            let entity = &bytes[id.saturating_sub(1)..];
            Place::deserialize(&mut serde_json::Deserializer::from_slice(entity))?
        }
        Format::MessagePack | Format::Compact => {
            let small = id > 0 && SMALL_MAP.contains(&bytes[id - 1]);
            let head = if small { 1 } else { 3 };
            let entity = &bytes[id.saturating_sub(head)..];
            Place::deserialize(&mut rmp_serde::Deserializer::from_read_ref(entity))?
        }
    };
    Ok(Some((place.x, place.z)))
}

#[cfg(test)]
mod tests {
    use proto::client::{
        RequestId, encode,
        session::Ack,
        update::{ChunkUpdate, WorldUpdate},
    };
    use serde_json::json;

    use super::*;

    const BOTH: [Format; 2] = [Format::Json, Format::MessagePack];

    /// Returns what both encodings of an update with one chunk show at a glance.
    fn glance(chunk: ChunkUpdate) -> Glance {
        let update = WorldUpdate {
            tick: 9,
            chunks: vec![chunk],
            gone: Vec::new(),
        };
        let [json, packed] = BOTH.map(|format| {
            let read = read(format, &encode(format, 4, None, &update), "me").unwrap();
            assert_eq!(read.seq, 4);
            match read.payload {
                Payload::Glance(glance) => glance,
                told => panic!("{told:?}"),
            }
        });
        assert_eq!(json, packed);
        json
    }

    #[test]
    fn the_own_entity_is_found_among_others() {
        let glance = glance(ChunkUpdate {
            update: vec![
                serde_json::from_value(json!({"id": "you", "x": 1})).unwrap(),
                serde_json::from_value(json!({"id": "me", "x": -3, "z": 5, "run": true})).unwrap(),
            ],
            leave: vec!["me2".to_owned()],
            ..ChunkUpdate::default()
        });
        assert_eq!(glance.tick, 9);
        assert_eq!(glance.own, Some((Some(-3), Some(5))));
    }

    #[test]
    fn an_entity_of_many_fields_is_found() {
        let mut me = json!({"id": "me", "type": "player", "x": 1, "z": 2});
        for field in 0..20 {
            me[format!("field{field}")] = field.into();
        }
        let glance = glance(ChunkUpdate {
            update: vec![serde_json::from_value(me).unwrap()],
            ..ChunkUpdate::default()
        });
        assert_eq!(glance.own, Some((Some(1), Some(2))));
    }

    #[test]
    fn an_update_without_oneself_has_its_tick() {
        let glance = glance(ChunkUpdate::default());
        assert_eq!((glance.tick, glance.own), (9, None));
    }

    #[test]
    fn anything_else_is_read_whole() {
        for format in BOTH {
            let id = RequestId::Number(7.into());
            let ack = encode(format, 4, Some(&id), &Ack::default());
            let told = read(format, &ack, "me").unwrap();
            assert!(told.re.is_some() && told.payload.event() == "ack");
        }
        let spaced = br#"{ "event":"world:update","seq":4,"data":{"tick":9,"chunks":[]}}"#;
        let told = read(Format::Json, spaced, "me").unwrap();
        assert!(matches!(told.payload, Payload::Update(update) if update.tick == 9));
        let no_tick = br#"{"event":"world:update","seq":4,"data":{}}"#;
        assert!(read(Format::Json, no_tick, "me").is_err());
    }
}
