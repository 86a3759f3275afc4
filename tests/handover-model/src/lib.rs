//! Every order in which messages, commits, deaths and takeovers can fall, for small worlds. The
//! real `player`, `region` and `decide` stand between a store that judges as the real one does and
//! a network that loses, repeats and delays.
//!
//! Always: at most one run plays the player at a sequence, and at most one a region at an epoch.
//! The store gave it to that run. The store refuses no batch. When faults stop, some run plays the
//! player; or nobody does, because its region is paused, until the operator resumes the region.

#![cfg(test)]

mod kinds;
mod settling;
mod store;
mod zone;

use std::{collections::BTreeSet, time::Instant};

use kinds::{Kind, note, silently};
use stateright::{Checker, Model, Property};
use store::{At, Outcome, RunId, Store};
use zone::{Directory, Out, Word, Zone};

use handover::{
    player::ASK_TICKS,
    region::{PROMISE_TICKS, WORD_TICKS},
};

/// The moments of edges: none, the short and all of the timers are up.
const MOMENTS: [u64; 3] = [0, SHORT, PROMISE_TICKS + 1];
const SHORT: u64 = if ASK_TICKS > WORD_TICKS {
    ASK_TICKS
} else {
    WORD_TICKS
};

/// Number of events of each kind that may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Budget {
    crossings: u8,
    /// Crossings that the run cancels.
    whims: u8,
    moves: u8,
    /// Pauses of a region by the operator, who may resume it at any moment.
    pauses: u8,
    crashes: u8,
    /// Takeovers of runs that live.
    suspicions: u8,
    /// Answers that never come.
    losses: u8,
    /// Messages that come twice.
    repeats: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Cosmos {
    store: Store,
    zones: Vec<Zone>,
    net: BTreeSet<(RunId, Word)>,
    left: Budget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Deliver {
        to: RunId,
        word: Word,
        again: bool,
    },
    /// The batch in flight reaches the store.
    Commit {
        run: RunId,
        lost: bool,
    },
    Edge {
        run: RunId,
        now: u64,
    },
    /// The run hears of the newest directory, or that it is fenced.
    Learn(RunId),
    /// The run asks who is online in its regions.
    LookAround(RunId),
    Cross(RunId),
    CallOff(RunId),
    Give {
        run: RunId,
        region: At,
        to: RunId,
    },
    /// The operator pauses a region, or resumes it.
    Pause {
        region: At,
        paused: bool,
    },
    /// The planner gives a region of nobody to a run.
    Assign {
        region: At,
        to: RunId,
    },
    Crash(RunId),
    TakeOver {
        dead: RunId,
        by: RunId,
    },
    Deadlines(RunId),
}

/// World to explore.
struct World {
    runs: u8,
    owners: [(RunId, u64); 2],
    budget: Budget,
}

impl Cosmos {
    fn zone(&mut self, run: RunId) -> &mut Zone {
        &mut self.zones[run as usize - 1]
    }

    /// Passes on the requests of a run to the store and the other runs.
    fn pass(&mut self, run: RunId, out: Vec<Out>) {
        for out in out {
            let (to, word) = match out {
                Out::Say(to, word) => (to, word),
                Out::AskOwner { h, source } => {
                    let (region, sequence) = self.store.player;
                    let word = Word::Owner {
                        h,
                        region,
                        sequence,
                        mine: self.store.owner() == run,
                        source_dead: !self.store.alive(source),
                    };
                    (run, word)
                }
                Out::Load { region, epoch } => {
                    if self.store.owners[region as usize] != (run, epoch) {
                        continue;
                    }
                    let (there, sequence) = self.store.player;
                    let player = (there == region).then_some(sequence);
                    let word = Word::Loaded {
                        region,
                        epoch,
                        player,
                    };
                    (run, word)
                }
                Out::Fetch => {
                    if self.zone(run).slot.is_some() {
                        continue;
                    }
                    if self.store.owner() != run {
                        continue;
                    }
                    let (region, sequence) = self.store.player;
                    (run, Word::Character { region, sequence })
                }
            };
            if to > 0 && self.zone(to).up {
                self.net.insert((to, word));
            }
        }
    }

    fn die(&mut self, run: RunId) {
        let store = self.store.clone();
        self.zone(run).die(&store);
        self.net.retain(|(to, _)| *to != run);
    }

