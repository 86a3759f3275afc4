//! Content of one session's update: its chunks. Pure.
//!
//! Always: for the chunks that are clean for a session, all its updates applied to an empty map
//! give exactly the replica's state. A chunk that is not clean gets no changes; it comes in full
//! later.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use proto::client::limits::WORLD_UPDATE_BYTES_MAX;
use world::{Chunk, Tile};

use super::{
    changes::Changes,
    crowd::Crowd,
    encode::{self, ENVELOPE_BYTES, Encoding, GONE_BYTES, WHOLE_BYTES_MAX},
    entity::Entity,
    names::Names,
    near::{NearList, NearPlan},
    plan::{Offer, Plan},
    replica::Replica,
    scene::{Scene, Sight},
    square::{SLOTS, around, slot_of},
};

/// Ticks after which an owed chunk goes before nearer ones that can wait.
const OWED_TICKS_MAX: u64 = 8;
/// Period, in ticks, at which such a chunk goes first of all, so that none too large to go with
/// another waits for ever.
const TURN_TICKS: u64 = 4;
/// Bytes of an update that are kept for things that must not be missing from it.
const FOCUS_BYTES: usize = 1536;
/// Most bytes of an update that are kept for names to forget.
const STALE_BYTES_MAX: usize = WORLD_UPDATE_BYTES_MAX / 8;
/// Ticks without an update after which the gateway sends one, as a sign of life.
const LIFE_TICKS: u64 = 5;

/// Ticks within which the gateway notices a lost connection.
const UNCERTAIN_TICKS: u64 = 150;
/// Maximum number of chunks whose going the view remembers for that long.
const UNCERTAIN_MAX: usize = 600;

/// A flush, as far as a view needs it beyond its scene.
#[derive(Debug, Clone, Copy)]
pub struct Flush<'a> {
    /// Encoding of the client.
    pub encoding: Encoding,
    /// The world after the flush.
    pub replica: &'a Replica,
    /// Its changes.
    pub changes: &'a Changes,
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
    /// Whether the client may have something of it, maybe old.
    known: bool,
    /// Whether it has for certain.
    certain: bool,
}

/// View of one session. A chunk's slot follows from its coordinates, so that moving on costs only
/// the changed slots.
#[derive(Debug, Default)]
pub struct View {
    center: Option<Chunk>,
    slots: Vec<Slot>,
    /// Whether every slot is clean. Then the slots do not change while the socket takes all news.
    rests: bool,
    /// News of a scene that went into a plan while the view rested, as slots and the tick, until the
    /// socket takes it.
    untaken: Option<(u64, u64)>,
    /// Chunks that are out of sight although the client does not know it.
    gone: Vec<Chunk>,
    /// Chunks that the client knows to be gone, with the tick of that update; the oldest first.
    reported_gone: VecDeque<(u64, Chunk)>,
    /// Tick of the last update that the socket took.
    told: u64,
    /// Bytes of chunks that the socket took in that tick.
    spent: usize,
    /// Number of the flush up to which it heard of the world; `None`: of nothing.
    heard: Option<u64>,
    names: Names,
    near: NearList,
}

impl Slot {
    /// Returns the bytes that bring the client's chunk up to date. Returns `None` when it is that
    /// already or cannot be shown. From now on the client is owed the chunk, until a socket takes
    /// them.
    fn offer<'a>(&mut self, sight: &'a impl Sight, tick: u64) -> Option<Offer<'a>> {
        let clean = self.state == State::Clean;
        if !sight.ready() {
            // The client gets it as soon as it is known again; the client's version is old.
            if clean {
                self.state = State::Owed { since: tick };
            }
            return None;
        }
        if !clean {
            let (piece, complete) = sight.whole()?;
            return Some(Offer {
                piece,
                whole: true,
                complete,
            });
        }
        if !sight.changed() {
            return None;
        }
        let piece = sight.change()?;
        // The change may have nothing for clients of this encoding.
        if piece.is_empty() {
            return None;
        }
        self.state = State::Owed { since: tick };
        Some(Offer {
            piece,
            whole: false,
            complete: true,
        })
    }
}

