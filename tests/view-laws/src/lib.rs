//! The laws of the view, over random worlds. Zones move things, hand them over, give regions away,
//! speak between ticks, die and lose their links. Clients are slow, and chunks are too much. The
//! gateway has two replicas, to which frames come at different times, and clients change between
//! them.
//!
//! A failing seed is named by the panic; `TILESTEAD_SEED=<seed>` runs it alone, and
//! `TILESTEAD_SEEDS=<n>` runs more of them.

#![cfg(test)]

mod client;
mod subscriptions;
mod zones;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use proto::{
    client::{
        Format,
        compact::{read::Decoder, write},
        update::WorldUpdate,
    },
    rpc::zone::v1::Frame,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use world::{Chunk, Region, Tile};

use self::{
    client::{Client, Seen},
    zones::Zones,
};
use view::{
    changes::Changes,
    encode::{self, Encoding},
    interest::{Flush, View},
    replica::Replica,
    stage::Stage,
    subscriptions::{Owners, Subscriptions},
};

/// By region x from 0 to 2, at z 0: the region's owner.
pub(crate) struct Strip(pub(crate) BTreeMap<i32, Option<u64>>);

impl Owners for Strip {
    fn owner(&self, region: Region) -> Option<u64> {
        self.0
            .get(&region.x)
            .copied()
            .flatten()
            .filter(|_| region.z == 0)
    }

    fn exists(&self, region: Region) -> bool {
        region.z == 0 && self.0.contains_key(&region.x)
    }
}

/// Number of replicas.
const REPLICAS: usize = 2;

/// A replica, with the frames on their way to it, by run.
#[derive(Default)]
struct Mirror {
    replica: Replica,
    under_way: BTreeMap<u64, Vec<Frame>>,
}

struct Session {
    at: Tile,
    /// Index of the replica that it sees.
    mirror: usize,
    format: Format,
    /// Most players that it sees; only in the compact format.
    most: Option<usize>,
    view: View,
    decoder: Decoder,
    client: Client,
    /// Its states before the last updates.
    before: VecDeque<Client>,
    /// Per cent of updates that its socket does not take.
    slow: u32,
}

struct Stand {
    dice: StdRng,
    tick: u64,
    zones: Zones,
    mirrors: [Mirror; REPLICAS],
    subscriptions: Subscriptions,
    sessions: Vec<Session>,
    largest: usize,
    /// Updates that clients were sent between two ticks.
    extras: usize,
    /// How often a client changed its replica.
    changes: usize,
}

impl Stand {
    fn new(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let zones = Zones::new(&mut dice);
        Self::with(zones, dice)
    }

    fn with(zones: Zones, mut dice: StdRng) -> Self {
        let formats = [Format::Json, Format::MessagePack, Format::Compact];
        let sessions = (0..8).map(|n| Session {
            at: Tile {
                x: dice.random_range(0..192),
                z: dice.random_range(0..64),
            },
            mirror: n % REPLICAS,
            format: formats[n.min(5) % 3],
            most: (n >= 6).then(|| 7 * (n - 5)),
            view: View::default(),
            decoder: Decoder::default(),
            client: Client::default(),
            before: VecDeque::new(),
            slow: [0, 10, 50, 50, 0, 0, 0, 30][n],
        });
        let sessions = sessions.collect();
        let mut stand = Self {
            zones,
            sessions,
            tick: 1000,
            mirrors: Default::default(),
            subscriptions: Subscriptions::default(),
            largest: 0,
            extras: 0,
            changes: 0,
            dice,
        };
        for run in stand.zones.runs() {
            stand.subscriptions.link_up(run);
        }
        stand.reconcile();
        stand
    }

