//! Content of one session's update: its chunks. Pure.
//!
//! Always: for the chunks that are clean for a session, all its updates applied to an empty map
//! give exactly the replica's state. A chunk that is not clean gets no changes; it comes in full
//! later.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use proto::client::limits::{VIEW_CHUNKS, WORLD_UPDATE_BYTES_MAX};
use world::Chunk;

use super::encode::{ENVELOPE_BYTES, GONE_BYTES};

/// Number of chunks on a side of a session's view.
const SIDE: i32 = 2 * VIEW_CHUNKS + 1;
const SLOTS: usize = (SIDE * SIDE) as usize;
/// Ticks after which an owed chunk goes before nearer ones that can wait.
const OWED_TICKS_MAX: u64 = 8;
/// Period, in ticks, at which such a chunk goes first of all, so that none too large to go with
/// another waits for ever.
const TURN_TICKS: u64 = 4;
/// Ticks without an update after which the gateway sends one, as a sign of life.
const LIFE_TICKS: u64 = 5;

/// Ticks within which the gateway notices a lost connection.
const UNCERTAIN_TICKS: u64 = 150;
/// Maximum number of chunks whose going the view remembers for that long.
const UNCERTAIN_MAX: usize = 600;

/// One chunk in this flush, in the session's format.
pub trait Sight {
    /// Returns the chunk's position.
    fn chunk(&self) -> Chunk;
    /// Returns whether the chunk is known and can be shown.
    fn ready(&self) -> bool;
    /// Returns whether something in it changed.
    fn changed(&self) -> bool;
    /// Returns its change, if any.
    fn change(&self) -> Option<&Bytes>;
    /// Returns all of it, if it is known.
    fn whole(&self) -> Option<&Bytes>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The client has all of it, unchanged.
    Clean,
    /// The client is owed all of it, since this tick.
    Owed { since: u64 },
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    chunk: Chunk,
    state: State,
    /// Whether the client has something of it, maybe old.
    known: bool,
}

/// View of one session. A chunk's slot follows from its coordinates, so that moving on costs only
/// the changed slots.
#[derive(Debug, Default)]
pub struct View {
    center: Option<Chunk>,
    slots: Vec<Slot>,
    /// Chunks that are out of sight although the client does not know it.
    gone: Vec<Chunk>,
    /// Chunks that the client knows to be gone, with the tick of that update; the oldest first.
    reported_gone: VecDeque<(u64, Chunk)>,
    /// Tick of the last update that the socket took.
    told: u64,
    /// Bytes of chunks that the socket took in that tick.
    spent: usize,
}

/// One update, ready to send.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The chunks' bytes, nearest first.
    pub pieces: Vec<Bytes>,
    /// Chunks out of sight.
    pub gone: Vec<Chunk>,
    /// Slots whose chunks are in it.
    sent: Vec<usize>,
    /// The tick that it shows.
    pub tick: u64,
    /// Bytes of its chunks.
    bytes: usize,
    /// Whether it shows only news between two ticks, and no owed chunk.
    extra: bool,
}

impl Plan {
    fn push(&mut self, index: usize, piece: &Bytes) {
        self.bytes += piece.len();
        self.pieces.push(piece.clone());
        self.sent.push(index);
    }
}

impl Slot {
    /// Returns the bytes that bring the client's chunk up to date. Returns `None` when it is that
    /// already or cannot be shown. From now on the client is owed the chunk, until a socket takes
    /// them.
    fn offer<'a>(&mut self, sight: &'a impl Sight, tick: u64) -> Option<&'a Bytes> {
        let clean = self.state == State::Clean;
        if !sight.ready() {
            // The client gets it as soon as it is known again; the client's version is old.
            if clean {
                self.state = State::Owed { since: tick };
            }
            return None;
        }
        if !clean {
            return sight.whole();
        }
        if !sight.changed() {
            return None;
        }
        self.state = State::Owed { since: tick };
        sight.change()
    }
}

fn slot_of(chunk: Chunk) -> usize {
    let column = chunk.x.rem_euclid(SIDE);
    let row = chunk.z.rem_euclid(SIDE);
    usize::try_from(row * SIDE + column).unwrap_or(0)
}

/// Returns the chunks in sight from a center, which is the first of them; nearer rings come first.
pub fn around(center: Chunk) -> impl Iterator<Item = Chunk> {
    (0..=VIEW_CHUNKS).flat_map(move |ring| {
        (-ring..=ring).flat_map(move |dz| {
            let edge = dz.abs() == ring;
            let columns = (-ring..=ring).filter(move |dx| edge || dx.abs() == ring);
            columns.map(move |dx| Chunk {
                x: center.x.saturating_add(dx),
                z: center.z.saturating_add(dz),
            })
        })
    })
}

