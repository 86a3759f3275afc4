//! One thing in the world as all may see it.
//!
//! Always: `fields` is a JSON object without `id`, `type`, `x` and `z`, so that it can stand behind
//! those four. This module never stores a zone's text that is no such object.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde_json::value::RawValue;
use world::Chunk;

/// Fields by name; the values are JSON texts. In a delta, null removes.
pub type FieldMap = BTreeMap<Box<str>, Box<RawValue>>;

/// Reads the fields of an entity or a delta; empty bytes are no fields.
pub fn parse_fields(json: &[u8]) -> Result<FieldMap, serde_json::Error> {
    if json.is_empty() {
        return Ok(FieldMap::new());
    }
    let mut map: FieldMap = serde_json::from_slice(json)?;
    for reserved in ["id", "type", "x", "z"] {
        map.remove(reserved);
    }
    Ok(map)
}

/// The further fields of an entity, written at most once per format.
#[derive(Debug, Default)]
pub struct Fields {
    map: FieldMap,
    /// By format, see `encode`.
    written: [OnceLock<Bytes>; 2],
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

    /// Returns the fields in a format; on the first call `write` makes them.
    pub fn written(&self, format: usize, write: impl FnOnce(&FieldMap) -> Bytes) -> &Bytes {
        self.written[format].get_or_init(|| write(&self.map))
    }

    /// Takes over a delta's changes.
    pub fn merge(&mut self, delta: &FieldMap) {
        if delta.is_empty() {
            return;
        }
        for (name, value) in delta {
            if value.get() == "null" {
                self.map.remove(name);
            } else {
                self.map.insert(name.clone(), value.clone());
            }
        }
        self.written = Default::default();
    }
}

/// Returns whether the two are the same JSON texts under the same names.
pub fn same_fields(a: &FieldMap, b: &FieldMap) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|((an, av), (bn, bv))| an == bn && av.get() == bv.get())
}

/// A thing that some run owns.
#[derive(Debug)]
pub struct Entity {
    /// Unique in the world.
    pub id: Arc<str>,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(map: &FieldMap) -> String {
        serde_json::to_string(map).unwrap()
    }

    #[test]
    fn null_removes_and_other_values_replace() {
        let read = |json: &str| parse_fields(json.as_bytes()).unwrap();
        let mut fields = Fields::new(read(r#"{"name":"Ann","health":9,"run":true}"#));
        fields.merge(&read(r#"{"health":10,"run":null,"target":null}"#));
        assert_eq!(text(fields.map()), r#"{"health":10,"name":"Ann"}"#);
    }

    #[test]
    fn the_four_of_every_entity_are_no_fields() {
        let map = parse_fields(br#"{"id":"a","type":"b","x":1,"z":2,"name":"c"}"#).unwrap();
        assert_eq!(text(&map), r#"{"name":"c"}"#);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bad in ["[]", "1", "{", r#"{"a":}"#, r#"{"a":1}}"#] {
            assert!(parse_fields(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
