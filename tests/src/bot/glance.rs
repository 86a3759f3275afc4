//! Reading of a `world:update` only what concerns oneself: a load generator that reads all of what
//! thousands are shown would measure itself.

use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Message, Payload,
    wire::{self, Glance},
};

#[derive(Deserialize)]
struct Head<'a> {
    event: &'a str,
    seq: u64,
    #[serde(borrow)]
    data: &'a RawValue,
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

/// Reads one JSON message: a `world:update` for its tick and the entity `own` only, anything else
/// whole.
pub fn read(bytes: &[u8], own: &str) -> Result<Message> {
    match serde_json::from_slice::<Head>(bytes) {
        Ok(head) if head.event == "world:update" => {
            let data = head.data.get();
            let tick: Tick = serde_json::from_str(data)?;
            Ok(Message {
                seq: head.seq,
                re: None,
                payload: Payload::Glance(Glance {
                    tick: tick.tick,
                    own: place(data, own)?,
                }),
            })
        }
        _ => wire::read(proto::client::Format::Json, bytes),
    }
}

/// Returns the place of `own` in the update, if it has one; its last mention counts. An entity's id
/// comes first.
fn place(data: &str, own: &str) -> Result<Option<(Option<i32>, Option<i32>)>> {
    let start = format!("{{\"id\":\"{own}\"");
    let Some(at) = data.rfind(&start) else {
        return Ok(None);
    };
    let mut reader = serde_json::Deserializer::from_str(&data[at..]);
    let place = Place::deserialize(&mut reader)?;
    Ok(Some((place.x, place.z)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glance(text: &str) -> Glance {
        match read(text.as_bytes(), "me").unwrap().payload {
            Payload::Glance(glance) => glance,
            told => panic!("{told:?}"),
        }
    }

    #[test]
    fn the_own_entity_is_found_among_others() {
        let text = r#"{"event":"world:update","seq":4,"data":{"tick":9,"chunks":[{"x":0,"z":0,
            "update":[{"id":"you","x":1},{"id":"me","x":-3,"z":5,"run":true}],"leave":["me2"]}]}}"#;
        assert_eq!(glance(text).tick, 9);
        assert_eq!(glance(text).own, Some((Some(-3), Some(5))));
    }

    #[test]
    fn an_update_without_oneself_has_its_tick() {
        let text = r#"{"event":"world:update","seq":4,"data":{"tick":9,"chunks":[]}}"#;
        assert_eq!((glance(text).tick, glance(text).own), (9, None));
    }

    #[test]
    fn anything_else_is_read_whole() {
        let told = read(br#"{"event":"ack","seq":4,"re":7,"data":{}}"#, "me").unwrap();
        assert!(told.re.is_some() && told.payload.event() == "ack");
        assert!(read(br#"{"event":"world:update","seq":4,"data":{}}"#, "me").is_err());
    }
}
