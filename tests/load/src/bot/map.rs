//! A client's map of the world, kept by applying every `world:update` in the documented order.
//! Pure. Always: each entity is in exactly one known chunk, the one in which its position lies.
//! Otherwise the map has counted the update that broke this as a fault.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proto::client::update::{ChunkUpdate, Entity, EntityDelta, WorldUpdate};

/// A chunk's coordinates.
pub type ChunkAt = (i32, i32);

/// Returns the chunk of a tile.
pub fn chunk_of(x: i32, z: i32) -> ChunkAt {
    (x.div_euclid(8), z.div_euclid(8))
}

/// A client's knowledge of its surroundings.
#[derive(Debug, Clone, Default)]
pub struct Map {
    chunks: BTreeMap<ChunkAt, BTreeSet<String>>,
    entities: HashMap<String, Entity>,
    faults: Vec<String>,
    faults_count: u64,
}

impl Map {
    /// Applies one update: `gone`, `full`, `leave`, `enter`, `update`, each over all its records.
    pub fn apply(&mut self, update: WorldUpdate) {
        for [x, z] in update.gone {
            self.forget((x, z));
        }
        for record in update.chunks.iter().filter(|record| record.full) {
            self.forget((record.x, record.z));
            self.chunks.insert((record.x, record.z), BTreeSet::new());
        }
        for record in &update.chunks {
            self.leave(record);
        }
        let mut updates = Vec::new();
        for record in update.chunks {
            let at = (record.x, record.z);
            for entity in record.enter {
                self.enter(at, entity);
            }
            updates.extend(record.update);
        }
        for delta in updates {
            self.change(delta);
        }
    }

