//! A seeded simulation: zone servers, gateways, players and the store in one thread, over a bus
//! that delays, loses, repeats and cuts. The runs, the batches, the handover and the store are
//! the real ones; gateways follow their rules and are not the real code.
//!
//! - [`bus`]: calls with deadlines, whose request or answer may be late or lost; [`asking`] and
//!   [`answering`]: the calls of runs, and their answers;
//! - [`zone`]: processes that live runs: killed, paused, stopped in order, started anew;
//! - [`feed`]: the planner's rounds and the pushed directory;
//! - [`gateway`], [`session`] and [`seeking`]: the links, and the place at which a session plays
//!   its character;
//! - [`player`]: the acts of a player;
//! - [`faults`]: the faults, by the seed;
//! - [`laws`]: the laws that must hold at every moment, and after the faults have ended;
//! - [`coverage`]: how often each transition was taken;
//! - [`land`]: the small world that they play.
//!
//! Always: a seed gives the same story, step by step; time is the simulation's own.

pub mod answering;
pub mod asking;
pub mod bus;
pub mod coverage;
pub mod faults;
pub mod feed;
pub mod gateway;
pub mod land;
pub mod laws;
pub mod player;
pub mod seeds;
pub mod seeking;
pub mod session;
mod watching;
pub mod zone;

use std::collections::BTreeMap;

use persistence_svc::simulation::{Store, StoreContents};
use proto::rpc::persistence::v1::DirectoryUpdate;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use zone_server::simulation::{BEGIN_MS, Heard};

use bus::{Call, Callee, Result_};
use coverage::Coverage;
use faults::{Faults, Peer};
use gateway::{Gateway, Link, ToGateway};
use land::Stage;
use laws::Laws;
use player::Player;
use zone::Zone;

/// A tick.
pub const TICK_MS: u64 = 600;

/// Ticks between two checks of everything that anybody holds.
const CHECK_TICKS: u64 = 10;

/// Size of a simulation, and the events in it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Ticks with faults, and the ticks after them in which everything must come right again.
    pub ticks: u64,
    /// Ticks without faults at the end.
    pub calm_ticks: u64,
    /// Chances of the faults.
    pub faults: Faults,
    /// Rules of the zone server that are broken.
    pub mutants: zone_server::Mutants,
    /// Rules of the store that are broken.
    pub store_mutants: persistence_svc::Mutants,
    /// The story is written down.
    pub told: bool,
}

/// Next event of the simulation.
#[derive(Debug)]
pub(crate) enum Event {
    /// A zone's clock.
    Edge(usize),
    /// A zone renews its lease, if it still lives the same life.
    Renew(usize, u64),
    /// A zone asks who is online.
    Reconcile(usize, u64),
    /// A zone registers a new run.
    Register(usize),
    /// A request arrives. Nobody waits for the answer to an echo.
    Arrives {
        call: u64,
        callee: Callee,
        echo: bool,
    },
    /// An answer arrives.
    Answer { call: u64, result: Result_ },
    /// Nobody waits for the answer any more.
    Deadline(u64),
    /// A batch is sent again.
    Again { call: Box<Call>, callee: Callee },
    /// A run hears something.
    Hears {
        zone: usize,
        life: u64,
        heard: Box<Heard>,
    },
    /// A gateway calls a run.
    Dial { gateway: usize, run: u64 },
    /// The run has the link.
    Linked {
        gateway: usize,
        run: u64,
        zone: usize,
        number: u64,
    },
    /// Something comes out of a link.
    ToGateway {
        gateway: usize,
        run: u64,
        number: u64,
        message: Box<ToGateway>,
    },
    /// A process that had a link with a run finds its process gone.
    Suspects {
        witness: String,
        zone: usize,
        run: u64,
    },
    /// A session looks for its character.
    Seek { gateway: usize, session: String },
    /// A gateway asks what became of what nobody has answered for long.
    Recall(usize),
    /// A run did not answer a session's attach.
    Silence {
        gateway: usize,
        session: String,
        attach: u64,
    },
    /// A player does something.
    Acts(usize),
    /// A session whose socket was lost goes on or ends.
    Returns(usize),
    /// A look at whether everything has come right.
    Look,
    /// The planner's round.
    Plan,
    /// The directory reaches a watcher.
    Pushed {
        to: Watcher,
        update: Box<DirectoryUpdate>,
    },
    /// A watcher follows the directory again.
    Follows(Watcher),
    /// A sign of life of the directory.
    Sign,
    /// Something goes wrong.
    Fault,
    /// A paused process goes on.
    Thaw(usize),
    /// The operator resumes a region.
    Resume((i32, i32)),
    /// The store is there again.
    StoreBack,
}

