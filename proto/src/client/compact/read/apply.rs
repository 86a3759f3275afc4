//! Sections to the client's world, and what changed of it as a [`WorldUpdate`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use world::{Chunk, Tile};

use super::{
    super::super::update::{ChunkUpdate, Entity, EntityDelta, WorldUpdate},
    Decoder, Named, Placed,
    parse::{ChunkNews, Frame, NearNews, Step},
};

/// The records of one update, by chunk, in the order in which the frame spoke of them.
#[derive(Default)]
struct Records {
    order: Vec<Chunk>,
    by_chunk: BTreeMap<Chunk, ChunkUpdate>,
}

impl Records {
    fn of(&mut self, chunk: Chunk) -> &mut ChunkUpdate {
        let order = &mut self.order;
        self.by_chunk.entry(chunk).or_insert_with(|| {
            order.push(chunk);
            ChunkUpdate {
                x: chunk.x,
                z: chunk.z,
                ..ChunkUpdate::default()
            }
        })
    }
}

fn entity(named: &Named, tile: Tile) -> Entity {
    Entity {
        id: named.id.clone(),
        kind: named.kind.clone(),
        x: tile.x,
        z: tile.z,
        fields: named.fields.clone(),
    }
}

impl Decoder {
    /// Applies a frame in the order that clients keep: `gone`, `full`, `leave`, the nearest
    /// players, names, `enter`, the rest.
    pub(super) fn apply(&mut self, frame: Frame) -> WorldUpdate {
        let mut records = Records::default();
        // Numbers of which the update has to say everything, since their names are new.
        let mut anew: BTreeSet<u32> = BTreeSet::new();
        for chunk in &frame.gone {
            self.clear(*chunk);
        }
        for news in &frame.chunks {
            let record = records.of(news.at);
            record.full = news.full;
            if news.full {
                self.clear(news.at);
            }
        }
        for news in &frame.chunks {
            self.leave(news, &mut records);
        }
        // Before numbers stand for other things.
        if let Some(near) = frame.near {
            self.walk(near, &mut anew, &mut records);
        }
        for number in &frame.forget {
            if let Some(forgotten) = self.names.remove(number)
                && let Some(chunk) = self.showed(*number, &anew)
            {
                records.of(chunk).leave.push(forgotten.id);
            }
        }
        for (number, named) in frame.names {
            let showed = self.showed(number, &anew);
            let was = self.names.insert(number, named);
            let other =
                was.filter(|was| self.names.get(&number).is_some_and(|now| now.id != was.id));
            if let (Some(other), Some(chunk)) = (other, showed) {
                records.of(chunk).leave.push(other.id);
            }
            anew.insert(number);
        }
        for news in &frame.chunks {
            for (number, tile) in &news.enter {
                self.place(*number, news.at, *tile);
                anew.insert(*number);
            }
        }
        for news in &frame.chunks {
            self.change(news, &anew, &mut records);
        }
        self.show_again(&frame.chunks, &mut anew);
        for number in anew {
            if let (Some(named), Some(placed)) = (self.names.get(&number), self.placed.get(&number))
            {
                let entity = entity(named, placed.tile);
                records.of(placed.chunk).enter.push(entity);
            }
        }
        let mut by_chunk = records.by_chunk;
        let order = records.order.into_iter();
        WorldUpdate {
            tick: frame.tick,
            chunks: order.filter_map(|chunk| by_chunk.remove(&chunk)).collect(),
            gone: frame.gone.iter().map(|chunk| [chunk.x, chunk.z]).collect(),
        }
    }

    /// A full record makes a client forget the listed players of its chunk as well.
    fn show_again(&self, chunks: &[ChunkNews], anew: &mut BTreeSet<u32>) {
        for number in &self.near {
            let placed = self.placed.get(number);
            let forgotten = |news: &ChunkNews| {
                news.full && placed.is_some_and(|placed| placed.chunk == news.at)
            };
            if chunks.iter().any(forgotten) {
                anew.insert(*number);
            }
        }
    }

    fn clear(&mut self, chunk: Chunk) {
        for number in self.chunks.remove(&chunk).unwrap_or_default() {
            self.placed.remove(&number);
        }
    }

    fn leave(&mut self, news: &ChunkNews, records: &mut Records) {
        for number in &news.leave {
            let here = self.chunks.get_mut(&news.at);
            if !here.is_some_and(|here| here.remove(number)) {
                continue;
            }
            self.placed.remove(number);
            if let Some(named) = self.names.get(number) {
                records.of(news.at).leave.push(named.id.clone());
            }
        }
    }