impl View {
    /// Returns the number of chunks that the client is owed.
    pub fn owed(&self) -> usize {
        let untaken = self.untaken.map_or(0, |(slots, _)| slots.count_ones());
        let owed = |slot: &&Slot| slot.state != State::Clean;
        untaken as usize + self.slots.iter().filter(owed).count()
    }

    /// Returns whether the client has all of the chunk as it is.
    pub fn clean(&self, chunk: Chunk) -> bool {
        let index = slot_of(chunk);
        let untaken = self.untaken.map_or(0, |(slots, _)| slots);
        let slot = self.slots.get(index).filter(|slot| slot.chunk == chunk);
        untaken & 1 << index == 0 && slot.is_some_and(|slot| slot.state == State::Clean)
    }

    /// Makes the client owed the news that its socket did not take.
    fn settle_untaken(&mut self) {
        let Some((slots, since)) = self.untaken.take() else {
            return;
        };
        self.rests = false;
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slots & 1 << index != 0 {
                slot.state = State::Owed { since };
            }
        }
    }

    /// Puts the news of a scene into a plan, if the client has all else that is in sight and they
    /// fit.
    fn join(&mut self, plan: &mut Plan, scene: &Scene<impl Sight>) -> bool {
        let most = WORLD_UPDATE_BYTES_MAX - ENVELOPE_BYTES - FOCUS_BYTES - STALE_BYTES_MAX;
        let news = scene.news().filter(|_| self.rests && self.gone.is_empty());
        let Some(news) = news.filter(|news| news.piece.len() <= most) else {
            return false;
        };
        plan.joined = true;
        if news.slots != 0 {
            plan.add(news.piece.clone());
            plan.changed = news.slots;
            plan.arrivals.extend_from_slice(&news.arrivals);
            self.untaken = Some((news.slots, plan.tick));
        }
        true
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
        self.rests = false;
        if self.slots.is_empty() {
            let owed = |chunk| Slot {
                chunk,
                state: State::Owed { since: tick },
                known: false,
                certain: false,
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
                certain: false,
            };
        }
        self.center = Some(center);
    }

    /// Returns the plan for a client that stands in `center`; `scene` is the view from there. Until
    /// [`View::took`] notes that the socket took the plan, the view is as if nothing had been sent.
    /// Either way the client is owed every changed chunk that is not in the plan.
    pub fn plan(&mut self, center: Chunk, tick: u64, scene: &Scene<impl Sight>) -> Plan {
        self.settle_untaken();
        self.recenter(center, tick);
        let mut plan = Plan {
            gone: self.gone.clone(),
            tick,
            ..Plan::default()
        };
        if self.join(&mut plan, scene) {
            return plan;
        }
        self.rests = false;
        let scene = scene.sights();
        let overhead = ENVELOPE_BYTES
            + FOCUS_BYTES
            + plan.gone.len() * GONE_BYTES
            + self.names.stale_bytes().min(STALE_BYTES_MAX);
        let mut room = WORLD_UPDATE_BYTES_MAX.saturating_sub(overhead);
        let late = self.latest(tick, scene);
        let own = scene.first();
        // A client that has nothing of its own chunk cannot be shown single things of it.
        let turn = tick.is_multiple_of(TURN_TICKS) && self.has_some_of(center);
        let first = if turn {
            [late.map(|late| &scene[late]), own]
        } else {
            [own, late.map(|late| &scene[late])]
        };
        let rest = scene.iter().enumerate().skip(1);
        let rest = rest.filter(|(index, _)| Some(*index) != late);
        let order = first.into_iter().flatten();
        for sight in order.chain(rest.map(|(_, sight)| sight)) {
            let index = slot_of(sight.chunk());
            let Some(offer) = self.slots[index].offer(sight, tick) else {
                continue;
            };
            // The chunks that just went out of sight take the room of a chunk that goes alone.
            let alone = plan.bytes == 0 && offer.piece.len() <= WHOLE_BYTES_MAX;
            if offer.piece.len() <= room || alone {
                room = room.saturating_sub(offer.piece.len());
                plan.push(index, &offer, sight);
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
    pub fn plan_extra(&mut self, tick: u64, scene: &Scene<impl Sight>) -> Plan {
        self.settle_untaken();
        let mut plan = Plan {
            tick,
            extra: true,
            ..Plan::default()
        };
        if scene.news().is_some_and(|news| news.slots == 0) {
            return plan;
        }
        let spent = if self.told == tick { self.spent } else { 0 };
        let mut room = WORLD_UPDATE_BYTES_MAX.saturating_sub(ENVELOPE_BYTES + spent);
        for sight in scene.sights() {
            let index = slot_of(sight.chunk());
            let slot = &mut self.slots[index];
            if slot.state != State::Clean {
                continue;
            }
            let offer = slot.offer(sight, tick);
            self.rests &= slot.state == State::Clean;
            let Some(offer) = offer else {
                continue;
            };
            if offer.piece.len() <= room {
                room -= offer.piece.len();
                plan.push(index, &offer, sight);
            }
        }
        plan
    }

    /// Puts the nearest players into a plan of a tick, for a client at `at` that sees at most `most`
    /// of the crowd. `always` are among them wherever they are in sight.
    pub fn plan_near(
        &mut self,
        plan: &mut Plan,
        changes: &Changes,
        most: usize,
        at: Tile,
        always: &[u32],
        crowd: &Crowd,
    ) {
        self.hear(changes);
        let seen = crowd.seen_from(at, |chunk| self.shown(plan, chunk));
        let near = self.near.plan(most, always, &seen);
        plan.bytes += near.piece.len();
        plan.near = Some(near);
    }

    /// Completes a plan: it holds `focus`, the ids of the own character and of those with whom it
    /// has to do, even if their chunks did not fit and the client has something old of them; and names, as many as fit, in an encoding with
    /// numbers.
    pub fn complete(&mut self, plan: &mut Plan, flush: Flush<'_>, focus: &[Arc<str>]) {
        let Flush {
            encoding,
            replica,
            changes,
        } = flush;
        let focus = focus.iter().filter_map(|id| replica.entity(id));
        let focus: Vec<&Entity> = focus.collect();
        self.add_focus(plan, encoding, &focus);
        if !encoding.numbers() {
            return;
        }
        self.hear(changes);
        if plan.extra
            && let Some(center) = self.center
            && let Some(near) = self.near.plan_extra(center)
        {
            plan.bytes += near.piece.len();
            plan.near = Some(near);
        }
        let spent = ENVELOPE_BYTES + plan.bytes + plan.gone.len() * GONE_BYTES;
        let told = if plan.extra && self.told == plan.tick {
            self.spent
        } else {
            0
        };
        let room = WORLD_UPDATE_BYTES_MAX.saturating_sub(spent + told);
        let mut names = std::mem::take(&mut self.names);
        let sees = |entity: &Entity| {
            if encoding == Encoding::CompactWithoutPlayers && entity.is_player() {
                let near = plan.near.as_ref();
                let number = entity.number;
                return near.map_or_else(|| self.near.lists(number), |near| near.lists(number));
            }
            let focused = focus.iter().any(|one| one.number == entity.number);
            let single = focused && self.has_some_of(entity.chunk);
            single || self.shown(plan, entity.chunk)
        };
        let name = |number: u32, comes: bool| {
            let entity = replica.numbered(number)?;
            (comes || sees(entity)).then(|| encode::name(entity))
        };
        let tells = |chunk: Chunk| self.sees(chunk) && plan.changed & 1 << slot_of(chunk) != 0;
        let first: Vec<u32> = focus.iter().map(|entity| entity.number).collect();
        // A listed player that looks different now and goes from chunk to chunk needs its name anew.
        let listed = plan.near.iter().flat_map(NearPlan::listed);
        let comes = plan.arrivals.iter().copied().chain(listed);
        plan.naming = names.choose(changes, tells, &first, comes, room, name);
        self.names = names;
        plan.bytes += plan.naming.piece.len();
    }

    /// Adds the things of `focus` whose chunks are not in the plan.
    fn add_focus(&self, plan: &mut Plan, encoding: Encoding, focus: &[&Entity]) {
        for entity in focus {
            let near = encoding == Encoding::CompactWithoutPlayers && entity.is_player();
            let there = plan.has_all_of(slot_of(entity.chunk)) || self.clean(entity.chunk);
            if near || there || !self.has_some_of(entity.chunk) {
                continue;
            }
            let piece = encode::single(encoding, entity);
            let most = WORLD_UPDATE_BYTES_MAX - ENVELOPE_BYTES;
            if plan.bytes + plan.gone.len() * GONE_BYTES + piece.len() <= most {
                plan.add(piece);
                plan.arrivals.push(entity.number);
            }
        }
    }

    /// Notes a flush. Forgets what the client knows of numbers if flushes passed it by.
    fn hear(&mut self, changes: &Changes) {
        if self.heard == Some(changes.serial) {
            return;
        }
        if self.heard.is_some_and(|heard| heard + 1 < changes.serial) {
            self.names.forget();
            self.near.forget();
        }
        self.heard = Some(changes.serial);
        self.near.free(&changes.freed);
    }

    /// Returns whether the client has something of a chunk for certain, maybe old.
    pub fn has_some_of(&self, chunk: Chunk) -> bool {
        let slot = self.slots.get(slot_of(chunk));
        slot.is_some_and(|slot| slot.chunk == chunk && slot.certain)
    }

    /// Returns whether the client has something of a chunk if its socket takes the plan.
    fn shown(&self, plan: &Plan, chunk: Chunk) -> bool {
        self.clean(chunk) || (self.sees(chunk) && plan.has(slot_of(chunk)))
    }

    /// Returns the number of things that the client sees without a name, as far as it was told.
    pub fn unnamed(&self) -> usize {
        self.names.owed()
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
        self.rests = false;
        self.untaken = None;
        self.names.forget();
        self.near.forget();
        let told = self.told;
        for slot in &mut self.slots {
            slot.state = State::Owed { since: told };
            slot.known = true;
            slot.certain = false;
        }
        let slots = &self.slots;
        let seen = |chunk: &Chunk| slots.iter().any(|slot| slot.chunk == *chunk);
        let gone = self.reported_gone.drain(..).map(|(_, chunk)| chunk);
        let gone: BTreeSet<Chunk> = gone.chain(self.gone.drain(..)).collect();
        self.gone = gone.into_iter().filter(|chunk| !seen(chunk)).collect();
    }

    /// Prepares the view for plans from another replica of the same world, whose numbers stand for
    /// other things and which may be some ticks ahead or behind. The client is owed everything in
    /// sight, and forgets all names with its next update.
    pub fn change_replica(&mut self) {
        self.names.outdate_all();
        self.near.forget();
        self.heard = None;
        self.rests = false;
        self.untaken = None;
        for slot in &mut self.slots {
            slot.state = State::Owed { since: self.told };
        }
    }

    /// Returns whether the plan is worth an update: it has changes, or the last update was long
    /// ago.
    pub fn worth(&self, plan: &Plan) -> bool {
        !plan.pieces.is_empty()
            || !plan.gone.is_empty()
            || !plan.naming.piece.is_empty()
            || plan
                .near
                .as_ref()
                .is_some_and(|near| !near.piece.is_empty())
            || (!plan.extra && self.told > 0 && plan.tick >= self.told.saturating_add(LIFE_TICKS))
    }

    /// Notes that the client's socket took the update.
    pub fn took(&mut self, plan: Plan) {
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
                slot.certain = true;
            }
        }
        for index in &plan.partly {
            if let Some(slot) = self.slots.get_mut(*index) {
                slot.state = State::Owed { since: plan.tick };
                slot.known = true;
                slot.certain = true;
            }
        }
        self.untaken = None;
        if !plan.joined && !self.rests {
            self.rests = self.slots.iter().all(|slot| slot.state == State::Clean);
        }
        self.names.took(&plan.naming);
        if let Some(near) = plan.near {
            self.near.took(near);
        }
    }
}
