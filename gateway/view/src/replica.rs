//! The world as all zones together describe it.
//!
//! Always: a thing is in one chunk. The replica drops words on a thing under a lower ownership
//! sequence than the highest seen. A run's words on a chunk do not count before its `full`. A chunk
//! that was whole once stays readable while its owners change, until the gateway drops it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use foldhash::HashMap;
use proto::rpc::zone::v1 as wire;
use world::Chunk;

use super::{
    changes::{Changes, Numbered, Renamed, Touched},
    encode::Encoding,
    entity::{Entity, FieldMap, Fields, PLAYER, present, read_fields},
    things::Things,
};

/// Ticks for which a thing that went to another run waits for that run to publish it.
const TRANSFER_TICKS: u64 = 2;
/// Ticks for which the replica remembers the sequence of a thing that is gone.
const REMEMBER_TICKS: u64 = 20;

/// One chunk.
#[derive(Debug, Default)]
pub struct ChunkState {
    /// Runs that may have something in it, and whether each has said all.
    runs: BTreeMap<u64, bool>,
    /// Whether all runs that may have something near it are among `runs`.
    complete: bool,
    /// Whether every run has said all, once.
    ready: bool,
    entities: BTreeMap<Arc<str>, Numbered>,
    /// Its snapshot as written, by encoding, and whether it is all of it.
    snapshot: [OnceLock<(Bytes, bool)>; Encoding::COUNT],
}

impl ChunkState {
    /// Returns whether it can be shown.
    pub fn ready(&self) -> bool {
        self.ready
    }

    /// Returns whether some run has yet to say what is in it.
    pub fn is_awaited(&self) -> bool {
        !self.ready && !self.runs.is_empty()
    }

    /// Returns the ids of the things in it.
    pub fn entities(&self) -> impl Iterator<Item = &Arc<str>> {
        self.entities.keys()
    }

    /// Returns the things in it by number.
    pub fn numbered(&self) -> impl Iterator<Item = Numbered> {
        self.entities.values().copied()
    }