    /// Returns the chunk in which the client showed a number before this frame. What the frame has
    /// just placed is in `anew`: a name that its number had before says nothing of it.
    fn showed(&self, number: u32, anew: &BTreeSet<u32>) -> Option<Chunk> {
        let placed = self.placed.get(&number)?;
        (!anew.contains(&number)).then_some(placed.chunk)
    }

    fn place(&mut self, number: u32, chunk: Chunk, tile: Tile) {
        if let Some(was) = self.placed.insert(number, Placed { chunk, tile })
            && was.chunk != chunk
            && let Some(there) = self.chunks.get_mut(&was.chunk)
        {
            there.remove(&number);
        }
        self.chunks.entry(chunk).or_default().insert(number);
    }

    fn change(&mut self, news: &ChunkNews, anew: &BTreeSet<u32>, records: &mut Records) {
        let here = |number: &u32| {
            let chunk = self.chunks.get(&news.at);
            chunk.is_some_and(|chunk| chunk.contains(number))
        };
        let moved: Vec<_> = news
            .moved
            .iter()
            .filter(|(number, _)| here(number))
            .collect();
        let mut deltas: BTreeMap<u32, EntityDelta> = BTreeMap::new();
        let delta = |id: &str| EntityDelta {
            id: id.to_owned(),
            x: None,
            z: None,
            fields: Map::new(),
        };
        for (number, tile) in moved {
            let placed = Placed {
                chunk: news.at,
                tile: *tile,
            };
            self.placed.insert(*number, placed);
            if let Some(named) = self.names.get(number) {
                let delta = deltas.entry(*number).or_insert_with(|| delta(&named.id));
                (delta.x, delta.z) = (Some(tile.x), Some(tile.z));
            }
        }
        for (number, fields) in &news.fields {
            let Some(named) = self.names.get_mut(number) else {
                continue;
            };
            for (name, value) in fields {
                if value.is_null() {
                    named.fields.remove(name);
                } else {
                    named.fields.insert(name.clone(), value.clone());
                }
            }
            let delta = deltas.entry(*number).or_insert_with(|| delta(&named.id));
            delta.fields.extend(fields.clone());
        }
        let shown = |number: &u32| !anew.contains(number) && self.placed.contains_key(number);
        let record = records.of(news.at);
        let deltas = deltas.into_iter().filter(|(number, _)| shown(number));
        record.update.extend(deltas.map(|(_, delta)| delta));
        let hits = news.hits.iter();
        record.hits = hits.map(|hit| Value::Object(hit.clone())).collect();
    }

    /// Moves the listed players, and lists the added ones.
    fn walk(&mut self, news: NearNews, anew: &mut BTreeSet<u32>, records: &mut Records) {
        let listed = std::mem::take(&mut self.near);
        let mut steps = news.steps.into_iter();
        for number in listed {
            let step = if news.anew {
                Step::Goes
            } else {
                steps.next().unwrap_or(Step::Goes)
            };
            let Some(was) = self.placed.get(&number).copied() else {
                continue;
            };
            let tile = match step {
                Step::Goes => {
                    self.placed.remove(&number);
                    if let Some(named) = self.names.get(&number) {
                        records.of(was.chunk).leave.push(named.id.clone());
                    }
                    continue;
                }
                Step::Stands => was.tile,
                Step::By(x, z) => Tile {
                    x: was.tile.x.saturating_add(x),
                    z: was.tile.z.saturating_add(z),
                },
                Step::To(tile) => tile,
            };
            self.near.push(number);
            if tile != was.tile {
                self.step(number, was, tile, anew, records);
            }
        }
        for (number, tile) in news.added {
            if self.near.contains(&number) {
                continue;
            }
            let chunk = Chunk::from(tile);
            self.placed.insert(number, Placed { chunk, tile });
            self.near.push(number);
            anew.insert(number);
        }
    }

    fn step(
        &mut self,
        number: u32,
        was: Placed,
        tile: Tile,
        anew: &mut BTreeSet<u32>,
        records: &mut Records,
    ) {
        let chunk = Chunk::from(tile);
        self.placed.insert(number, Placed { chunk, tile });
        let Some(named) = self.names.get(&number) else {
            return;
        };
        if was.chunk == chunk {
            if !anew.contains(&number) {
                records.of(chunk).update.push(EntityDelta {
                    id: named.id.clone(),
                    x: Some(tile.x),
                    z: Some(tile.z),
                    fields: Map::new(),
                });
            }
        } else {
            records.of(was.chunk).leave.push(named.id.clone());
            anew.insert(number);
        }
    }
}