impl View {
    /// Returns the number of chunks that the client is owed.
    pub fn owed(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| slot.state != State::Clean)
            .count()
    }

    /// Returns whether the client has all of the chunk as it is.
    pub fn clean(&self, chunk: Chunk) -> bool {
        let slot = self.slots.get(slot_of(chunk));
        slot.is_some_and(|slot| slot.chunk == chunk && slot.state == State::Clean)
    }

    /// Returns whether the chunk is in sight, or was and the client still has it.
    pub fn sees(&self, chunk: Chunk) -> bool {
        self.slots
            .get(slot_of(chunk))
            .is_some_and(|slot| slot.chunk == chunk)
    }

    fn recenter(&mut self, center: Chunk, tick: u64) {
        if self.center == Some(center) {
            return;
        }
        if self.slots.is_empty() {
            let owed = |chunk| Slot {
                chunk,
                state: State::Owed { since: tick },
                known: false,
            };
            self.slots = vec![owed(center); SLOTS];
            for chunk in around(center) {
                self.slots[slot_of(chunk)] = owed(chunk);
            }
        }
        for chunk in around(center) {
            let slot = &mut self.slots[slot_of(chunk)];
            if slot.chunk == chunk {
                continue;
            }
            if slot.known {
                self.gone.push(slot.chunk);
            }
            *slot = Slot {
                chunk,
                state: State::Owed { since: tick },
                known: false,
            };
        }
        self.center = Some(center);
    }

    /// Returns the plan for a client that stands in `center`; `scene` is the view from there, in
    /// the order of [`around`]. Until [`View::took`] notes that the socket took the plan, the view
    /// is as if nothing had been sent. Either way the client is owed every changed chunk that is
    /// not in the plan.
    pub fn plan(&mut self, center: Chunk, tick: u64, scene: &[impl Sight]) -> Plan {
        self.recenter(center, tick);
        let mut plan = Plan {
            gone: self.gone.clone(),
            tick,
            ..Plan::default()
        };
        let overhead = ENVELOPE_BYTES + plan.gone.len() * GONE_BYTES;
        let mut room = WORLD_UPDATE_BYTES_MAX.saturating_sub(overhead);
        let late = self.latest(tick, scene);
        let own = scene.first();
        let first = if tick.is_multiple_of(TURN_TICKS) {
            [late.map(|late| &scene[late]), own]
        } else {
            [own, late.map(|late| &scene[late])]
        };
        let rest = scene.iter().enumerate().skip(1);
        let rest = rest.filter(|(index, _)| Some(*index) != late);
        let order = first.into_iter().flatten();
        for sight in order.chain(rest.map(|(_, sight)| sight)) {
            let index = slot_of(sight.chunk());
            let Some(piece) = self.slots[index].offer(sight, tick) else {
                continue;
            };
            // A chunk that alone is too much goes alone.
            if piece.len() <= room || plan.pieces.is_empty() {
                room = room.saturating_sub(piece.len());
                plan.push(index, piece);
            }
        }
        plan
    }

    /// Returns the center of the last plan of a tick.
    pub fn center(&self) -> Option<Chunk> {
        self.center
    }

    /// Returns the plan for a change between two ticks; `scene` is the view from [`View::center`].
    /// Owed chunks stay owed until a tick. If the tick's room is spent, the client is owed the
    /// changed chunk from now on.
    pub fn plan_extra(&mut self, tick: u64, scene: &[impl Sight]) -> Plan {
        let mut plan = Plan {
            tick,
            extra: true,
            ..Plan::default()
        };
        let spent = if self.told == tick { self.spent } else { 0 };
        let mut room = WORLD_UPDATE_BYTES_MAX.saturating_sub(ENVELOPE_BYTES + spent);
        for sight in scene {
            let index = slot_of(sight.chunk());
            let slot = &mut self.slots[index];
            if slot.state != State::Clean {
                continue;
            }
            let Some(piece) = slot.offer(sight, tick) else {
                continue;
            };
            if piece.len() <= room {
                room -= piece.len();
                plan.push(index, piece);
            }
        }
        plan
    }

    /// Returns the index of the chunk that has been owed for longest, if that is too long; never
    /// the own one.
    fn latest(&self, tick: u64, scene: &[impl Sight]) -> Option<usize> {
        let others = scene.iter().enumerate().skip(1);
        let owed =
            others.filter_map(
                |(index, sight)| match self.slots[slot_of(sight.chunk())].state {
                    State::Owed { since } if since.saturating_add(OWED_TICKS_MAX) <= tick => {
                        sight.ready().then_some((since, index))
                    }
                    _ => None,
                },
            );
        owed.min().map(|(_, index)| index)
    }

    /// Treats the last updates as lost, because the client comes back and may not have them. The
    /// client is owed everything in sight, and hears once more which chunks are gone.
    pub fn mark_uncertain(&mut self) {
        let told = self.told;
        for slot in &mut self.slots {
            slot.state = State::Owed { since: told };
            slot.known = true;
        }
        let slots = &self.slots;
        let seen = |chunk: &Chunk| slots.iter().any(|slot| slot.chunk == *chunk);
        let gone = self.reported_gone.drain(..).map(|(_, chunk)| chunk);
        let gone: BTreeSet<Chunk> = gone.chain(self.gone.drain(..)).collect();
        self.gone = gone.into_iter().filter(|chunk| !seen(chunk)).collect();
    }

    /// Returns whether the plan is worth an update: it has changes, or the last update was long
    /// ago.
    pub fn worth(&self, plan: &Plan) -> bool {
        !plan.pieces.is_empty()
            || !plan.gone.is_empty()
            || (!plan.extra && self.told > 0 && plan.tick >= self.told.saturating_add(LIFE_TICKS))
    }

    /// Notes that the client's socket took the update.
    pub fn took(&mut self, plan: &Plan) {
        if self.told != plan.tick {
            self.told = plan.tick;
            self.spent = 0;
        }
        self.spent += plan.bytes;
        if !plan.extra {
            let gone = self.gone.drain(..).map(|chunk| (plan.tick, chunk));
            self.reported_gone.extend(gone);
        }
        let old = |tick: u64| tick.saturating_add(UNCERTAIN_TICKS) < plan.tick;
        while self.reported_gone.len() > UNCERTAIN_MAX
            || self
                .reported_gone
                .front()
                .is_some_and(|(tick, _)| old(*tick))
        {
            self.reported_gone.pop_front();
        }
        for index in &plan.sent {
            if let Some(slot) = self.slots.get_mut(*index) {
                slot.state = State::Clean;
                slot.known = true;
            }
        }
    }
}