    /// Returns its snapshot in an encoding, and whether that is all of the chunk; on the first call
    /// `write` makes it.
    pub fn snapshot(
        &self,
        encoding: Encoding,
        write: impl FnOnce() -> (Bytes, bool),
    ) -> &(Bytes, bool) {
        self.snapshot[encoding.index()].get_or_init(write)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Replica {
    things: Things,
    chunks: HashMap<Chunk, ChunkState>,
    /// Sequences of things that are gone, with the ticks at which they went.
    gone: HashMap<Arc<str>, (u64, u64)>,
    /// Things that went to another run and wait for it to publish them.
    departing: BTreeSet<Arc<str>>,
    touched: HashMap<Arc<str>, Touched>,
    hits: HashMap<Chunk, Vec<FieldMap>>,
    flushes: u64,
    tick: u64,
    malformed: u64,
}

impl Replica {
    /// Returns the highest tick applied.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the numbers of things and of chunks.
    pub fn size(&self) -> (usize, usize) {
        (self.things.len(), self.chunks.len())
    }

    /// Takes the number of records that made no sense since the last call.
    pub fn take_malformed(&mut self) -> u64 {
        std::mem::take(&mut self.malformed)
    }

    /// Returns a subscribed chunk.
    pub fn chunk(&self, chunk: Chunk) -> Option<&ChunkState> {
        self.chunks.get(&chunk)
    }

    /// Returns a thing.
    pub fn entity(&self, id: &str) -> Option<&Entity> {
        self.things.get(id)
    }

    /// Returns the thing for which a number stands.
    pub fn numbered(&self, number: u32) -> Option<&Entity> {
        self.things.numbered(number)
    }

    /// Sets the runs that have to describe a chunk. `complete`: no other run owns something near
    /// it.
    pub fn set_runs(&mut self, chunk: Chunk, runs: &[u64], complete: bool) {
        let state = self.chunks.entry(chunk).or_default();
        state.runs.retain(|run, _| runs.contains(run));
        for run in runs {
            state.runs.entry(*run).or_insert(false);
        }
        state.complete = complete;
        self.settle(chunk);
    }

    /// Forgets a chunk without a session near it.
    pub fn drop_chunk(&mut self, chunk: Chunk) {
        let Some(state) = self.chunks.remove(&chunk) else {
            return;
        };
        for id in state.entities.into_keys() {
            self.departing.remove(&id);
            self.things.remove(&id);
            self.things.give_back(&id);
        }
        self.hits.remove(&chunk);
    }

    /// Notes that a run's streams opened anew: it has to say all again.
    pub fn restart(&mut self, run: u64) {
        for state in self.chunks.values_mut() {
            if let Some(full) = state.runs.get_mut(&run) {
                *full = false;
            }
        }
    }

    /// Takes a run's word on one tick.
    pub fn apply(&mut self, run: u64, tick: u64, chunks: Vec<wire::ChunkFrame>) {
        self.tick = self.tick.max(tick);
        let mut full = Vec::new();
        let mut heard = Vec::with_capacity(chunks.len());
        for frame in chunks {
            let Some(at) = frame.chunk else {
                self.malformed += 1;
                continue;
            };
            let chunk = Chunk { x: at.x, z: at.z };
            let told = self
                .chunks
                .get_mut(&chunk)
                .and_then(|state| state.runs.get_mut(&run));
            match told {
                Some(told) if frame.full => {
                    *told = true;
                    full.push(chunk);
                    self.begin_full(run, chunk, &frame.enter);
                }
                Some(true) => {}
                // The gateway does not ask for it any more, or the full record is still to come.
                Some(false) | None => continue,
            }
            heard.push((chunk, frame));
        }
        // As clients do: leave, enter, update, over all chunks.
        for (chunk, frame) in &heard {
            for leave in &frame.leave {
                self.leave(run, tick, *chunk, leave);
            }
        }
        let mut updates = Vec::new();
        for (chunk, frame) in heard {
            for enter in frame.enter {
                self.enter(run, chunk, enter);
            }
            updates.push((chunk, frame.update));
            let json = frame.hits.iter().map(|hit| read_fields(hit, Vec::new()));
            let typed = frame.moments.into_iter();
            let typed = typed.map(|moment| read_fields(&[], moment.fields));
            for hit in json.chain(typed) {
                match hit {
                    Ok(hit) => self.hits.entry(chunk).or_default().push(present(hit)),
                    Err(_) => self.malformed += 1,
                }
            }
        }
        for (chunk, deltas) in updates {
            for delta in deltas {
                self.update(run, chunk, delta);
            }
        }
        for chunk in full {
            self.settle(chunk);
        }
    }

    /// Forgets the run's earlier things in the chunk, except those that it names again.
    fn begin_full(&mut self, run: u64, chunk: Chunk, again: &[wire::Entity]) {
        let again: BTreeSet<&str> = again.iter().map(|entity| entity.id.as_str()).collect();
        let Some(state) = self.chunks.get(&chunk) else {
            return;
        };
        let of_run = |id: &&Arc<str>| self.things.get(id).is_some_and(|e| e.run == run);
        let stale = state
            .entities
            .keys()
            .filter(|id| !again.contains(&***id))
            .filter(of_run);
        for id in stale.cloned().collect::<Vec<_>>() {
            self.remove(&id);
        }
    }

    fn leave(&mut self, run: u64, tick: u64, chunk: Chunk, leave: &wire::Leave) {
        let sequence = leave.ownership_sequence;
        let Some(entity) = self.things.get_mut(leave.id.as_str()) else {
            return;
        };
        if sequence < entity.sequence || entity.chunk != chunk {
            return;
        }
        if entity.run != run && sequence == entity.sequence {
            return;
        }
        let id = Arc::clone(&entity.id);
        if leave.transferred {
            self.depart(&id);
            return;
        }
        self.remove(&id);
        if sequence > 0 && !leave.moved {
            self.gone.insert(id, (sequence, tick));
        }
    }

    fn enter(&mut self, run: u64, chunk: Chunk, enter: wire::Entity) {
        let sequence = enter.ownership_sequence;
        if self
            .gone
            .get(enter.id.as_str())
            .is_some_and(|(gone, _)| *gone > sequence)
        {
            return;
        }
        let Ok(fields) = read_fields(&enter.fields, enter.typed_fields) else {
            self.malformed += 1;
            return;
        };
        let fields = present(fields);
        let id: Arc<str> = match self.things.get_mut(enter.id.as_str()) {
            Some(known) if known.sequence > sequence => return,
            Some(known) => {
                let same = known.chunk == chunk
                    && (known.x, known.z) == (enter.x, enter.z)
                    && *known.kind == *enter.kind
                    && *known.fields.map() == fields;
                let id = Arc::clone(&known.id);
                if same {
                    known.run = run;
                    known.sequence = sequence;
                    known.departs = None;
                    self.departing.remove(&id);
                    return;
                }
                id
            }
            None => enter.id.as_str().into(),
        };
        self.remove(&id);
        self.touch(&id, None).replaced = true;
        let number = self.things.number(&id);
        if let Some(state) = self.chunks.get_mut(&chunk) {
            let player = enter.kind == PLAYER;
            state
                .entities
                .insert(Arc::clone(&id), Numbered { number, player });
            state.snapshot = Default::default();
        }
        let entity = Entity {
            id,
            number,
            kind: enter.kind.into(),
            x: enter.x,
            z: enter.z,
            chunk,
            run,
            sequence,
            fields: Fields::new(fields),
            departs: None,
        };
        self.things.insert(entity);
    }

    fn update(&mut self, run: u64, chunk: Chunk, delta: wire::EntityDelta) {
        let Some(entity) = self.things.get_mut(delta.id.as_str()) else {
            return;
        };
        if entity.run != run || entity.chunk != chunk {
            return;
        }
        let Ok(fields) = read_fields(&delta.fields, delta.typed_fields) else {
            self.malformed += 1;
            return;
        };
        entity.x = delta.x.unwrap_or(entity.x);
        entity.z = delta.z.unwrap_or(entity.z);
        entity.fields.merge(&fields);
        let id = Arc::clone(&entity.id);
        if let Some(state) = self.chunks.get_mut(&chunk) {
            state.snapshot = Default::default();
        }
        let as_numbered = entity.numbered();
        let touched = self.touch(&id, Some((chunk, as_numbered)));
        touched.moved |= delta.x.is_some() || delta.z.is_some();
        if touched.fields.is_empty() {
            touched.fields = fields;
        } else {
            touched.fields.extend(fields);
        }
    }

    fn remove(&mut self, id: &Arc<str>) {
        let Some(entity) = self.things.remove(id) else {
            return;
        };
        self.departing.remove(id);
        if let Some(state) = self.chunks.get_mut(&entity.chunk) {
            state.entities.remove(id);
            state.snapshot = Default::default();
        }
        let touched = self.touch(id, Some((entity.chunk, entity.numbered())));
        if touched.looked.is_none() {
            touched.looked = Some((entity.kind, entity.fields.into_map()));
        }
    }

    /// Returns the record of a thing's changes since the last flush. `before` is its chunk then, if
    /// this is the first word of it.
    fn touch(&mut self, id: &Arc<str>, before: Option<(Chunk, Numbered)>) -> &mut Touched {
        let fresh = || Touched {
            before,
            ..Touched::default()
        };
        self.touched.entry(Arc::clone(id)).or_insert_with(fresh)
    }

    /// Makes a thing go unless a run publishes it soon.
    fn depart(&mut self, id: &Arc<str>) {
        if let Some(entity) = self.things.get_mut(id) {
            entity.departs.get_or_insert(self.tick + TRANSFER_TICKS);
            self.departing.insert(Arc::clone(id));
        }
    }

    /// Settles a chunk when all its runs have spoken: it can be shown, and things of no present run
    /// go. A new owner that spoke a tick too early may still publish them.
    fn settle(&mut self, chunk: Chunk) {
        let Some(state) = self.chunks.get_mut(&chunk) else {
            return;
        };
        if state.runs.is_empty() || state.runs.values().any(|full| !full) {
            return;
        }
        state.ready = true;
        if !state.complete {
            return;
        }
        let runs = &state.runs;
        let orphan = |id: &&Arc<str>| {
            self.things
                .get(id)
                .is_some_and(|entity| !runs.contains_key(&entity.run))
        };
        for id in state
            .entities
            .keys()
            .filter(orphan)
            .cloned()
            .collect::<Vec<_>>()
        {
            self.depart(&id);
        }
    }

    /// Returns whether anything changed since the last flush.
    pub fn has_news(&self) -> bool {
        !self.touched.is_empty() || !self.hits.is_empty() || self.things.has_freed()
    }

    /// Returns everything that changed since the last flush.
    pub fn flush(&mut self) -> Changes {
        self.end_departures();
        let tick = self.tick;
        self.gone
            .retain(|_, (_, gone)| *gone + REMEMBER_TICKS > tick);
        let mut changes = Changes {
            serial: self.flushes,
            tick,
            ..Changes::default()
        };
        self.flushes += 1;
        for (id, touched) in std::mem::take(&mut self.touched) {
            self.tell(&mut changes, id, touched);
        }
        for (chunk, hits) in std::mem::take(&mut self.hits) {
            changes.chunks.entry(chunk).or_default().hits = hits;
        }
        changes.freed = self.things.flush();
        changes
    }

    /// Adds the change of one thing.
    fn tell(&mut self, changes: &mut Changes, id: Arc<str>, touched: Touched) {
        let now = self.things.get(&id);
        let at = now.map(|entity| entity.chunk);
        if let Some((before, leaves)) = touched.before
            && at != Some(before)
        {
            let change = changes.chunks.entry(before).or_default();
            change.leave.push((Arc::clone(&id), leaves));
        }
        let Some(now) = now else {
            self.things.give_back(&id);
            return;
        };
        let (number, chunk) = (now.number, now.chunk);
        let was = touched.before.map(|(before, _)| before);
        let stays = was == Some(chunk) && !touched.replaced;
        let looks =
            |(kind, fields): &(Box<str>, FieldMap)| *kind == now.kind && fields == now.fields.map();
        // If a delta changed fields before the owner published the thing anew, it looked otherwise.
        let same = touched.fields.is_empty() && touched.looked.as_ref().is_none_or(looks);
        if !same {
            changes.renamed.push(Renamed {
                number,
                chunk,
                told: stays,
            });
        }
        let change = changes.chunks.entry(chunk).or_default();
        if stays {
            change.update.push((id, touched.moved, touched.fields));
        } else {
            change.arrivals.push(now.numbered());
            change.enter.push(id);
        }
    }

    fn end_departures(&mut self) {
        let tick = self.tick;
        let over = |id: &&Arc<str>| {
            let departs = self.things.get(id).and_then(|entity| entity.departs);
            departs.is_none_or(|last| last <= tick)
        };
        for id in self
            .departing
            .iter()
            .filter(over)
            .cloned()
            .collect::<Vec<_>>()
        {
            self.departing.remove(&id);
            self.remove(&id);
        }
    }
}
