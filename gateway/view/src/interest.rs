//! Who sees what: which chunks one session gets in this update. Pure.
//!
//! Always: applying every update that a session took to an empty map gives exactly what the
//! replica holds of the chunks that are clean for it. A chunk that is not clean gets no changes,
//! only, some day, all of it.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use proto::client::limits::{VIEW_CHUNKS, WORLD_UPDATE_BYTES_MAX};
use world::Chunk;

use super::encode::{ENVELOPE_BYTES, GONE_BYTES};

/// Chunks on a side of what a session sees.
const SIDE: i32 = 2 * VIEW_CHUNKS + 1;
const SLOTS: usize = (SIDE * SIDE) as usize;
/// Ticks after which a chunk that is owed goes before nearer ones that can wait.
const PATIENCE_TICKS: u64 = 8;
/// Every so many ticks such a chunk goes first of all, so that none too large to go with another
/// waits for ever.
const TURN_TICKS: u64 = 4;
/// An update is sent after so many ticks without one, as a sign of life.
const LIFE_TICKS: u64 = 5;

/// Ticks within which a lost connection is noticed.
const DOUBT_TICKS: u64 = 150;
/// Chunks whose going is remembered for that long, at most.
const DOUBT_MAX: usize = 600;

/// What there is of one chunk in this flush, in the session's format.
pub trait Sight {
    /// Which chunk.
    fn chunk(&self) -> Chunk;
    /// It is known and can be shown.
    fn ready(&self) -> bool;
    /// Something in it changed.
    fn changed(&self) -> bool;
    /// What changed in it.
    fn change(&self) -> Option<&Bytes>;
    /// All of it.
    fn whole(&self) -> Option<&Bytes>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The client has all of it as it is.
    Clean,
    /// The client is owed all of it, since this tick.
    Owed { since: u64 },
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    chunk: Chunk,
    state: State,
    /// The client has something of it, maybe old.
    known: bool,
}

/// What one session sees. A chunk's slot follows from its coordinates, so that moving on costs
/// only what changes.
#[derive(Debug, Default)]
pub struct View {
    center: Option<Chunk>,
    slots: Vec<Slot>,
    /// Out of sight, and the client does not know it.
    gone: Vec<Chunk>,
    /// What the client was told to be gone, and in which tick; the oldest first.
    told_gone: VecDeque<(u64, Chunk)>,
    /// The tick of the last update that was taken.
    told: u64,
    /// Bytes of chunks that were taken in that tick.
    spent: usize,
}

/// One update as it could be sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The chunks' bytes, nearest first.
    pub pieces: Vec<Bytes>,
    /// Out of sight.
    pub gone: Vec<Chunk>,
    /// The slots whose chunks are in it.
    sent: Vec<usize>,
    /// The tick that it shows.
    pub tick: u64,
    /// Bytes of its chunks.
    bytes: usize,
    /// It shows what came between two ticks, and nothing that was owed.
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
    /// The bytes that would make the client's chunk what it is now; none when it is that already
    /// or cannot be shown. From now on the chunk is owed, until they are sent.
    fn offer<'a>(&mut self, sight: &'a impl Sight, tick: u64) -> Option<&'a Bytes> {
        let clean = self.state == State::Clean;
        if !sight.ready() {
            // Shown as soon as it is known again; what the client has of it is old.
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

/// The chunks in sight from a center, which is the first of them; nearer rings come first.
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
    /// Chunks that the client is owed.
    pub fn owed(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| slot.state != State::Clean)
            .count()
    }

    /// The client has all of the chunk as it is.
    pub fn clean(&self, chunk: Chunk) -> bool {
        let slot = self.slots.get(slot_of(chunk));
        slot.is_some_and(|slot| slot.chunk == chunk && slot.state == State::Clean)
    }

    /// The chunk is in sight, or was and the client still has it.
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

    /// What to send to a client that stands in `center`; `scene` is what is in sight from there,
    /// in the order of [`around`]. Until [`View::took`] says that it was taken, the view is as if
    /// nothing had been sent; either way what changed and is not in the plan is owed from now on.
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

    /// The chunk from which it was last shown something.
    pub fn center(&self) -> Option<Chunk> {
        self.center
    }

    /// What to send of a change that came between two ticks; `scene` is what is in sight from
    /// [`View::center`]. What is owed stays so until a tick, and a change is owed from now on if
    /// the tick's room is spent.
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

    /// The chunk that has been owed for longest, if that is too long; never the own one.
    fn latest(&self, tick: u64, scene: &[impl Sight]) -> Option<usize> {
        let others = scene.iter().enumerate().skip(1);
        let owed =
            others.filter_map(
                |(index, sight)| match self.slots[slot_of(sight.chunk())].state {
                    State::Owed { since } if since.saturating_add(PATIENCE_TICKS) <= tick => {
                        sight.ready().then_some((since, index))
                    }
                    _ => None,
                },
            );
        owed.min().map(|(_, index)| index)
    }

    /// The client comes back and may have lost what was sent last: it is owed everything in
    /// sight, and is told once more what is gone.
    pub fn doubt(&mut self) {
        let told = self.told;
        for slot in &mut self.slots {
            slot.state = State::Owed { since: told };
            slot.known = true;
        }
        let slots = &self.slots;
        let seen = |chunk: &Chunk| slots.iter().any(|slot| slot.chunk == *chunk);
        let gone = self.told_gone.drain(..).map(|(_, chunk)| chunk);
        let gone: BTreeSet<Chunk> = gone.chain(self.gone.drain(..)).collect();
        self.gone = gone.into_iter().filter(|chunk| !seen(chunk)).collect();
    }

    /// The plan is worth an update: it says something, or nothing was said for long.
    pub fn worth(&self, plan: &Plan) -> bool {
        !plan.pieces.is_empty()
            || !plan.gone.is_empty()
            || (!plan.extra && self.told > 0 && plan.tick >= self.told.saturating_add(LIFE_TICKS))
    }

    /// The client's socket took the update.
    pub fn took(&mut self, plan: &Plan) {
        if self.told != plan.tick {
            self.told = plan.tick;
            self.spent = 0;
        }
        self.spent += plan.bytes;
        if !plan.extra {
            let gone = self.gone.drain(..).map(|chunk| (plan.tick, chunk));
            self.told_gone.extend(gone);
        }
        let old = |tick: u64| tick.saturating_add(DOUBT_TICKS) < plan.tick;
        while self.told_gone.len() > DOUBT_MAX
            || self.told_gone.front().is_some_and(|(tick, _)| old(*tick))
        {
            self.told_gone.pop_front();
        }
        for index in &plan.sent {
            if let Some(slot) = self.slots.get_mut(*index) {
                slot.state = State::Clean;
                slot.known = true;
            }
        }
    }
}
