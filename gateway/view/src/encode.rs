//! Encoding of the world for clients. Each format has a chunk's change and a whole chunk once, in
//! pieces that all sessions share. The envelope around them is each session's own.
//!
//! Always: the pieces of an update, written one behind the other, are one `world:update` data
//! value. A JSON piece begins with a comma, which the first one of an update loses.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use proto::client::Format;
use serde_json::value::RawValue;
use world::Chunk;

use super::{
    changes::ChunkChange,
    entity::{Entity, FieldMap},
    replica::{ChunkState, Replica},
};

/// Upper bound of the envelope around the pieces, without `gone`, in bytes.
pub const ENVELOPE_BYTES: usize = 96;
/// Upper bound of one chunk's entry in `gone`, in bytes.
pub const GONE_BYTES: usize = 28;

/// Returns the place of a format's bytes among those that are written once.
pub const fn index(format: Format) -> usize {
    match format {
        Format::Json => 0,
        Format::MessagePack => 1,
    }
}

/// Writes all of a chunk.
pub fn snapshot(format: Format, at: Chunk, chunk: &ChunkState, replica: &Replica) -> Bytes {
    let entities = chunk
        .entities()
        .filter_map(|id| replica.entity(id))
        .collect();
    let record = Record {
        at,
        full: true,
        enter: entities,
        ..Record::default()
    };
    record.write(format)
}

/// Writes the change of a chunk.
pub fn change(format: Format, at: Chunk, change: &ChunkChange, replica: &Replica) -> Bytes {
    let known = |id: &Arc<str>| replica.entity(id);
    let record = Record {
        at,
        full: false,
        enter: change.enter.iter().filter_map(known).collect(),
        update: change
            .update
            .iter()
            .filter_map(|(id, moved, fields)| {
                let entity = known(id)?;
                Some((entity, *moved, fields))
            })
            .collect(),
        leave: &change.leave,
        hits: &change.hits,
    };
    record.write(format)
}

/// Returns the data of an update: its pieces with their envelope.
pub fn update(format: Format, tick: u64, pieces: Vec<Bytes>, gone: &[Chunk]) -> Vec<Bytes> {
    let mut body = Vec::with_capacity(pieces.len() + 2);
    match format {
        Format::Json => {
            body.push(Bytes::from(format!("{{\"tick\":{tick},\"chunks\":[")));
            let mut pieces = pieces.into_iter();
            body.extend(pieces.next().map(|first| first.slice(1..)));
            body.extend(pieces);
            body.push(json_end(gone));
        }
        Format::MessagePack => {
            let mut head = BytesMut::with_capacity(32 + gone.len() * 12);
            pack_map(&mut head, if gone.is_empty() { 2 } else { 3 });
            pack_text(&mut head, "tick");
            pack_value(&mut head, &tick);
            if !gone.is_empty() {
                pack_text(&mut head, "gone");
                pack_array(&mut head, gone.len());
                for chunk in gone {
                    pack_value(&mut head, &[chunk.x, chunk.z]);
                }
            }
            pack_text(&mut head, "chunks");
            pack_array(&mut head, pieces.len());
            body.push(head.freeze());
            body.extend(pieces);
        }
    }
    body
}

fn json_end(gone: &[Chunk]) -> Bytes {
    if gone.is_empty() {
        return Bytes::from_static(b"]}");
    }
    let mut end = String::from("],\"gone\":");
    for (n, chunk) in gone.iter().enumerate() {
        end.push(if n == 0 { '[' } else { ',' });
        end.push_str(&format!("[{},{}]", chunk.x, chunk.z));
    }
    end.push_str("]}");
    Bytes::from(end)
}

/// One element of `chunks`.
#[derive(Default)]
struct Record<'a> {
    at: Chunk,
    full: bool,
    enter: Vec<&'a Entity>,
    update: Vec<(&'a Entity, bool, &'a FieldMap)>,
    leave: &'a [Arc<str>],
    hits: &'a [Box<RawValue>],
}

impl Record<'_> {
    fn write(&self, format: Format) -> Bytes {
        let things = self.enter.len() + self.update.len() + self.leave.len() + self.hits.len();
        let mut out = BytesMut::with_capacity(64 + 96 * things);
        match format {
            Format::Json => self.json(&mut out),
            Format::MessagePack => self.pack(&mut out),
        }
        out.freeze()
    }

    fn json(&self, out: &mut BytesMut) {
        let Chunk { x, z } = self.at;
        put(out, &format!(",{{\"x\":{x},\"z\":{z}"));
        if self.full {
            put(out, ",\"full\":true");
        }
        list(out, "enter", &self.enter, |out, entity| {
            json_entity(out, entity);
        });
        list(
            out,
            "update",
            &self.update,
            |out, (entity, moved, fields)| {
                json_delta(out, entity, *moved, fields);
            },
        );
        list(out, "leave", self.leave, |out, id| json_text(out, id));
        list(out, "hits", self.hits, |out, hit| put(out, hit.get()));
        out.put_u8(b'}');
    }

    fn pack(&self, out: &mut BytesMut) {
        let lists = [
            self.enter.len(),
            self.update.len(),
            self.leave.len(),
            self.hits.len(),
        ];
        let filled = lists.iter().filter(|length| **length > 0).count();
        pack_map(out, 2 + usize::from(self.full) + filled);
        pack_text(out, "x");
        pack_value(out, &self.at.x);
        pack_text(out, "z");
        pack_value(out, &self.at.z);
        if self.full {
            pack_text(out, "full");
            pack_value(out, &true);
        }
        pack_list(out, "enter", &self.enter, |out, entity| {
            pack_entity(out, entity)
        });
        pack_list(
            out,
            "update",
            &self.update,
            |out, (entity, moved, fields)| {
                pack_delta(out, entity, *moved, fields);
            },
        );
        pack_list(out, "leave", self.leave, |out, id| pack_text(out, id));
        pack_list(out, "hits", self.hits, |out, hit| pack_json(out, hit));
    }
}