    fn take(&mut self, step: Step) {
        let mut out = Vec::new();
        let mut by = 0;
        match step {
            Step::Deliver { to, word, again } => {
                if again {
                    note(Kind::Repeated);
                    self.left.repeats -= 1;
                } else {
                    self.net.remove(&(to, word.clone()));
                }
                by = to;
                self.zone(to).hear(word, &mut out);
            }
            Step::Commit { run, lost } => self.commit(run, lost),
            Step::Edge { run, now } => {
                by = run;
                if now > SHORT {
                    // By then every message has come or never will, except answers to batches: the
                    // store repeats these until the run has them.
                    let stays = |word: &Word| matches!(word, Word::Answered { .. });
                    self.net.retain(|(_, word)| stays(word));
                }
                self.zone(run).edge(now, &mut out);
            }
            Step::Learn(run) => {
                by = run;
                if self.store.alive(run) {
                    let directory = Directory::of(&self.store);
                    self.zone(run).directory = directory;
                    self.zone(run).reconcile(0, &mut out);
                } else {
                    self.die(run);
                }
            }
            Step::LookAround(run) => {
                by = run;
                out.push(Out::Fetch);
            }
            step => by = self.happens(step, &mut out),
        }
        self.pass(by, out);
        let ended = self.zones.iter().filter(|zone| !zone.up);
        let ended: Vec<RunId> = ended.map(|zone| zone.id).collect();
        for run in ended {
            self.die(run);
        }
    }

    /// Does a step of players, the planner or fate; returns the run that did it.
    fn happens(&mut self, step: Step, out: &mut Vec<Out>) -> RunId {
        match step {
            Step::Cross(run) => {
                note(Kind::Crossed);
                self.left.crossings -= 1;
                self.zone(run).cross();
            }
            Step::CallOff(run) => {
                note(Kind::CalledOff);
                self.left.whims -= 1;
                self.zone(run).call_off();
            }
            Step::Give { run, region, to } => {
                self.left.moves -= 1;
                self.zone(run).give(region, to, out);
                return run;
            }
            Step::Pause { region, paused } => {
                note(if paused { Kind::Paused } else { Kind::Resumed });
                self.left.pauses -= u8::from(paused);
                self.store.paused[region as usize] = paused;
            }
            Step::Assign { region, to } => {
                note(Kind::Assigned);
                self.store.assign(region, to);
            }
            Step::Crash(run) => {
                note(Kind::Crashed);
                self.left.crashes -= 1;
                self.die(run);
            }
            Step::TakeOver { dead, by } => {
                note(Kind::TakenOver);
                if self.zone(dead).up {
                    note(Kind::Suspected);
                    self.left.suspicions -= 1;
                }
                self.store.take_over(dead, by);
            }
            Step::Deadlines(run) => {
                note(Kind::Deadline);
                self.left.losses -= 1;
                self.zone(run).deadlines();
            }
            _ => {}
        }
        0
    }

    fn commit(&mut self, run: RunId, lost: bool) {
        let Some(flight) = self.zone(run).flight.clone() else {
            return;
        };
        note(Kind::Committed);
        let outcome = self.store.commit(run, &flight);
        if lost {
            note(Kind::AnswerLost);
            self.left.losses -= 1;
            return;
        }
        let number = flight.number;
        self.net.insert((run, Word::Answered { number, outcome }));
    }

    fn live(&self) -> impl Iterator<Item = &Zone> {
        self.zones.iter().filter(|zone| zone.up)
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (to, word) in &self.net {
            for again in [false, true] {
                if !again || self.left.repeats > 0 {
                    let (to, word) = (*to, word.clone());
                    steps.push(Step::Deliver { to, word, again });
                }
            }
        }
        for zone in self.live() {
            self.own_steps(zone, &mut steps);
        }
        self.takeovers(&mut steps);
        self.operator_steps(&mut steps);
        self.assignments(&mut steps);
        steps
    }

    fn operator_steps(&self, steps: &mut Vec<Step>) {
        for region in 0..2 {
            let paused = !self.store.paused[region as usize];
            if !paused || self.left.pauses > 0 {
                steps.push(Step::Pause { region, paused });
            }
        }
    }

    fn assignments(&self, steps: &mut Vec<Step>) {
        let able = |zone: &&Zone| self.store.alive(zone.id);
        for region in (0..2).filter(|region| self.store.lacks_owner(*region)) {
            let takers = self.live().filter(able).map(|zone| zone.id);
            steps.extend(takers.map(|to| Step::Assign { region, to }));
        }
    }

