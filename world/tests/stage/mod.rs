//! The stage: a small flat land, a script in words, and one line a tick about what happened.
//!
//! A script has a line a tick, and commands with ` / ` between them; `wait 3` is three ticks.
#![allow(dead_code, reason = "each story needs a part of the stage")]

mod duels;
mod land;
mod told;
mod trades;
mod words;

pub(crate) use land::Land;
use words::newcomer;
pub(crate) use words::record;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use world::{
    CharacterId, Content, EntityId, Inbox, Intent, Outcome, PlayerInput, Region, Rules, Tick, Tile,
    World, examine, movement,
};

/// The first tick of every story comes after this one.
pub(crate) const BEGIN: u64 = 1_000;

/// A world with all regions of its content, and a script's progress in it.
///
/// Names for things on the ground are #1, #2 … in the order in which the stage first heard of them.
pub(crate) struct Stage {
    pub(crate) world: World,
    things: Vec<EntityId>,
    /// Trades, with the names t1, t2 … in the order of their requests.
    trades: Vec<EntityId>,
    /// The last challenge.
    challenge: Option<EntityId>,
    /// Those whom nobody plays.
    away: BTreeSet<CharacterId>,
    /// Audit notes of trades.
    pub(crate) audit: Vec<world::TradeNote>,
    tick: u64,
    number: u64,
}

impl Stage {
    pub(crate) fn new(land: &Land) -> Stage {
        Stage::with(land, Rules::default())
    }

    pub(crate) fn with(land: &Land, rules: Rules) -> Stage {
        Stage::on(land.content(), rules, land.seed)
    }

    /// Returns a stage on these manifests.
    pub(crate) fn of(files: &BTreeMap<String, String>) -> Stage {
        let loaded = Content::load(files).expect("the land of a story loads");
        Stage::on(Arc::new(loaded.content), Rules::default(), 1)
    }

    fn on(content: Arc<Content>, rules: Rules, seed: u64) -> Stage {
        let mut world = World::new(Arc::clone(&content), rules, seed, 1);
        for region in content.regions() {
            world
                .region_in(region, Tick(BEGIN), None)
                .expect("a fresh region");
        }
        Stage {
            world,
            things: Vec::new(),
            trades: Vec::new(),
            challenge: None,
            away: BTreeSet::new(),
            audit: Vec::new(),
            tick: BEGIN,
            number: 0,
        }
    }

    /// Plays the script and tells what happened, one line a tick.
    pub(crate) fn play(&mut self, script: &str) -> String {
        let mut told = String::new();
        for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let ticks = line
                .strip_prefix("wait ")
                .map_or(1, |n| n.parse().expect("a number"));
            let mut inbox = Inbox::default();
            if !line.starts_with("wait ") {
                for command in line.split(" / ") {
                    self.command(command.trim(), &mut inbox);
                }
            }
            for _ in 0..ticks {
                let outcome = self.step(std::mem::take(&mut inbox));
                self.tell(&outcome, &mut told);
            }
        }
        told
    }

    /// Makes the next tick the one after `tick`.
    pub(crate) fn skip_to(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// Returns all NPCs, by id.
    pub(crate) fn npcs(&self) -> Vec<EntityId> {
        let npcs = self
            .world
            .entities()
            .filter(|id| id.as_str().starts_with("npc:"));
        npcs.cloned().collect()
    }

    /// Plays one tick.
    pub(crate) fn step(&mut self, mut inbox: Inbox) -> Outcome {
        inbox.away.clone_from(&self.away);
        self.tick += 1;
        let outcome = self.world.tick(Tick(self.tick), inbox, &mut ());
        assert!(self.world.watches_the_dosed());
        outcome
    }

    pub(crate) fn command(&mut self, command: &str, inbox: &mut Inbox) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let n = |i: usize| -> i32 { words[i].parse().expect("a number") };
        let who = CharacterId::from(words[0]);
        let intent = match words[1..] {
            ["joins", "at", ..] => return inbox.arrivals.push(newcomer(&words)),
            ["leaves"] => {
                self.world.leave(&who).expect("a player who can leave");
                return;
            }
            ["held"] => return assert!(self.world.hold(&who, true)),
            ["free"] => return assert!(self.world.hold(&who, false)),
            ["belongs", "to", ..] => {
                let region = Region { x: n(3), z: n(4) };
                return assert!(self.world.set_region(&who, region));
            }
            ["is", "away"] => return assert!(self.away.insert(who)),
            ["is", "back"] => return assert!(self.away.remove(&who)),
            ["may", "not", "trade"] => return inbox.value = world::Value::Frozen,
            ["may", "not", "save"] => return inbox.value = world::Value::Unavailable,
            ["stays"] => return assert!(self.world.call_off(&who)),
            ["goes", "to", ..] => Intent::Movement(movement::Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: None,
            }),
            ["walks", "to", ..] => Intent::Movement(movement::Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: Some(false),
            }),
            ["runs", "to", ..] => Intent::Movement(movement::Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: Some(true),
            }),
            ["walks"] => Intent::Movement(movement::Intent::Run(false)),
            ["runs"] => Intent::Movement(movement::Intent::Run(true)),
            ["stops"] => Intent::Movement(movement::Intent::Stop),
            ["follows", target] => Intent::Movement(movement::Intent::Follow {
                target: self.thing(target),
            }),
            ["examines", target] => Intent::Examine(examine::Intent::Examine {
                target: self.thing(target),
            }),
            _ => self.about_value(&words),
        };
        self.number += 1;
        inbox.inputs.push(PlayerInput {
            who,
            number: self.number,
            intent,
        });
    }
}
