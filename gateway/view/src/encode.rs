//! Encoding of the world for clients. Each encoding has a chunk's change and a whole chunk once, in
//! pieces that all sessions share. The envelope around them is each session's own.
//!
//! Always: the pieces of an update, written one behind the other, are one `world:update`. A JSON
//! piece begins with a comma, which the first one of an update loses.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use proto::client::{
    Format,
    compact::write::{self as compact, ChunkSection},
    limits::WORLD_UPDATE_BYTES_MAX,
};
use world::{Chunk, Field, Tile};

use super::{
    changes::{ChunkChange, Numbered},
    entity::{Entity, FieldChanges, FieldMap},
    replica::{ChunkState, Replica},
};

/// Upper bound of the envelope around the pieces, without `gone`, in bytes.
pub const ENVELOPE_BYTES: usize = 96;
/// Upper bound of one chunk's entry in `gone`, in bytes.
pub const GONE_BYTES: usize = 28;
/// Most bytes of one chunk.
pub const WHOLE_BYTES_MAX: usize = WORLD_UPDATE_BYTES_MAX - 3072;

/// Encoding of the pieces that clients share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// JSON texts.
    Json,
    /// MessagePack.
    MessagePack,
    /// Sections of `tilestead.v2`.
    Compact,
    /// The same, for clients that see at most so many players: these come in their near section.
    CompactWithoutPlayers,
}

impl Encoding {
    /// Number of encodings.
    pub const COUNT: usize = 4;

    /// Returns the encoding for a client; `capped`: it sees at most so many players.
    pub const fn of(format: Format, capped: bool) -> Self {
        match format {
            Format::Json => Self::Json,
            Format::MessagePack => Self::MessagePack,
            Format::Compact if capped => Self::CompactWithoutPlayers,
            Format::Compact => Self::Compact,
        }
    }

    /// Returns the place among bytes that are written once for each encoding.
    pub const fn index(self) -> usize {
        match self {
            Self::Json => 0,
            Self::MessagePack => 1,
            Self::Compact => 2,
            Self::CompactWithoutPlayers => 3,
        }
    }

    /// Returns whether things have numbers in it, so that clients need their names.
    pub const fn numbers(self) -> bool {
        matches!(self, Self::Compact | Self::CompactWithoutPlayers)
    }
}

/// Writes all of a chunk, and returns whether it is all: a chunk that is too large for an update
/// ends early.
pub fn snapshot(
    encoding: Encoding,
    at: Chunk,
    chunk: &ChunkState,
    replica: &Replica,
) -> (Bytes, bool) {
    let entities = chunk.entities().filter_map(|id| replica.entity(id));
    let mut record = Record {
        at,
        full: true,
        enter: entities.collect(),
        ..Record::default()
    };
    let all = record.write(encoding);
    if all.len() <= WHOLE_BYTES_MAX {
        return (all, true);
    }
    let mut room = WHOLE_BYTES_MAX;
    let fits = record.enter.iter().take_while(|entity| {
        let bytes = if encoding.numbers() {
            // The distance of its number, and its place.
            6
        } else {
            // The brackets, comma and four names around the fields take less than that.
            64 + entity.id.len() + entity_fields(encoding, entity).len()
        };
        let fits = bytes <= room;
        room = room.saturating_sub(bytes);
        fits
    });
    let fits = fits.count();
    record.enter.truncate(fits);
    (record.write(encoding), false)
}

/// Writes the change of a chunk; no bytes: it has nothing for clients of this encoding.
pub fn change(encoding: Encoding, at: Chunk, change: &ChunkChange, replica: &Replica) -> Bytes {
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
    record.write(encoding)
}

/// Writes one thing as new in its chunk, whatever else is in it.
pub fn single(encoding: Encoding, entity: &Entity) -> Bytes {
    let record = Record {
        at: entity.chunk,
        enter: vec![entity],
        ..Record::default()
    };
    record.write(encoding)
}

/// Returns the name section of a thing.
pub fn name(entity: &Entity) -> &Bytes {
    let write = |fields: &FieldMap| {
        let mut out = BytesMut::with_capacity(64);
        let fields: Vec<_> = present(fields).collect();
        compact::name(&mut out, entity.number, &entity.id, &entity.kind, &fields);
        out.freeze()
    };
    entity.fields.written(Encoding::Compact, write)
}

/// Returns the section that says which numbers stand for nothing that the client knows.
pub fn forget(numbers: &[u32]) -> Bytes {
    let mut out = BytesMut::with_capacity(2 + 3 * numbers.len());
    compact::forget(&mut out, numbers);
    out.freeze()
}

fn present(fields: &FieldMap) -> impl Iterator<Item = compact::Change<'_>> {
    fields.iter().map(|(name, field)| (&**name, Some(field)))
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
        Format::Compact => {
            let mut head = BytesMut::with_capacity(16 + gone.len() * 6);
            compact::number(&mut head, tick);
            if !gone.is_empty() {
                compact::gone(&mut head, gone);
            }
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
    update: Vec<(&'a Entity, bool, &'a FieldChanges)>,
    leave: &'a [(Arc<str>, Numbered)],
    hits: &'a [FieldMap],
}