    fn own_steps(&self, zone: &Zone, steps: &mut Vec<Step>) {
        let run = zone.id;
        if zone.flight.is_some() {
            steps.push(Step::Commit { run, lost: false });
            if self.left.losses > 0 {
                steps.push(Step::Commit { run, lost: true });
            }
        }
        steps.extend(MOMENTS.map(|now| Step::Edge { run, now }));
        steps.push(Step::Learn(run));
        if zone.knows_nobody() {
            steps.push(Step::LookAround(run));
        }
        if self.left.crossings > 0 && zone.can_cross() {
            steps.push(Step::Cross(run));
        }
        if self.left.whims > 0 && zone.can_call_off() {
            steps.push(Step::CallOff(run));
        }
        for to in self.zones.iter().map(|other| other.id) {
            for region in 0..2 {
                if self.left.moves > 0 && to != run && zone.can_give(region, to) {
                    steps.push(Step::Give { run, region, to });
                }
            }
        }
        let able = self.live().filter(|zone| self.store.alive(zone.id));
        if self.left.crashes > 0 && able.count() > 1 {
            steps.push(Step::Crash(run));
        }
        if self.left.losses > 0 {
            steps.push(Step::Deadlines(run));
        }
    }

    fn takeovers(&self, steps: &mut Vec<Step>) {
        let able = |zone: &&Zone| self.store.alive(zone.id);
        for dead in self.zones.iter().filter(able) {
            if dead.up && self.left.suspicions == 0 {
                continue;
            }
            for by in self.live().filter(able).filter(|by| by.id != dead.id) {
                let (dead, by) = (dead.id, by.id);
                steps.push(Step::TakeOver { dead, by });
            }
        }
    }

    /// Returns whether every run that has the player has it from the store.
    fn played_by_right(&self) -> bool {
        let right = |zone: &Zone| {
            let slot = zone.slot.as_ref();
            slot.is_none_or(|s| self.store.granted.get(s.sequence as usize) == Some(&zone.id))
        };
        self.live().all(right)
    }

    /// Returns whether no two runs play a region at the same epoch.
    fn regions_apart(&self) -> bool {
        (0..2).all(|region| {
            let held = self.live().map(|zone| zone.held[region]);
            let held: Vec<u64> = held.filter(|epoch| *epoch > 0).collect();
            held.iter().collect::<BTreeSet<_>>().len() == held.len()
        })
    }
}

impl Model for World {
    type State = Cosmos;
    type Action = Step;

    fn init_states(&self) -> Vec<Cosmos> {
        let store = Store::new(self.runs as usize, self.owners);
        let zones = (1..=self.runs).map(|run| Zone::new(run, &store)).collect();
        vec![Cosmos {
            store,
            zones,
            net: BTreeSet::new(),
            left: self.budget,
        }]
    }

    fn actions(&self, cosmos: &Cosmos, steps: &mut Vec<Step>) {
        *steps = cosmos.steps();
    }

    fn next_state(&self, cosmos: &Cosmos, step: Step) -> Option<Cosmos> {
        let mut next = cosmos.clone();
        next.take(step);
        (next != *cosmos).then_some(next)
    }

    fn within_boundary(&self, cosmos: &Cosmos) -> bool {
        cosmos.zones.iter().all(|zone| zone.offers <= OFFERS_MAX)
    }

    fn properties(&self) -> Vec<Property<World>> {
        vec![
            Property::always("the player is played by right", |_, cosmos: &Cosmos| {
                cosmos.played_by_right()
            }),
            Property::always("a region has one owner an epoch", |_, cosmos: &Cosmos| {
                cosmos.regions_apart()
            }),
            Property::always("no batch is refused", |_, cosmos: &Cosmos| {
                let refused = |(_, word): &(RunId, Word)| {
                    matches!(
                        word,
                        Word::Answered {
                            outcome: Outcome::Refused,
                            ..
                        }
                    )
                };
                !cosmos.net.iter().any(refused)
            }),
            Property::always("it goes on when faults stop", |_, cosmos: &Cosmos| {
                silently(|| cosmos.settles())
            }),
        ]
    }
}

/// A player is not offered more often than this.
const OFFERS_MAX: u32 = 2;

const NOTHING: Budget = Budget {
    crossings: 0,
    whims: 0,
    moves: 0,
    pauses: 0,
    crashes: 0,
    suspicions: 0,
    losses: 0,
    repeats: 0,
};

