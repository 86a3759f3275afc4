//! One thing in the world as all may see it.
//!
//! Always: `fields` has none of `id`, `type`, `x` and `z`, so that it can stand behind those four.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use proto::rpc::zone::v1 as wire;
use world::{Chunk, Field};

use super::{changes::Numbered, encode::Encoding};

/// Fields by name.
pub type FieldMap = BTreeMap<Box<str>, Field>;
/// Changed fields by name; `None`: the field goes.
pub type FieldChanges = BTreeMap<Box<str>, Option<Field>>;

/// Reads the fields of an entity or a delta as a zone sent them: typed, or, of a zone of release
/// 0.2.0, as a JSON object; empty bytes are no fields.
///
/// # Errors
/// The JSON text is no object, or a value of it is no text, integer, boolean or null.
pub fn read_fields(
    json: &[u8],
    typed: Vec<wire::Field>,
) -> Result<FieldChanges, serde_json::Error> {
    let mut fields: FieldChanges = if json.is_empty() {
        let typed = typed.into_iter();
        typed
            .map(|field| (field.name.into(), field.value.map(typed_value)))
            .collect()
    } else {
        serde_json::from_slice(json)?
    };
    for reserved in ["id", "type", "x", "z"] {
        fields.remove(reserved);
    }
    Ok(fields)
}

fn typed_value(value: wire::field::Value) -> Field {
    match value {
        wire::field::Value::Text(text) => Field::Text(text.into()),
        wire::field::Value::Number(number) => Field::Int(number),
        wire::field::Value::Flag(flag) => Field::Bool(flag),
    }
}

/// Returns the fields that are there.
pub fn present(fields: FieldChanges) -> FieldMap {
    let there = fields.into_iter();
    there
        .filter_map(|(name, field)| Some((name, field?)))
        .collect()
}

/// The further fields of an entity, written at most once for each encoding.
#[derive(Debug, Default)]
pub struct Fields {
    map: FieldMap,
    written: [OnceLock<Bytes>; Encoding::COUNT],
}

impl Fields {
    /// Returns the fields of a new entity.
    pub fn new(map: FieldMap) -> Self {
        Self {
            map,
            written: Default::default(),
        }
    }

    /// Returns the fields by name.
    pub fn map(&self) -> &FieldMap {
        &self.map
    }

    /// Returns the fields by name, of a thing that is gone.
    pub(crate) fn into_map(self) -> FieldMap {
        self.map
    }

    /// Returns the fields in an encoding; on the first call `write` makes them.
    pub fn written(&self, encoding: Encoding, write: impl FnOnce(&FieldMap) -> Bytes) -> &Bytes {
        self.written[encoding.index()].get_or_init(|| write(&self.map))
    }

    /// Takes over a delta's changes.
    pub fn merge(&mut self, delta: &FieldChanges) {
        if delta.is_empty() {
            return;
        }
        for (name, field) in delta {
            match field {
                None => self.map.remove(name),
                Some(field) => self.map.insert(name.clone(), field.clone()),
            };
        }
        self.written = Default::default();
    }
}

/// A thing that some run owns.
#[derive(Debug)]
pub struct Entity {
    /// Unique in the world.
    pub id: Arc<str>,
    /// Unique in this gateway's replica, while the thing is in it.
    pub number: u32,
    /// player, npc, …
    pub kind: Box<str>,
    /// East, in tiles.
    pub x: i32,
    /// North, in tiles.
    pub z: i32,
    /// The chunk under which its owner publishes it.
    pub chunk: Chunk,
    /// The run that published it last.
    pub run: u64,
    /// Ownership sequence; anything under a lower one is old news.
    pub sequence: u64,
    /// All other fields.
    pub fields: Fields,
    /// Last tick of a thing that went to another run, if that run does not publish it.
    pub departs: Option<u64>,
}

impl Entity {
    /// Returns it as the compact encoding speaks of it.
    pub fn numbered(&self) -> Numbered {
        Numbered {
            number: self.number,
            player: self.is_player(),
        }
    }

    /// Returns whether it is somebody's avatar.
    pub fn is_player(&self) -> bool {
        &*self.kind == PLAYER
    }
}

/// Kind of somebody's avatar.
pub(crate) const PLAYER: &str = "player";

#[cfg(test)]
mod tests {
    use super::*;

    fn text(map: &FieldMap) -> String {
        serde_json::to_string(map).unwrap()
    }

    fn read(json: &str) -> Result<FieldChanges, serde_json::Error> {
        read_fields(json.as_bytes(), Vec::new())
    }

    #[test]
    fn null_removes_and_other_values_replace() {
        let first = read(r#"{"name":"Ann","health":9,"run":true}"#).unwrap();
        let mut fields = Fields::new(present(first));
        fields.merge(&read(r#"{"health":10,"run":null,"target":null}"#).unwrap());
        assert_eq!(text(fields.map()), r#"{"health":10,"name":"Ann"}"#);
    }

    #[test]
    fn typed_fields_say_the_same_as_json() {
        let json = read(r#"{"name":"Ann","health":9,"run":true,"dead":null}"#).unwrap();
        let typed = |name: &str, value| wire::Field {
            name: name.to_owned(),
            value,
        };
        let typed = vec![
            typed("run", Some(wire::field::Value::Flag(true))),
            typed("name", Some(wire::field::Value::Text("Ann".to_owned()))),
            typed("health", Some(wire::field::Value::Number(9))),
            typed("dead", None),
            typed("x", Some(wire::field::Value::Number(9))),
        ];
        assert_eq!(read_fields(&[], typed).unwrap(), json);
    }

    #[test]
    fn the_four_of_every_entity_are_no_fields() {
        let map = read(r#"{"id":"a","type":"b","x":1,"z":2,"name":"c"}"#).unwrap();
        assert_eq!(text(&present(map)), r#"{"name":"c"}"#);
    }

    #[test]
    fn what_is_no_object_of_plain_values_is_refused() {
        for bad in [
            "[]",
            "1",
            "{",
            r#"{"a":}"#,
            r#"{"a":1}}"#,
            r#"{"a":{}}"#,
            r#"{"a":1.5}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
