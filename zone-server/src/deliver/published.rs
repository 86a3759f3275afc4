//! The world as this run has last published it, and the changes since. Pure.
//!
//! Always: a full record, with all later changes of its chunk applied in order, equals a full
//! record of now. A change is encoded once, however many gateways see it, and once more if some of
//! them do not read typed fields.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use prost::Message;
use proto::rpc::{
    common::v1 as common,
    zone::v1::{self as wire, ChunkFrame, Entity, EntityDelta, Leave},
};
use world::{Chunk, EntityId, Field, Tile};

use super::json_fields;

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

impl Appearance {
    /// Returns whether the thing stays in its chunk, with its owner and of its kind, if it looks like
    /// `now` next.
    fn stays_as(&self, now: &Self) -> bool {
        Chunk::from(self.tile) == Chunk::from(now.tile)
            && self.sequence == now.sequence
            && self.kind == now.kind
    }
}

/// How a gateway reads the fields of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fields {
    /// As JSON texts, as release 0.2.0 does.
    #[default]
    Json,
    /// As typed fields.
    Typed,
}

/// News of one chunk, encoded at most once for each reading of fields.
#[derive(Debug, Clone)]
pub(crate) struct News(Arc<(ChunkFrame, OnceLock<Bytes>, OnceLock<Bytes>)>);

impl News {
    fn new(frame: ChunkFrame) -> Self {
        Self(Arc::new((frame, OnceLock::new(), OnceLock::new())))
    }

    /// Returns an encoded `ChunkFrame`.
    pub(crate) fn encoded(&self, fields: Fields) -> Bytes {
        let (frame, typed, json) = &*self.0;
        let bytes = match fields {
            Fields::Typed => typed.get_or_init(|| frame.encode_to_vec().into()),
            Fields::Json => {
                json.get_or_init(|| json_fields::frame(frame.clone()).encode_to_vec().into())
            }
        };
        bytes.clone()
    }
}

/// The published things, and the changes since the last flush.
#[derive(Debug, Default)]
pub(crate) struct Published {
    things: BTreeMap<EntityId, Appearance>,
    chunks: BTreeMap<Chunk, BTreeSet<EntityId>>,
    /// Full records that are still valid.
    full: BTreeMap<Chunk, News>,
    changes: BTreeMap<Chunk, ChunkFrame>,
}

impl Published {
    /// Notes how `id` looks now. `None`: it is gone, to another run when `transferred`. The run
    /// calls this once for each thing between two calls of [`Self::flush`].
    pub(crate) fn show(&mut self, id: &EntityId, now: Option<Appearance>, transferred: bool) {
        let Some(now) = now else {
            if let Some(before) = self.things.remove(id) {
                self.leave(id, &before, transferred, false);
            }
            return;
        };
        match self.things.get_mut(id) {
            Some(shown) if shown.stays_as(&now) => {
                let (delta, chunk) = (delta(id, shown, &now), Chunk::from(now.tile));
                *shown = now;
                if delta.x.is_some() || delta.z.is_some() || !delta.typed_fields.is_empty() {
                    self.change(chunk).update.push(delta);
                }
            }
            Some(shown) => {
                let before = std::mem::replace(shown, now.clone());
                self.leave(id, &before, false, true);
                self.enter(id, &now);
            }
            None => {
                self.enter(id, &now);
                self.things.insert(id.clone(), now);
            }
        }
    }

    /// Shows something once in a chunk and does not keep it.
    pub(crate) fn moment(&mut self, chunk: Chunk, shown: &BTreeMap<String, Field>) {
        let fields = shown.iter().map(|(name, field)| (&**name, Some(field)));
        let fields = typed(fields);
        self.change(chunk).moments.push(wire::Moment { fields });
    }

    /// Returns the kind and tile of each thing that is shown now.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (&'static str, Tile)> {
        self.things.values().map(|thing| (thing.kind, thing.tile))
    }

    /// Returns the changes since the last call, by chunk.
    pub(crate) fn flush(&mut self) -> BTreeMap<Chunk, News> {
        let changes = std::mem::take(&mut self.changes).into_iter();
        changes
            .map(|(chunk, frame)| (chunk, News::new(frame)))
            .collect()
    }

    /// Returns all that is published of a chunk.
    pub(crate) fn full(&mut self, chunk: Chunk) -> News {
        if let Some(news) = self.full.get(&chunk) {
            return news.clone();
        }
        let ids = self.chunks.get(&chunk).into_iter().flatten();
        let things = ids.filter_map(|id| self.things.get(id).map(|thing| entity(id, thing)));
        let news = News::new(ChunkFrame {
            full: true,
            enter: things.collect(),
            ..empty(chunk)
        });
        self.full.insert(chunk, news.clone());
        news
    }

    /// Returns the full records of all chunks that hold anything.
    pub(crate) fn snapshot(&mut self) -> BTreeMap<Chunk, News> {
        let chunks: Vec<Chunk> = self.chunks.keys().copied().collect();
        let full = chunks.into_iter().map(|chunk| (chunk, self.full(chunk)));
        full.collect()
    }

    fn change(&mut self, chunk: Chunk) -> &mut ChunkFrame {
        self.full.remove(&chunk);
        self.changes.entry(chunk).or_insert_with(|| empty(chunk))
    }

    fn enter(&mut self, id: &EntityId, now: &Appearance) {
        let chunk = Chunk::from(now.tile);
        self.change(chunk).enter.push(entity(id, now));
        self.chunks.entry(chunk).or_default().insert(id.clone());
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
}

/// Returns the change of a thing that stays in its chunk and with its owner.
fn delta(id: &EntityId, before: &Appearance, now: &Appearance) -> EntityDelta {
    let changed = |was: i32, is: i32| (was != is).then_some(is);
    EntityDelta {
        id: id.to_string(),
        x: changed(before.tile.x, now.tile.x),
        z: changed(before.tile.z, now.tile.z),
        typed_fields: typed(difference(&before.fields, &now.fields)),
        ..EntityDelta::default()
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
        typed_fields: typed(
            thing
                .fields
                .iter()
                .map(|(name, field)| (&**name, Some(field))),
        ),
        ..Entity::default()
    }
}

/// Returns the changes that turn `before` into `now`; `None`: the field goes.
fn difference<'a>(
    before: &'a [(&'static str, Field)],
    now: &'a [(&'static str, Field)],
) -> impl Iterator<Item = (&'a str, Option<&'a Field>)> {
    let removed = before
        .iter()
        .filter(move |(name, _)| now.iter().all(|(n, _)| n != name));
    let removed = removed.map(|(name, _)| (&**name, None));
    let set = now.iter().filter(move |field| !before.contains(field));
    removed.chain(set.map(|(name, field)| (&**name, Some(field))))
}

/// Returns fields as the run tells them; `None`: the field goes.
fn typed<'a>(fields: impl Iterator<Item = (&'a str, Option<&'a Field>)>) -> Vec<wire::Field> {
    let value = |field: &Field| match field {
        Field::Text(text) => wire::field::Value::Text(text.to_string()),
        Field::Int(number) => wire::field::Value::Number(*number),
        Field::Bool(flag) => wire::field::Value::Flag(*flag),
    };
    let typed = fields.map(|(name, field)| wire::Field {
        name: name.to_owned(),
        value: field.map(value),
    });
    typed.collect()
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
