//! The laws of what is shown, over random worlds: zones that move, hand over, die and lose their
//! links, clients that are slow, chunks that are too much.
//!
//! A failing seed is named by the panic; `TILESTEAD_SEED=<seed>` runs it alone, and
//! `TILESTEAD_SEEDS=<n>` runs more of them.

mod client;
mod zones;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use proto::client::{Format, update::WorldUpdate};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use world::{Chunk, Region, Tile};

use self::{client::Client, zones::Zones};
use super::{
    changes::Changes,
    encode,
    interest::{Plan, View},
    replica::Replica,
    stage::Stage,
    subscriptions::{Owners, Subscriptions},
};

/// Region x from 0 to 2, z 0; by region x, who owns it.
pub(super) struct Strip(pub(super) BTreeMap<i32, Option<u64>>);

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

struct Session {
    at: Tile,
    format: Format,
    view: View,
    client: Client,
    /// What it was before its last updates.
    before: VecDeque<Client>,
    /// Per cent of updates that its socket does not take.
    slow: u32,
}

struct Stand {
    dice: StdRng,
    tick: u64,
    zones: Zones,
    replica: Replica,
    subscriptions: Subscriptions,
    sessions: Vec<Session>,
    /// What was said and has not been heard, by run.
    under_way: BTreeMap<u64, Vec<proto::rpc::zone::v1::Frame>>,
    largest: usize,
}