impl Record<'_> {
    fn write(&self, encoding: Encoding) -> Bytes {
        let things = self.enter.len() + self.update.len() + self.leave.len() + self.hits.len();
        match encoding {
            Encoding::Json => {
                let mut out = BytesMut::with_capacity(64 + 96 * things);
                self.json(&mut out);
                out.freeze()
            }
            Encoding::MessagePack => {
                let mut out = BytesMut::with_capacity(64 + 96 * things);
                self.pack(&mut out);
                out.freeze()
            }
            Encoding::Compact => self.section(true),
            Encoding::CompactWithoutPlayers => self.section(false),
        }
    }

    /// Writes a section with or without the places of players.
    fn section(&self, players: bool) -> Bytes {
        let places = |entity: &Entity| players || !entity.is_player();
        let tile = |entity: &Entity| Tile {
            x: entity.x,
            z: entity.z,
        };
        let place = |entity: &Entity| (entity.number, tile(entity));
        let mut section = ChunkSection {
            at: self.at,
            full: self.full,
            leave: self
                .leave
                .iter()
                .filter(|(_, thing)| players || !thing.player)
                .map(|(_, thing)| thing.number)
                .collect(),
            enter: self
                .enter
                .iter()
                .filter(|entity| places(entity))
                .map(|entity| place(entity))
                .collect(),
            moved: self
                .update
                .iter()
                .filter(|(entity, moved, _)| *moved && places(entity))
                .map(|(entity, _, _)| place(entity))
                .collect(),
            fields: self
                .update
                .iter()
                .filter(|(_, _, fields)| !fields.is_empty())
                .map(|(entity, _, fields)| (entity.number, changed(fields).collect()))
                .collect(),
            hits: self.hits.iter().map(|hit| present(hit).collect()).collect(),
        };
        if section.is_empty() {
            return Bytes::new();
        }
        section.leave.sort_unstable();
        section.enter.sort_unstable_by_key(|(number, _)| *number);
        section.moved.sort_unstable_by_key(|(number, _)| *number);
        section.fields.sort_unstable_by_key(|(number, _)| *number);
        let things = section.enter.len() + section.moved.len() + section.leave.len();
        let mut out = BytesMut::with_capacity(16 + 3 * things);
        section.write(&mut out);
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
        list(out, "leave", self.leave, |out, (id, _)| json_text(out, id));
        list(out, "hits", self.hits, json_value);
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
        pack_list(out, "leave", self.leave, |out, (id, _)| pack_text(out, id));
        pack_list(out, "hits", self.hits, pack_value);
    }
}

/// Returns a thing's fields in an encoding with ids.
fn entity_fields(encoding: Encoding, entity: &Entity) -> &Bytes {
    entity.fields.written(encoding, |fields| {
        let fields = present(fields);
        match encoding {
            Encoding::MessagePack => pack_fields(fields),
            Encoding::Json | Encoding::Compact | Encoding::CompactWithoutPlayers => {
                json_fields(fields)
            }
        }
    })
}

fn put(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
}

fn json_text(out: &mut BytesMut, text: &str) {
    // Writing a text to memory cannot fail.
    let _ = serde_json::to_writer(out.writer(), text);
}

fn json_value<T: serde::Serialize>(out: &mut BytesMut, value: &T) {
    // Writing to memory cannot fail, and no value here is of a type that could.
    let _ = serde_json::to_writer(out.writer(), value);
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

fn json_fields<'a>(fields: impl Iterator<Item = (&'a str, Option<&'a Field>)>) -> Bytes {
    let mut out = BytesMut::new();
    for (name, value) in fields {
        out.put_u8(b',');
        json_text(&mut out, name);
        out.put_u8(b':');
        json_value(&mut out, &value);
    }
    out.freeze()
}

fn changed(fields: &FieldChanges) -> impl Iterator<Item = (&str, Option<&Field>)> {
    fields.iter().map(|(name, field)| (&**name, field.as_ref()))
}

fn json_entity(out: &mut BytesMut, entity: &Entity) {
    put(out, "{\"id\":");
    json_text(out, &entity.id);
    put(out, ",\"type\":");
    json_text(out, &entity.kind);
    json_position(out, entity);
    out.put_slice(entity_fields(Encoding::Json, entity));
    out.put_u8(b'}');
}

fn json_position(out: &mut BytesMut, entity: &Entity) {
    put(out, ",\"x\":");
    json_value(out, &entity.x);
    put(out, ",\"z\":");
    json_value(out, &entity.z);
}

fn json_delta(out: &mut BytesMut, entity: &Entity, moved: bool, fields: &FieldChanges) {
    put(out, "{\"id\":");
    json_text(out, &entity.id);
    if moved {
        json_position(out, entity);
    }
    out.put_slice(&json_fields(changed(fields)));
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

fn pack_fields<'a>(fields: impl Iterator<Item = (&'a str, Option<&'a Field>)>) -> Bytes {
    let mut out = BytesMut::new();
    for (name, value) in fields {
        pack_text(&mut out, name);
        pack_value(&mut out, &value);
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
    out.put_slice(entity_fields(Encoding::MessagePack, entity));
}

fn pack_position(out: &mut BytesMut, entity: &Entity) {
    pack_text(out, "x");
    pack_value(out, &entity.x);
    pack_text(out, "z");
    pack_value(out, &entity.z);
}

fn pack_delta(out: &mut BytesMut, entity: &Entity, moved: bool, fields: &FieldChanges) {
    pack_map(out, 1 + if moved { 2 } else { 0 } + fields.len());
    pack_text(out, "id");
    pack_text(out, &entity.id);
    if moved {
        pack_position(out, entity);
    }
    out.put_slice(&pack_fields(changed(fields)));
}

/// Writes a value of a type that MessagePack knows.
fn pack_value<T: serde::Serialize>(out: &mut BytesMut, value: &T) {
    // Writing to memory cannot fail, and no value here is of a type that could.
    let _ = rmp_serde::encode::write_named(&mut out.writer(), value);
}

fn pack_text(out: &mut BytesMut, text: &str) {
    pack_value(out, &text);
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