    fn reconcile(&mut self) {
        let positions: Vec<Tile> = self.sessions.iter().map(|session| session.at).collect();
        let change = self
            .subscriptions
            .reconcile(&positions, &self.zones.owners, self.tick);
        for replica in self.mirrors.iter_mut().map(|mirror| &mut mirror.replica) {
            for around in &change.set {
                replica.set_runs(around.chunk, &around.runs, around.complete);
            }
            for chunk in &change.dropped {
                replica.drop_chunk(*chunk);
            }
        }
        for (run, ask) in self.subscriptions.asks() {
            self.zones.subscribe(run, &ask);
            self.subscriptions.tell(run, &ask);
        }
    }

    fn relink(&mut self, run: u64, up: bool) {
        self.subscriptions.link_down(run);
        for mirror in &mut self.mirrors {
            mirror.replica.restart(run);
            mirror.under_way.remove(&run);
        }
        self.zones.unsubscribe(run);
        if up {
            self.subscriptions.link_up(run);
        }
    }

    /// Plays one tick; `calm`: nothing is late, nobody is slow, nothing goes wrong.
    fn step(&mut self, calm: bool) {
        self.tick += 1;
        if !calm {
            self.accidents();
            for session in &mut self.sessions {
                let step = if self.dice.random_ratio(1, 20) { 60 } else { 4 };
                let x = session.at.x + self.dice.random_range(-step..=step);
                let z = session.at.z + self.dice.random_range(-step..=step);
                session.at = Tile {
                    x: x.clamp(0, 191),
                    z: z.clamp(0, 63),
                };
            }
        }
        self.zones.play(&mut self.dice, self.tick, calm);
        let mut runs = self.zones.runs();
        for run in &runs {
            let frame = self.zones.frame(*run, self.tick);
            for mirror in &mut self.mirrors {
                mirror
                    .under_way
                    .entry(*run)
                    .or_default()
                    .push(frame.clone());
            }
        }
        for mirror in &mut self.mirrors {
            if self.dice.random() {
                runs.reverse();
            }
            for run in &runs {
                if !calm && self.dice.random_ratio(1, 6) {
                    continue;
                }
                for frame in mirror.under_way.remove(run).into_iter().flatten() {
                    mirror.replica.apply(*run, frame.tick, frame.chunks);
                }
            }
        }
        self.flush(calm);
        if !calm {
            self.between();
        }
    }

    /// Lets some runs publish, between two ticks, a batch that they held back. Listeners without a
    /// frame on its way get it at once.
    fn between(&mut self) {
        for run in self.zones.runs() {
            if !self.dice.random_ratio(1, 3) {
                continue;
            }
            let frame = self.zones.extra(&mut self.dice, run, self.tick);
            for at in 0..REPLICAS {
                let mirror = &mut self.mirrors[at];
                if let Some(waiting) = mirror.under_way.get_mut(&run) {
                    waiting.push(frame.clone());
                    continue;
                }
                mirror.replica.apply(run, frame.tick, frame.chunks.clone());
                let changes = mirror.replica.flush();
                for index in self.seeing(at) {
                    let slow = self.sessions[index].slow;
                    let takes = !self.dice.random_ratio(slow, 100);
                    self.show(index, &changes, true, takes);
                    self.check_from_center(index);
                }
            }
        }
    }

    /// Returns the clients that see a replica.
    fn seeing(&self, mirror: usize) -> Vec<usize> {
        let sessions = self.sessions.iter().enumerate();
        let seeing = sessions.filter(|(_, session)| session.mirror == mirror);
        seeing.map(|(index, _)| index).collect()
    }

    fn replica(&self, session: &Session) -> &Replica {
        &self.mirrors[session.mirror].replica
    }

    /// Cuts a client's connection, which loses some updates that were sent, and resumes it.
    fn reconnect(&mut self, index: usize) {
        let session = &mut self.sessions[index];
        let lost = self.dice.random_range(0..=session.before.len());
        let kept = session.before.len() - lost;
        if let Some(before) = session.before.drain(kept..).next() {
            session.client = before;
        }
        session.decoder = Decoder::default();
        session.view.mark_uncertain();
    }