/// Process that follows the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Watcher {
    Zone(usize, u64),
    Gateway(usize),
}

/// Result of a simulation.
#[derive(Debug)]
pub struct Outcome {
    /// Number of times that each transition happened.
    pub coverage: Coverage,
    /// The law that was broken.
    pub broken: Option<String>,
    /// Story of the simulation, if the settings ask for one.
    pub story: Vec<String>,
}

/// The whole world.
pub struct Sim {
    pub(crate) settings: Settings,
    pub(crate) now: u64,
    pub(crate) begun: u64,
    order: u64,
    queue: BTreeMap<(u64, u64), Event>,
    pub(crate) dice: ChaCha8Rng,
    pub(crate) store: Store,
    pub(crate) store_away: bool,
    /// Peers that do not reach each other, and the time until which they do not.
    pub(crate) parted: BTreeMap<(usize, Peer), u64>,
    pub(crate) contents: StoreContents,
    pub(crate) directory: DirectoryUpdate,
    pub(crate) pushed: BTreeMap<Watcher, u64>,
    pub(crate) stage: Stage,
    pub(crate) zones: Vec<Zone>,
    pub(crate) gateways: Vec<Gateway>,
    pub(crate) players: Vec<Player>,
    pub(crate) links: BTreeMap<(usize, u64), Link>,
    pub(crate) link_numbers: u64,
    pub(crate) calls: BTreeMap<u64, Call>,
    pub(crate) call_numbers: u64,
    pub(crate) sessions: u64,
    pub(crate) coverage: Coverage,
    pub(crate) laws: Laws,
    /// The tick of the last check.
    checked: u64,
    pub(crate) broken: Option<String>,
    pub(crate) story: Vec<String>,
}

impl Sim {
    /// Plays one seed to its end.
    pub fn play(seed: u64, settings: Settings) -> Outcome {
        let mut sim = Sim::begin(seed, settings);
        let faults_end = sim.begun + sim.settings.ticks * TICK_MS;
        let end = faults_end + sim.settings.calm_ticks * TICK_MS;
        let mut calm = false;
        while sim.broken.is_none() {
            let Some(((at, _), event)) = sim.queue.pop_first() else {
                break;
            };
            if !calm && at >= faults_end {
                calm = true;
                sim.now = faults_end;
                sim.calm_down();
            }
            if at >= end {
                break;
            }
            sim.now = at;
            sim.happens(event);
        }
        sim.law_of_conservation();
        if sim.broken.is_none() && sim.settings.calm_ticks > 0 {
            sim.now = end;
            sim.all_is_well();
        }
        for (step, times) in watching::take_steps() {
            sim.coverage.add(&step, times);
        }
        Outcome {
            coverage: sim.coverage,
            broken: sim.broken,
            story: sim.story,
        }
    }

    fn begin(seed: u64, settings: Settings) -> Sim {
        watching::begin();
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        let stage = Stage::new(settings.mutants);
        let begun = BEGIN_MS;
        let store = Store::new(begun, land::telemetry(), settings.store_mutants)
            .expect("a store in memory");
        let zones = dice.random_range(2..=5);
        let gateways = dice.random_range(1..=3);
        let players = dice.random_range(2..=8);
        let mut sim = Sim {
            settings,
            now: begun,
            begun,
            order: 0,
            queue: BTreeMap::new(),
            dice,
            store,
            store_away: false,
            parted: BTreeMap::new(),
            contents: StoreContents::default(),
            directory: DirectoryUpdate::default(),
            pushed: BTreeMap::new(),
            stage,
            zones: (0..zones).map(Zone::new).collect(),
            gateways: (0..gateways).map(Gateway::new).collect(),
            players: Vec::new(),
            links: BTreeMap::new(),
            link_numbers: 0,
            calls: BTreeMap::new(),
            call_numbers: 0,
            sessions: 0,
            coverage: Coverage::default(),
            laws: Laws::default(),
            checked: 0,
            broken: None,
            story: Vec::new(),
        };
        for number in 0..players {
            let player = sim.new_player(number);
            sim.players.push(player);
            let wait = sim.dice.random_range(2_000..8_000);
            sim.after(wait, Event::Acts(number));
        }
        for zone in 0..sim.zones.len() {
            let wait = sim.dice.random_range(0..3_000);
            sim.after(wait, Event::Register(zone));
            let off = sim.dice.random_range(0..40);
            sim.after(TICK_MS - begun % TICK_MS + off, Event::Edge(zone));
        }
        for gateway in 0..sim.gateways.len() {
            sim.after(1, Event::Follows(Watcher::Gateway(gateway)));
            sim.after(1_000, Event::Recall(gateway));
        }
        for look in sim.looks() {
            sim.at(look, Event::Look);
        }
        sim.after(200, Event::Plan);
        sim.after(1_000, Event::Sign);
        sim.after(6_000, Event::Fault);
        sim
    }