fn put(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
}

fn json_text(out: &mut BytesMut, text: &str) {
    // Writing a text to memory cannot fail.
    let _ = serde_json::to_writer(out.writer(), text);
}

fn json_number(out: &mut BytesMut, number: i32) {
    // Writing a number to memory cannot fail.
    let _ = serde_json::to_writer(out.writer(), &number);
}

fn list<T>(out: &mut BytesMut, name: &str, items: &[T], mut write: impl FnMut(&mut BytesMut, &T)) {
    if items.is_empty() {
        return;
    }
    put(out, ",\"");
    put(out, name);
    put(out, "\":");
    for (n, item) in items.iter().enumerate() {
        out.put_u8(if n == 0 { b'[' } else { b',' });
        write(out, item);
    }
    out.put_u8(b']');
}

fn json_fields(fields: &FieldMap) -> Bytes {
    let mut out = BytesMut::new();
    for (name, value) in fields {
        out.put_u8(b',');
        json_text(&mut out, name);
        out.put_u8(b':');
        put(&mut out, value.get());
    }
    out.freeze()
}

fn json_entity(out: &mut BytesMut, entity: &Entity) {
    put(out, "{\"id\":");
    json_text(out, &entity.id);
    put(out, ",\"type\":");
    json_text(out, &entity.kind);
    json_position(out, entity);
    out.put_slice(entity.fields.written(index(Format::Json), json_fields));
    out.put_u8(b'}');
}

fn json_position(out: &mut BytesMut, entity: &Entity) {
    put(out, ",\"x\":");
    json_number(out, entity.x);
    put(out, ",\"z\":");
    json_number(out, entity.z);
}

fn json_delta(out: &mut BytesMut, entity: &Entity, moved: bool, fields: &FieldMap) {
    put(out, "{\"id\":");
    json_text(out, &entity.id);
    if moved {
        json_position(out, entity);
    }
    out.put_slice(&json_fields(fields));
    out.put_u8(b'}');
}

fn pack_list<T>(
    out: &mut BytesMut,
    name: &str,
    items: &[T],
    mut write: impl FnMut(&mut BytesMut, &T),
) {
    if items.is_empty() {
        return;
    }
    pack_text(out, name);
    pack_array(out, items.len());
    for item in items {
        write(out, item);
    }
}

fn pack_fields(fields: &FieldMap) -> Bytes {
    let mut out = BytesMut::new();
    for (name, value) in fields {
        pack_text(&mut out, name);
        pack_json(&mut out, value);
    }
    out.freeze()
}

fn pack_entity(out: &mut BytesMut, entity: &Entity) {
    pack_map(out, 4 + entity.fields.map().len());
    pack_text(out, "id");
    pack_text(out, &entity.id);
    pack_text(out, "type");
    pack_text(out, &entity.kind);
    pack_position(out, entity);
    out.put_slice(
        entity
            .fields
            .written(index(Format::MessagePack), pack_fields),
    );
}

fn pack_position(out: &mut BytesMut, entity: &Entity) {
    pack_text(out, "x");
    pack_value(out, &entity.x);
    pack_text(out, "z");
    pack_value(out, &entity.z);
}

fn pack_delta(out: &mut BytesMut, entity: &Entity, moved: bool, fields: &FieldMap) {
    pack_map(out, 1 + if moved { 2 } else { 0 } + fields.len());
    pack_text(out, "id");
    pack_text(out, &entity.id);
    if moved {
        pack_position(out, entity);
    }
    out.put_slice(&pack_fields(fields));
}

/// Writes a value of a type that MessagePack knows.
fn pack_value<T: serde::Serialize>(out: &mut BytesMut, value: &T) {
    // Writing to memory cannot fail, and no value here is of a type that could.
    let _ = rmp_serde::encode::write_named(&mut out.writer(), value);
}

fn pack_text(out: &mut BytesMut, text: &str) {
    pack_value(out, &text);
}

/// Writes a JSON text as the value that it is. Writes null for a text that it cannot read, so that
/// there is always one value.
fn pack_json(out: &mut BytesMut, json: &RawValue) {
    let value: serde_json::Value = serde_json::from_str(json.get()).unwrap_or_default();
    pack_value(out, &value);
}

fn pack_map(out: &mut BytesMut, length: usize) {
    pack_length(out, length, 0x80, 0xde, 0xdf);
}

fn pack_array(out: &mut BytesMut, length: usize) {
    pack_length(out, length, 0x90, 0xdc, 0xdd);
}

/// Writes the head of a map or an array: 4, 16 or 32 bits of length.
fn pack_length(out: &mut BytesMut, length: usize, short: u8, medium: u8, long: u8) {
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length), _) if length < 16 => out.put_u8(short | length),
        (_, Ok(length)) => {
            out.put_u8(medium);
            out.put_u16(length);
        }
        _ => {
            out.put_u8(long);
            // An update never has four thousand million parts.
            out.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
        }
    }
}