    fn accidents(&mut self) {
        if self.dice.random_ratio(1, 15) {
            let index = self.dice.random_range(0..self.sessions.len());
            self.reconnect(index);
        }
        if self.dice.random_ratio(1, 5) {
            let index = self.dice.random_range(0..self.sessions.len());
            let session = &mut self.sessions[index];
            session.mirror = (session.mirror + 1) % REPLICAS;
            session.view.change_replica();
            self.changes += 1;
        }
        if self.dice.random_ratio(1, 40) {
            let runs = self.zones.runs();
            let run = runs[self.dice.random_range(0..runs.len())];
            self.relink(run, true);
        }
        if self.dice.random_ratio(1, 60)
            && let Some(run) = self.zones.kill(&mut self.dice)
        {
            self.relink(run, false);
        }
    }

    fn flush(&mut self, calm: bool) {
        self.reconcile();
        for mirror in 0..REPLICAS {
            let changes = self.mirrors[mirror].replica.flush();
            for index in self.seeing(mirror) {
                let slow = self.sessions[index].slow;
                let takes = calm || !self.dice.random_ratio(slow, 100);
                self.show(index, &changes, false, takes);
                if self.tick.is_multiple_of(3) {
                    self.check(index);
                }
            }
        }
    }

    fn show(&mut self, index: usize, changes: &Changes, extra: bool, takes: bool) {
        let focus = self.focus(index);
        let session = &mut self.sessions[index];
        let replica = &self.mirrors[session.mirror].replica;
        let encoded = Cell::new(0);
        let mut stage = Stage::new(replica, changes, &encoded);
        let center = match session.view.center() {
            Some(center) if extra => center,
            None if extra => return,
            _ => Chunk::from(session.at),
        };
        let encoding = Encoding::of(session.format, session.most.is_some());
        let scene = stage.from(center, encoding);
        let mut plan = if extra {
            session.view.plan_extra(changes.tick, scene)
        } else {
            session.view.plan(center, changes.tick, scene)
        };
        if let (Some(most), false) = (session.most, extra) {
            let crowd = stage.crowd(center);
            let view = &mut session.view;
            view.plan_near(&mut plan, changes, most, session.at, &[], crowd);
        }
        let flush = Flush {
            encoding,
            replica,
            changes,
        };
        session.view.complete(&mut plan, flush, &focus);
        if !session.view.worth(&plan) || !takes {
            return;
        }
        let pieces = plan.take_pieces();
        let body = encode::update(session.format, plan.tick, pieces, &plan.gone).concat();
        let max = proto::client::limits::WORLD_UPDATE_BYTES_MAX;
        assert!(body.len() <= max, "{} bytes", body.len());
        self.largest = self.largest.max(body.len());
        self.extras += usize::from(extra);
        let update: WorldUpdate = match session.format {
            Format::Json => serde_json::from_slice(&body).expect("JSON"),
            Format::MessagePack => rmp_serde::from_slice(&body).expect("MessagePack"),
            Format::Compact => {
                let mut frame = bytes::BytesMut::new();
                write::begin(&mut frame, 1);
                frame.extend_from_slice(&body);
                session.decoder.read(&frame).expect("an update").1
            }
        };
        session.before.push_back(session.client.clone());
        if session.before.len() > 5 {
            session.before.pop_front();
        }
        session.client.apply(update);
        session.view.took(plan);
        self.check_focus(index, &focus, extra);
    }

    /// Returns the id of a player near the middle of a client's view, which no update may lack. Names are long
    /// here: more than one might not fit.
    fn focus(&self, index: usize) -> Vec<Arc<str>> {
        let session = &self.sessions[index];
        let (center, replica) = (Chunk::from(session.at), self.replica(session));
        let near = view::square::around(center).filter_map(|chunk| replica.chunk(chunk));
        let players = near.flat_map(|chunk| chunk.entities()).filter(|id| {
            let entity = replica.entity(id);
            entity.is_some_and(view::entity::Entity::is_player)
        });
        players.take(1).cloned().collect()
    }

