//! The world as this run has last published it, and the changes since. Pure.
//!
//! Always: a full record, with all later changes of its chunk applied in order, equals a full
//! record of now. A change is encoded once, however many gateways see it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message;
use proto::rpc::{
    common::v1 as common,
    zone::v1::{ChunkFrame, Entity, EntityDelta, Leave},
};
use serde::ser::{SerializeMap, Serializer};
use world::{Chunk, EntityId, Field, Tile};

/// A thing as all may see it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Appearance {
    pub(crate) kind: &'static str,
    pub(crate) tile: Tile,
    /// Sequence of the owner; 0 for a thing that never changes its owner by itself.
    pub(crate) sequence: u64,
    /// Further public fields; each name occurs once.
    pub(crate) fields: Vec<(&'static str, Field)>,
}

/// The published things, and the changes since the last flush.
#[derive(Debug, Default)]
pub(crate) struct Published {
    things: BTreeMap<EntityId, Appearance>,
    chunks: BTreeMap<Chunk, BTreeSet<EntityId>>,
    /// Full records that are still valid.
    full: BTreeMap<Chunk, Bytes>,
    changes: BTreeMap<Chunk, ChunkFrame>,
}

impl Published {
    /// Notes how `id` looks now. `None`: it is gone, to another run when `transferred`. The run
    /// calls this once for each thing between two calls of [`Self::flush`].
    pub(crate) fn show(&mut self, id: &EntityId, now: Option<Appearance>, transferred: bool) {
        match (self.things.remove(id), now) {
            (None, None) => {}
            (None, Some(now)) => self.enter(id, now),
            (Some(before), None) => self.leave(id, &before, transferred, false),
            (Some(before), Some(now)) => {
                let same = Chunk::from(before.tile) == Chunk::from(now.tile)
                    && before.sequence == now.sequence
                    && before.kind == now.kind;
                if same {
                    self.update(id, &before, now);
                } else {
                    self.leave(id, &before, false, true);
                    self.enter(id, now);
                }
            }
        }
    }

    /// Shows `shown`, a JSON text, once in a chunk and does not keep it.
    pub(crate) fn hit(&mut self, chunk: Chunk, shown: Bytes) {
        self.change(chunk).hits.push(shown);
    }

    /// Returns the kind and tile of each thing that is shown now.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (&'static str, Tile)> {
        self.things.values().map(|thing| (thing.kind, thing.tile))
    }

    /// Returns the changes since the last call by chunk, as encoded `ChunkFrame`s.
    pub(crate) fn flush(&mut self) -> BTreeMap<Chunk, Bytes> {
        let changes = std::mem::take(&mut self.changes);
        let encode = |(chunk, frame): (Chunk, ChunkFrame)| (chunk, frame.encode_to_vec().into());
        changes.into_iter().map(encode).collect()
    }

    /// Returns all that is published of a chunk, as an encoded `ChunkFrame`.
    pub(crate) fn full(&mut self, chunk: Chunk) -> Bytes {
        if let Some(bytes) = self.full.get(&chunk) {
            return bytes.clone();
        }
        let ids = self.chunks.get(&chunk).into_iter().flatten();
        let things = ids.filter_map(|id| self.things.get(id).map(|thing| entity(id, thing)));
        let frame = ChunkFrame {
            full: true,
            enter: things.collect(),
            ..empty(chunk)
        };
        let bytes = Bytes::from(frame.encode_to_vec());
        self.full.insert(chunk, bytes.clone());
        bytes
    }

    /// Returns the full records of all chunks that hold anything.
    pub(crate) fn snapshot(&mut self) -> BTreeMap<Chunk, Bytes> {
        let chunks: Vec<Chunk> = self.chunks.keys().copied().collect();
        let full = chunks.into_iter().map(|chunk| (chunk, self.full(chunk)));
        full.collect()
    }

    fn change(&mut self, chunk: Chunk) -> &mut ChunkFrame {
        self.full.remove(&chunk);
        self.changes.entry(chunk).or_insert_with(|| empty(chunk))
    }

    fn enter(&mut self, id: &EntityId, now: Appearance) {
        let chunk = Chunk::from(now.tile);
        self.change(chunk).enter.push(entity(id, &now));
        self.chunks.entry(chunk).or_default().insert(id.clone());
        self.things.insert(id.clone(), now);
    }

    fn leave(&mut self, id: &EntityId, before: &Appearance, transferred: bool, moved: bool) {
        let chunk = Chunk::from(before.tile);
        self.change(chunk).leave.push(Leave {
            id: id.to_string(),
            ownership_sequence: before.sequence,
            transferred,
            moved,
        });
        if let Some(ids) = self.chunks.get_mut(&chunk) {
            ids.remove(id);
            if ids.is_empty() {
                self.chunks.remove(&chunk);
            }
        }
    }

    fn update(&mut self, id: &EntityId, before: &Appearance, now: Appearance) {
        let changed = |was: i32, is: i32| (was != is).then_some(is);
        let delta = EntityDelta {
            id: id.to_string(),
            x: changed(before.tile.x, now.tile.x),
            z: changed(before.tile.z, now.tile.z),
            fields: json(&difference(&before.fields, &now.fields)),
        };
        if delta.x.is_some() || delta.z.is_some() || !delta.fields.is_empty() {
            self.change(Chunk::from(now.tile)).update.push(delta);
        }
        self.things.insert(id.clone(), now);
    }
}

fn empty(chunk: Chunk) -> ChunkFrame {
    ChunkFrame {
        chunk: Some(common::Chunk {
            x: chunk.x,
            z: chunk.z,
        }),
        ..ChunkFrame::default()
    }
}

fn entity(id: &EntityId, thing: &Appearance) -> Entity {
    Entity {
        id: id.to_string(),
        kind: thing.kind.to_owned(),
        x: thing.tile.x,
        z: thing.tile.z,
        ownership_sequence: thing.sequence,
        fields: json(&all(&thing.fields)),
    }
}

/// Fields as the run tells them; `None` removes one.
type Told<'a> = Vec<(&'static str, Option<&'a Field>)>;

fn all<'a>(fields: &'a [(&'static str, Field)]) -> Told<'a> {
    fields
        .iter()
        .map(|(name, field)| (*name, Some(field)))
        .collect()
}

/// Returns the changes that turn `before` into `now`; `None`: the field goes.
fn difference<'a>(before: &[(&'static str, Field)], now: &'a [(&'static str, Field)]) -> Told<'a> {
    let removed = before
        .iter()
        .filter(|(name, _)| now.iter().all(|(n, _)| n != name));
    let removed = removed.map(|(name, _)| (*name, None));
    let set = now.iter().filter(|field| !before.contains(field));
    removed
        .chain(set.map(|(name, field)| (*name, Some(field))))
        .collect()
}

/// Returns one JSON object, or no bytes if there are no fields.
fn json(fields: &Told<'_>) -> Bytes {
    if fields.is_empty() {
        return Bytes::new();
    }
    let mut out = Vec::with_capacity(64);
    let mut writer = serde_json::Serializer::new(&mut out);
    let written = writer
        .serialize_map(Some(fields.len()))
        .and_then(|mut map| {
            for (name, field) in fields {
                match field {
                    None => map.serialize_entry(name, &())?,
                    Some(Field::Text(text)) => map.serialize_entry(name, text)?,
                    Some(Field::Int(number)) => map.serialize_entry(name, number)?,
                    Some(Field::Bool(flag)) => map.serialize_entry(name, flag)?,
                }
            }
            map.end()
        });
    // Plain values under text keys always have a JSON text.
    written.map(|()| out).unwrap_or_default().into()
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