impl Stand {
    fn new(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let zones = Zones::new(&mut dice);
        let sessions = (0..4).map(|n| Session {
            at: Tile {
                x: dice.random_range(0..192),
                z: dice.random_range(0..64),
            },
            format: if n % 2 == 0 {
                Format::Json
            } else {
                Format::MessagePack
            },
            view: View::default(),
            client: Client::default(),
            before: VecDeque::new(),
            slow: [0, 10, 50, 0][n],
        });
        let sessions = sessions.collect();
        let mut stand = Self {
            zones,
            sessions,
            tick: 1000,
            replica: Replica::default(),
            subscriptions: Subscriptions::default(),
            under_way: BTreeMap::new(),
            largest: 0,
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
        for around in &change.set {
            self.replica
                .set_runs(around.chunk, &around.runs, around.complete);
        }
        for chunk in change.dropped {
            self.replica.drop_chunk(chunk);
        }
        for (run, ask) in self.subscriptions.asks() {
            self.zones.subscribe(run, &ask);
            self.subscriptions.tell(run, &ask);
        }
    }

    fn relink(&mut self, run: u64, up: bool) {
        self.subscriptions.link_down(run);
        self.replica.restart(run);
        self.under_way.remove(&run);
        self.zones.unsubscribe(run);
        if up {
            self.subscriptions.link_up(run);
        }
    }

    /// One tick; `calm`: nothing is late, nobody is slow, nothing goes wrong.
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
            self.under_way.entry(*run).or_default().push(frame);
        }
        if self.dice.random() {
            runs.reverse();
        }
        for run in runs {
            if !calm && self.dice.random_ratio(1, 6) {
                continue;
            }
            for frame in self.under_way.remove(&run).into_iter().flatten() {
                self.replica.apply(run, frame.tick, frame.chunks);
            }
        }
        self.flush(calm);
    }

    /// A client loses its connection, and with it some updates that were sent; it resumes.
    fn reconnect(&mut self, index: usize) {
        let session = &mut self.sessions[index];
        let lost = self.dice.random_range(0..=session.before.len());
        let kept = session.before.len() - lost;
        if let Some(before) = session.before.drain(kept..).next() {
            session.client = before;
        }
        session.view.doubt();
    }

    fn accidents(&mut self) {
        if self.dice.random_ratio(1, 15) {
            let index = self.dice.random_range(0..self.sessions.len());
            self.reconnect(index);
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
        let changes = self.replica.flush();
        for index in 0..self.sessions.len() {
            let slow = self.sessions[index].slow;
            let takes = calm || !self.dice.random_ratio(slow, 100);
            self.show(index, &changes, takes);
            if self.tick.is_multiple_of(3) {
                self.check(index);
            }
        }
    }

    fn show(&mut self, index: usize, changes: &Changes, takes: bool) {
        let session = &mut self.sessions[index];
        let encoded = Cell::new(0);
        let mut stage = Stage::new(&self.replica, changes, &encoded);
        let center = Chunk::from(session.at);
        let scene = stage.from(center, session.format);
        let mut plan: Plan = session.view.plan(center, changes.tick, scene);
        if !session.view.worth(&plan) || !takes {
            return;
        }
        let pieces = std::mem::take(&mut plan.pieces);
        let alone = pieces.len() == 1;
        let body = encode::update(session.format, plan.tick, pieces, &plan.gone).concat();
        let max = proto::client::limits::WORLD_UPDATE_BYTES_MAX;
        assert!(body.len() <= max || alone, "{} bytes", body.len());
        self.largest = self.largest.max(body.len());
        let update: WorldUpdate = match session.format {
            Format::Json => serde_json::from_slice(&body).expect("JSON"),
            Format::MessagePack => rmp_serde::from_slice(&body).expect("MessagePack"),
        };
        session.before.push_back(session.client.clone());
        if session.before.len() > 5 {
            session.before.pop_front();
        }
        session.client.apply(update);
        session.view.took(&plan);
    }

    /// What the client has of clean chunks is what the replica holds.
    fn check(&self, index: usize) {
        let session = &self.sessions[index];
        let center = Chunk::from(session.at);
        for dx in -3..=3 {
            for dz in -3..=3 {
                let chunk = Chunk {
                    x: center.x + dx,
                    z: center.z + dz,
                };
                assert!(session.view.sees(chunk));
                if session.view.clean(chunk) {
                    let held = client::held(&self.replica, chunk);
                    assert_eq!(
                        session.client.chunk(chunk),
                        held,
                        "{chunk:?} of client {index}"
                    );
                }
            }
        }
    }

    /// Everything has been heard and sent: all hold the same.
    fn check_calm(&self) {
        for (index, session) in self.sessions.iter().enumerate() {
            assert_eq!(session.view.owed(), 0, "client {index} is owed something");
            let center = Chunk::from(session.at);
            let mut seen = BTreeSet::new();
            for dx in -3..=3 {
                for dz in -3..=3 {
                    let chunk = Chunk {
                        x: center.x + dx,
                        z: center.z + dz,
                    };
                    seen.insert(chunk);
                    let truth = self.zones.chunk(chunk);
                    assert_eq!(
                        session.client.chunk(chunk),
                        truth,
                        "{chunk:?} of client {index}"
                    );
                }
            }
            assert_eq!(
                session.client.outside(&seen),
                0,
                "things out of sight at client {index}"
            );
        }
    }
}

fn run(seed: u64) -> usize {
    let mut stand = Stand::new(seed);
    for _ in 0..2 {
        for _ in 0..40 {
            stand.step(false);
        }
        // Long enough for everybody to get everything, a chunk that goes alone every fourth tick.
        let mut quiet = 0;
        for _ in 0..200 {
            stand.step(true);
            let owed = stand.sessions.iter().any(|session| session.view.owed() > 0);
            quiet = if stand.zones.quiet() && !owed {
                quiet + 1
            } else {
                0
            };
            // A new owner is asked after the tick in which it is known, and answers in the next.
            if quiet > 3 {
                break;
            }
        }
        stand.check_calm();
    }
    stand.largest
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
    let mut largest = 0;
    for seed in seeds {
        match std::panic::catch_unwind(|| run(seed)) {
            Ok(bytes) => largest = largest.max(bytes),
            Err(_) => panic!("seed {seed}: run it alone with TILESTEAD_SEED={seed}"),
        }
    }
    assert!(largest > 15_000, "the budget was never tried: {largest}");
}