    /// Checks that a client has these things, as far as they are in its sight, where they are.
    fn check_focus(&self, index: usize, focus: &[Arc<str>], extra: bool) {
        let session = &self.sessions[index];
        let replica = self.replica(session);
        for entity in focus.iter().filter_map(|id| replica.entity(id)) {
            let ready = replica.chunk(entity.chunk);
            let ready = ready.is_some_and(view::replica::ChunkState::ready);
            // The nearest players of a capped client follow the ticks only.
            if !ready || !session.view.sees(entity.chunk) || session.most.is_some() {
                continue;
            }
            let has = session.client.chunk(entity.chunk);
            let has = has.get(&*entity.id).map(|seen| (seen.0, seen.1));
            // Between two ticks the tick's room may be spent: then a new name waits for the next.
            if extra && has.is_none() && session.decoder.unnamed() > 0 {
                continue;
            }
            // Nothing of a chunk can be shown to a client that has nothing of it for certain.
            if !session.view.has_some_of(entity.chunk) {
                continue;
            }
            assert_eq!(
                has,
                Some((entity.x, entity.z)),
                "{} of client {index}",
                entity.id
            );
        }
    }

    /// Checks that the client's clean chunks equal the replica's.
    fn check(&self, index: usize) {
        self.check_around(index, Chunk::from(self.sessions[index].at));
    }

    /// Checks the same, as far as the client has seen it.
    fn check_from_center(&self, index: usize) {
        if let Some(center) = self.sessions[index].view.center() {
            self.check_around(index, center);
        }
    }

    fn check_around(&self, index: usize, center: Chunk) {
        let session = &self.sessions[index];
        for dx in -3..=3 {
            for dz in -3..=3 {
                let chunk = Chunk {
                    x: center.x + dx,
                    z: center.z + dz,
                };
                assert!(session.view.sees(chunk));
                if session.view.clean(chunk) {
                    let has = session.client.chunk(chunk);
                    let mut held = client::held(self.replica(session), chunk);
                    if session.decoder.unnamed() > 0 {
                        // What has no name yet is not shown; the rest is as it is.
                        held.retain(|id, _| has.contains_key(id));
                    }
                    if session.most.is_some() {
                        // Players come by another way, which follows the ticks only.
                        let there = |seen: &BTreeMap<String, Seen>| {
                            let there = seen.iter().filter(|(_, seen)| seen.2 != "player");
                            there.map(|(id, seen)| (id.clone(), seen.clone())).collect()
                        };
                        let (has, held): (BTreeMap<_, _>, BTreeMap<_, _>) =
                            (there(&has), there(&held));
                        assert_eq!(has, held, "{chunk:?} of client {index}");
                        continue;
                    }
                    assert_eq!(has, held, "{chunk:?} of client {index}");
                }
            }
        }
    }

    /// Returns whether a chunk alone is too much for a client.
    fn too_much(&self, session: &Session, chunk: Chunk) -> bool {
        let encoding = Encoding::of(session.format, session.most.is_some());
        let replica = self.replica(session);
        replica.chunk(chunk).is_some_and(|state| {
            let (_, complete) = encode::snapshot(encoding, chunk, state, replica);
            !complete
        })
    }

    /// Returns whether a client is owed something that it can get.
    fn behind(&self, session: &Session) -> bool {
        let center = Chunk::from(session.at);
        let mut owed = view::square::around(center).filter(|chunk| !session.view.clean(*chunk));
        session.decoder.unnamed() > 0
            || session.view.unnamed() > 0
            || owed.any(|chunk| !self.too_much(session, chunk))
    }