    pub(crate) fn after(&mut self, wait_ms: u64, event: Event) {
        self.order += 1;
        self.queue.insert((self.now + wait_ms, self.order), event);
    }

    /// Plans an event for a moment that is not over yet.
    pub(crate) fn at(&mut self, ms: u64, event: Event) {
        self.after(ms.saturating_sub(self.now), event);
    }

    pub(crate) fn chance(&mut self, in_ten_thousand: u32) -> bool {
        self.dice.random_range(0..10_000) < in_ten_thousand
    }

    /// Adds a line to the story.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.settings.told {
            let ms = self.now - self.begun;
            let line = format!("{:>3}.{:03} {}", ms / TICK_MS, ms % TICK_MS, line());
            self.story.push(line);
        }
    }

    /// Notes a broken law; the first one ends the simulation.
    pub(crate) fn breaks(&mut self, law: String) {
        self.tell(|| format!("BROKEN: {law}"));
        self.broken.get_or_insert(law);
    }

    fn happens(&mut self, event: Event) {
        if let Some(zone) = self.for_paused(&event) {
            self.zones[zone].waiting.push_back(event);
            return;
        }
        match event {
            Event::Edge(zone) => self.edge(zone),
            Event::Renew(zone, life) => self.renew(zone, life),
            Event::Reconcile(zone, life) => self.reconcile(zone, life),
            Event::Register(zone) => self.register(zone),
            Event::Arrives { call, callee, echo } => self.arrives(call, callee, echo),
            Event::Answer { call, result } => self.answered(call, Some(result)),
            Event::Deadline(call) => self.answered(call, None),
            Event::Again { call, callee } => self.sends_again(*call, callee),
            Event::Hears { zone, life, heard } => self.hears(zone, life, *heard),
            Event::Dial { gateway, run } => self.dial(gateway, run),
            Event::Linked {
                gateway,
                run,
                zone,
                number,
            } => self.linked(gateway, run, zone, number),
            Event::ToGateway {
                gateway,
                run,
                number,
                message,
            } => self.gateway_hears(gateway, run, number, *message),
            Event::Suspects { witness, zone, run } => self.suspects(witness, zone, run),
            Event::Recall(gateway) => self.recall(gateway),
            Event::Seek { gateway, session } => self.seek(gateway, &session),
            Event::Silence {
                gateway,
                session,
                attach,
            } => self.silence(gateway, &session, attach),
            Event::Acts(player) => self.acts(player),
            Event::Returns(player) => self.returns(player),
            Event::Look => self.look(),
            Event::Plan => self.plan(),
            Event::Pushed { to, update } => self.pushed(to, *update),
            Event::Follows(watcher) => self.follows(watcher),
            Event::Sign => self.sign(),
            Event::Fault => self.fault(),
            Event::Thaw(zone) => self.thaw(zone),
            Event::Resume(region) => self.operator_resumes(region),
            Event::StoreBack => self.store_back(),
        }
    }

    /// Returns the paused process that this would wake.
    fn for_paused(&self, event: &Event) -> Option<usize> {
        let zone = match event {
            Event::Edge(_) | Event::Register(_) | Event::Thaw(_) => return None,
            Event::Renew(zone, _) | Event::Reconcile(zone, _) => *zone,
            Event::Hears { zone, .. } | Event::Linked { zone, .. } => *zone,
            Event::Pushed {
                to: Watcher::Zone(zone, _),
                ..
            } => *zone,
            Event::Arrives {
                callee: Callee::Zone(zone, _),
                ..
            } => *zone,
            Event::Answer { call, .. } | Event::Deadline(call) => self.calls.get(call)?.by?.0,
            Event::Again { call, .. } => call.by?.0,
            _ => return None,
        };
        self.zones[zone].paused.then_some(zone)
    }
}