/// A world to explore: its name, its runs, who has the regions, and what may happen.
type Scenario = (&'static str, u8, [(RunId, u64); 2], Budget);

fn explore(what: &str, world: World) {
    let begun = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = world.checker().threads(threads).spawn_bfs().join();
    println!(
        "{what}: {} states, depth {}, {:.1} s",
        checker.unique_state_count(),
        checker.max_depth(),
        begun.elapsed().as_secs_f32()
    );
    checker.assert_properties();
}

/// Returns the worlds in which the operator pauses regions, and resumes them at any moment.
fn worlds_of_an_operator() -> [Scenario; 10] {
    let more = u8::from(!cfg!(debug_assertions));
    let (apart, one) = ([(1, 1), (2, 1)], [(1, 1), (1, 1)]);
    let pause = Budget {
        pauses: 1,
        ..NOTHING
    };
    #[rustfmt::skip]
    let worlds = [
        ("the operator pauses, and an answer is lost", 2, apart, Budget { losses: 1, ..pause }),
        ("the operator pauses, and a message comes twice", 2, one, Budget { repeats: 1, ..pause }),
        ("the operator pauses twice", 2, one, Budget { pauses: 1 + more, ..NOTHING }),
        ("the operator pauses while a player crosses", 2, apart, Budget { crossings: 1, ..pause }),
        ("the operator pauses while a player crosses, and a message comes twice", 2, apart,
            Budget { crossings: 1, repeats: 1, ..pause }),
        ("the operator pauses while a region moves", 2, one, Budget { moves: 1, ..pause }),
        ("the operator pauses and a run dies", 2, one, Budget { crashes: 1, losses: 1, ..pause }),
        ("the operator pauses while a player crosses and a run dies", 2, apart,
            Budget { crossings: 1, crashes: 1, ..pause }),
        ("the operator pauses while a region moves and a run dies", 2, one,
            Budget { moves: 1, crashes: 1, ..pause }),
        ("the operator pauses and a live run is taken over", 2, apart,
            Budget { suspicions: 1, ..pause }),
    ];
    worlds
}

#[test]
fn whatever_happens_a_player_and_a_region_have_one_owner_and_are_played() {
    // Without optimization only the smaller worlds are explored in a reasonable time.
    let more = u8::from(!cfg!(debug_assertions));
    // One run has the west, the other the east; or one has both.
    let (apart, one) = ([(1, 1), (2, 1)], [(1, 1), (1, 1)]);
    let cross = Budget {
        crossings: 1,
        ..NOTHING
    };
    let give = Budget {
        moves: 1,
        ..NOTHING
    };
    #[rustfmt::skip]
    let worlds = [
        ("a player crosses, messages are lost and come twice", 2, apart,
            Budget { crossings: 1 + more, losses: 1, repeats: 1, ..NOTHING }),
        ("a player changes its mind, and perhaps again", 2, apart,
            Budget { crossings: 2, whims: 1, repeats: more, ..NOTHING }),
        ("a player changes its mind while a region moves", 2, apart,
            Budget { whims: 1, moves: 1, ..cross }),
        ("a player changes its mind and a run dies", 2, apart,
            Budget { whims: 1, crashes: 1, ..cross }),
        ("a player crosses and a run dies", 2, apart,
            Budget { crashes: 1, losses: 1, repeats: 1, ..cross }),
        ("a player crosses and a live run is taken over", 2, apart,
            Budget { suspicions: 1, losses: more, repeats: more, ..cross }),
        ("a player crosses between two of three, and two of them fail", 3, apart,
            Budget { crashes: 1, suspicions: 1, ..cross }),
        ("a region moves, messages are lost and come twice", 2, one,
            Budget { losses: 1, repeats: 1, ..give }),
        ("a region moves and a run dies", 2, one,
            Budget { crashes: 1, losses: 1, repeats: 1, ..give }),
        ("a region moves and a live run is taken over", 2, one,
            Budget { suspicions: 1, losses: more, repeats: more, ..give }),
        ("a region moves there and back", 2, one, Budget { moves: 1 + more, losses: 1, ..NOTHING }),
        ("a player crosses while a region moves", 2, apart,
            Budget { moves: 1, losses: 1, ..cross }),
        ("a player crosses while a region moves and a run dies", 2, apart,
            Budget { moves: 1, crashes: 1, ..cross }),
        ("a region moves among three of whom one dies", 3, one,
            Budget { crashes: 1, losses: 1, ..give }),
        ("a player crosses while a region moves among three", 3, apart,
            Budget { moves: 1, ..cross }),
    ];
    for (what, runs, owners, budget) in worlds.into_iter().chain(worlds_of_an_operator()) {
        let world = World {
            runs,
            owners,
            budget,
        };
        explore(what, world);
    }
    let taken = kinds::taken();
    for (kind, times) in &taken {
        println!("{kind:?}: {times}");
    }
    let never: Vec<_> = taken.iter().filter(|(_, times)| *times == 0).collect();
    assert!(never.is_empty(), "never taken: {never:?}");
}