    /// Checks, after all messages have arrived, that all have the same.
    fn check_calm(&self) {
        for (index, session) in self.sessions.iter().enumerate() {
            assert!(!self.behind(session), "client {index} is owed something");
            let mut players = (0, 0);
            let center = Chunk::from(session.at);
            let mut seen = BTreeSet::new();
            for dx in -3..=3 {
                for dz in -3..=3 {
                    let chunk = Chunk {
                        x: center.x + dx,
                        z: center.z + dz,
                    };
                    seen.insert(chunk);
                    let mut truth = self.zones.chunk(chunk);
                    let has = session.client.chunk(chunk);
                    if session.most.is_some() {
                        let player = |seen: &&Seen| seen.2 == "player";
                        players.0 += has.values().filter(player).count();
                        players.1 += truth.values().filter(player).count();
                        truth.retain(|id, seen| seen.2 != "player" || has.contains_key(id));
                    }
                    if self.too_much(session, chunk) {
                        // The client has a part of it, as it was in its last turn.
                        continue;
                    }
                    assert_eq!(has, truth, "{chunk:?} of client {index}");
                }
            }
            if let Some(most) = session.most {
                let (has, there) = players;
                assert_eq!(has, there.min(most), "players of client {index}");
            }
            assert_eq!(
                session.client.outside(&seen),
                0,
                "things out of sight at client {index}"
            );
        }
    }
}

/// Returns the largest update, how many were sent between two ticks, and how often a client changed
/// its replica.
fn run(seed: u64) -> (usize, usize, usize) {
    let mut stand = Stand::new(seed);
    for _ in 0..2 {
        for _ in 0..40 {
            stand.step(false);
        }
        // Long enough for everybody to get everything, a chunk that goes alone every fourth tick.
        let mut quiet = 0;
        for _ in 0..200 {
            stand.step(true);
            let mut sessions = stand.sessions.iter();
            let owed = sessions.any(|session| stand.behind(session));
            quiet = if stand.zones.quiet() && !owed {
                quiet + 1
            } else {
                0
            };
            // The gateway asks a new owner after the tick in which it learns of it, and the owner
            // answers in the next. A thing without a speaker waits two ticks more for one.
            if quiet > 6 {
                break;
            }
        }
        stand.check_calm();
    }
    (stand.largest, stand.extras, stand.changes)
}

#[test]
fn what_clients_hold_of_clean_chunks_is_what_the_zones_hold() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().expect("a number"))
    };
    let seeds = match number("TILESTEAD_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("TILESTEAD_SEEDS").unwrap_or(12),
    };
    let (mut largest, mut extras, mut changes) = (0, 0, 0);
    for seed in seeds {
        match std::panic::catch_unwind(|| run(seed)) {
            Ok((bytes, between, changed)) => {
                largest = largest.max(bytes);
                extras += between;
                changes += changed;
            }
            Err(_) => panic!("seed {seed}: run it alone with TILESTEAD_SEED={seed}"),
        }
    }
    assert!(largest > 14_000, "the budget was never tried: {largest}");
    assert!(extras > 50, "nothing was sent between ticks: {extras}");
    assert!(changes > 50, "no client changed its replica: {changes}");
}

/// The new owner was near the region before or not, and plays it from the next tick or the one
/// after.
#[test]
fn a_region_that_moves_with_five_hundred_in_it_does_not_blink() {
    for (seed, (to, after)) in [(1, 1), (1, 2), (3, 1), (3, 2)].into_iter().enumerate() {
        let dice = StdRng::seed_from_u64(seed as u64);
        let mut stand = Stand::with(Zones::crowd(500), dice);
        for (n, session) in stand.sessions.iter_mut().enumerate() {
            session.at = Tile {
                // Its middle, where the gateway asks no neighbour, and its edges.
                x: [96, 66, 125, 90][n % 4],
                z: 20,
            };
        }
        for _ in 0..30 {
            stand.step(true);
        }
        let ids = |session: &Session| session.client.ids();
        let before: Vec<BTreeSet<String>> = stand.sessions.iter().map(ids).collect();
        assert!(before.iter().all(|seen| seen.len() > 50));
        stand.zones.give(1, to, stand.tick + 1, after);
        for _ in 0..8 {
            stand.step(true);
            let now: Vec<BTreeSet<String>> = stand.sessions.iter().map(ids).collect();
            assert_eq!(now, before, "to {to}, after {after} ticks");
        }
        stand.check_calm();
    }
}
