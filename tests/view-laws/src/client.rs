//! A client that does as the protocol says, and nothing more.

use std::collections::{BTreeMap, BTreeSet};

use proto::client::update::{Entity, WorldUpdate};
use serde_json::{Map, Value};
use world::Chunk;

use view::replica::Replica;

/// View of one thing.
pub(super) type Seen = (i32, i32, String, Map<String, Value>);

#[derive(Debug, Default, Clone)]
pub(super) struct Client {
    things: BTreeMap<String, (Chunk, Seen)>,
    /// Chunks of which it has something.
    chunks: BTreeSet<Chunk>,
}

fn seen(entity: Entity) -> Seen {
    (entity.x, entity.z, entity.kind, entity.fields)
}

/// Returns the replica's things of a chunk.
pub(super) fn held(replica: &Replica, chunk: Chunk) -> BTreeMap<String, Seen> {
    let Some(state) = replica.chunk(chunk) else {
        return BTreeMap::new();
    };
    let things = state.entities().filter_map(|id| replica.entity(id));
    let seen = things.map(|entity| {
        let fields = serde_json::to_value(entity.fields.map()).expect("JSON");
        let Value::Object(fields) = fields else {
            panic!("no object")
        };
        (
            entity.id.to_string(),
            (entity.x, entity.z, entity.kind.to_string(), fields),
        )
    });
    seen.collect()
}

impl Client {
    pub(super) fn apply(&mut self, update: WorldUpdate) {
        for [x, z] in update.gone {
            self.clear(Chunk { x, z });
            self.chunks.remove(&Chunk { x, z });
        }
        for record in update.chunks.iter().filter(|record| record.full) {
            let chunk = Chunk {
                x: record.x,
                z: record.z,
            };
            self.clear(chunk);
            self.chunks.insert(chunk);
        }
        for record in &update.chunks {
            let chunk = Chunk {
                x: record.x,
                z: record.z,
            };
            for id in &record.leave {
                if self.things.get(id).is_some_and(|(at, _)| *at == chunk) {
                    self.things.remove(id);
                }
            }
        }
        let mut deltas = Vec::new();
        for record in update.chunks {
            let chunk = Chunk {
                x: record.x,
                z: record.z,
            };
            for entity in record.enter {
                assert!(
                    self.chunks.contains(&chunk),
                    "{} in an unknown chunk",
                    entity.id
                );
                self.things.insert(entity.id.clone(), (chunk, seen(entity)));
            }
            deltas.extend(record.update);
        }
        for delta in deltas {
            let (_, thing) = self
                .things
                .get_mut(&delta.id)
                .unwrap_or_else(|| panic!("a delta of something unknown: {delta:?}"));
            thing.0 = delta.x.unwrap_or(thing.0);
            thing.1 = delta.z.unwrap_or(thing.1);
            for (name, value) in delta.fields {
                if value.is_null() {
                    thing.3.remove(&name);
                } else {
                    thing.3.insert(name, value);
                }
            }
        }
    }

    fn clear(&mut self, chunk: Chunk) {
        self.things.retain(|_, (at, _)| *at != chunk);
    }

    pub(super) fn chunk(&self, chunk: Chunk) -> BTreeMap<String, Seen> {
        let here = self.things.iter().filter(|(_, (at, _))| *at == chunk);
        here.map(|(id, (_, seen))| (id.clone(), seen.clone()))
            .collect()
    }

    /// Returns the ids of the client's things.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.things.keys().cloned().collect()
    }

    /// Returns the number of the client's things beyond these chunks.
    pub(super) fn outside(&self, chunks: &BTreeSet<Chunk>) -> usize {
        self.things
            .values()
            .filter(|(at, _)| !chunks.contains(at))
            .count()
    }
}