    /// Forgets everything, as for a synchronisation from nothing.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.entities.clear();
    }

    /// Returns an entity, if it is in sight.
    pub fn entity(&self, id: &str) -> Option<&Entity> {
        self.entities.get(id)
    }

    /// Returns all entities in sight, in no order.
    pub fn entities(&self) -> impl Iterator<Item = &Entity> {
        self.entities.values()
    }

    /// Returns the chunks that are known.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkAt> + '_ {
        self.chunks.keys().copied()
    }

    /// Returns the number of updates that did not fit the map, and the first of them in words.
    pub fn faults(&self) -> (u64, &[String]) {
        (self.faults_count, &self.faults)
    }

    fn fault(&mut self, what: String) {
        self.faults_count += 1;
        if self.faults.len() < 20 {
            self.faults.push(what);
        }
    }

    fn forget(&mut self, at: ChunkAt) {
        for id in self.chunks.remove(&at).unwrap_or_default() {
            self.entities.remove(&id);
        }
    }

    fn leave(&mut self, record: &ChunkUpdate) {
        let Some(ids) = self.chunks.get_mut(&(record.x, record.z)) else {
            return;
        };
        for id in &record.leave {
            if ids.remove(id) {
                self.entities.remove(id);
            }
        }
    }

    fn enter(&mut self, at: ChunkAt, entity: Entity) {
        if chunk_of(entity.x, entity.z) != at {
            let Entity { id, x, z, .. } = &entity;
            self.fault(format!("{id} at {x},{z} entered chunk {at:?}"));
            return;
        }
        if !self.chunks.contains_key(&at) {
            let id = &entity.id;
            self.fault(format!(
                "{id} entered chunk {at:?}, which was never sent in full"
            ));
            return;
        }
        self.take_out(&entity.id);
        if let Some(ids) = self.chunks.get_mut(&at) {
            ids.insert(entity.id.clone());
        }
        self.entities.insert(entity.id.clone(), entity);
    }

    fn take_out(&mut self, id: &str) {
        let Some(old) = self.entities.remove(id) else {
            return;
        };
        if let Some(ids) = self.chunks.get_mut(&chunk_of(old.x, old.z)) {
            ids.remove(id);
        }
    }

    fn change(&mut self, delta: EntityDelta) {
        let Some(entity) = self.entities.get_mut(&delta.id) else {
            self.fault(format!("update of {}, which is not in sight", delta.id));
            return;
        };
        let before = chunk_of(entity.x, entity.z);
        entity.x = delta.x.unwrap_or(entity.x);
        entity.z = delta.z.unwrap_or(entity.z);
        for (name, value) in delta.fields {
            if value.is_null() {
                entity.fields.remove(&name);
            } else {
                entity.fields.insert(name, value);
            }
        }
        let after = chunk_of(entity.x, entity.z);
        if before != after {
            // An update never moves between chunks: that is a leave and an enter.
            self.entities.remove(&delta.id);
            if let Some(ids) = self.chunks.get_mut(&before) {
                ids.remove(&delta.id);
            }
            self.fault(format!(
                "update took {} from {before:?} to {after:?}",
                delta.id
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(map: &mut Map, updates: &[serde_json::Value]) {
        for update in updates {
            map.apply(serde_json::from_value(update.clone()).unwrap());
        }
    }

    fn full(x: i32, z: i32, enter: serde_json::Value) -> serde_json::Value {
        json!({"x": x, "z": z, "full": true, "enter": enter})
    }

    #[test]
    fn who_changes_chunk_stays_in_sight_whatever_the_order_of_records() {
        for reversed in [false, true] {
            let mut map = Map::default();
            let ann = json!({"id": "ann", "type": "player", "x": 7, "z": 0, "name": "Ann"});
            let moved = json!({"id": "ann", "type": "player", "x": 8, "z": 0, "name": "Ann"});
            applied(
                &mut map,
                &[json!({"tick": 1, "chunks": [full(0, 0, json!([ann])), full(1, 0, json!([]))]})],
            );
            let mut records = vec![
                json!({"x": 0, "z": 0, "leave": ["ann"]}),
                json!({"x": 1, "z": 0, "enter": [moved]}),
            ];
            if reversed {
                records.reverse();
            }
            applied(&mut map, &[json!({"tick": 2, "chunks": records})]);
            assert_eq!(map.entity("ann").map(|e| (e.x, e.z)), Some((8, 0)));
            assert_eq!(map.faults().0, 0);
        }
    }

    #[test]
    fn a_full_chunk_replaces_what_was_known_of_it() {
        let mut map = Map::default();
        let goat = json!({"id": "goat", "type": "npc", "x": 1, "z": 1});
        applied(
            &mut map,
            &[
                json!({"tick": 1, "chunks": [full(0, 0, json!([goat]))]}),
                json!({"tick": 2, "chunks": [full(0, 0, json!([]))]}),
            ],
        );
        assert!(map.entity("goat").is_none());
        assert_eq!(map.chunks().count(), 1);
    }

    #[test]
    fn null_removes_a_field_and_gone_removes_a_chunk() {
        let mut map = Map::default();
        let goat = json!({"id": "goat", "type": "npc", "x": 1, "z": 1, "mood": "bad"});
        applied(
            &mut map,
            &[
                json!({"tick": 1, "chunks": [full(0, 0, json!([goat]))]}),
                json!({"tick": 2, "chunks": [
                    {"x": 0, "z": 0, "update": [{"id": "goat", "x": 2, "mood": null}]}]}),
            ],
        );
        let goat = map.entity("goat").unwrap();
        assert_eq!((goat.x, goat.fields.get("mood")), (2, None));
        applied(
            &mut map,
            &[json!({"tick": 3, "chunks": [], "gone": [[0, 0]]})],
        );
        assert_eq!((map.chunks().count(), map.entities().count()), (0, 0));
        assert_eq!(map.faults().0, 0);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut map = Map::default();
        let stray = json!({"id": "a", "type": "npc", "x": 80, "z": 0});
        applied(
            &mut map,
            &[
                json!({"tick": 1, "chunks": [full(0, 0, json!([stray]))]}),
                json!({"tick": 2, "chunks": [{"x": 0, "z": 0, "update": [{"id": "b", "x": 1}]}]}),
                json!({"tick": 3, "chunks": [{"x": 9, "z": 9, "enter": [
                    {"id": "c", "type": "npc", "x": 72, "z": 72}]}]}),
            ],
        );
        assert_eq!(map.faults().0, 3);
    }

    #[test]
    fn a_leave_counts_only_in_the_chunk_where_the_entity_is() {
        let mut map = Map::default();
        let ann = json!({"id": "ann", "type": "player", "x": 8, "z": 0});
        applied(
            &mut map,
            &[
                json!({"tick": 1, "chunks": [full(0, 0, json!([])), full(1, 0, json!([ann]))]}),
                json!({"tick": 2, "chunks": [{"x": 0, "z": 0, "leave": ["ann"]}]}),
            ],
        );
        assert!(map.entity("ann").is_some());
    }
}
