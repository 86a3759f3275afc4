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

/// A `world:update` without all that it shows.
#[derive(Deserialize)]
struct Update<'a> {
    event: &'a str,
    seq: u64,
    data: Tick,
}

#[derive(Deserialize)]
struct Tick {
    tick: u64,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    x: Option<i32>,
    #[serde(default)]
    z: Option<i32>,
}

/// Reads one message: a `world:update` of JSON or MessagePack for its tick and the entity `own`
/// only, anything else whole.
///
/// # Errors
/// The message does not fit the protocol.
pub fn read(format: Format, bytes: &[u8], own: &str) -> Result<Message> {
    let (update, own) = match format {
        Format::Json => (serde_json::from_slice::<Update>(bytes).ok(), json(own)),
        Format::MessagePack => (rmp_serde::from_slice(bytes).ok(), message_pack(own)),
        Format::Compact => (None, Vec::new()),
    };
    match update {
        Some(update) if update.event == "world:update" => Ok(Message {
            seq: update.seq,
            re: None,
            payload: Payload::Glance(Glance {
                tick: update.data.tick,
                own: place(format, bytes, &own)?,
            }),
        }),
        _ => wire::read(format, bytes),
    }
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
    /// A map of MessagePack with 15 keys or fewer: its first byte says how many.
    const SMALL_MAP: RangeInclusive<u8> = 0x80..=0x8f;
    let Some(id) = memmem::rfind(bytes, own) else {
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
        let no_tick = br#"{"event":"world:update","seq":4,"data":{}}"#;
        assert!(read(Format::Json, no_tick, "me").is_err());
    }
}
