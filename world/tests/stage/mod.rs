//! The stage: a small flat land, a script in words, and one line a tick about what happened.
//!
//! A script has a line a tick, and commands with ` / ` between them; `wait 3` is three ticks.
#![allow(dead_code, reason = "each story needs a part of the stage")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use world::{
    Arrival, CharacterId, Content, EntityId, Event, Inbox, Intent, Outcome, PlayerHot, PlayerInput,
    PlayerRecord, Region, Rules, Tick, Tile, World,
};

/// The first tick of every story comes after this one.
pub(crate) const BEGIN: u64 = 1_000;

/// A land for a story: 4 x 4 regions of grass from -128 to 128, and what is put there.
#[derive(Clone)]
pub(crate) struct Land {
    paints: Vec<Value>,
    kinds: Vec<Value>,
    npcs: Vec<Value>,
    spawns: Vec<Value>,
    resources: Vec<Value>,
    stations: Vec<Value>,
    seed: u64,
}

impl Default for Land {
    fn default() -> Land {
        let none = Vec::new;
        Land {
            paints: none(),
            kinds: none(),
            npcs: none(),
            spawns: none(),
            resources: none(),
            stations: none(),
            seed: 1,
        }
    }
}

impl Land {
    /// Fills a rectangle, both corners included.
    pub(crate) fn rect(mut self, ground: &str, low: (i32, i32), high: (i32, i32)) -> Land {
        self.paints.push(
            json!({"kind": ground, "shape": "rect", "minX": low.0, "minZ": low.1,
            "maxX": high.0 + 1, "maxZ": high.1 + 1}),
        );
        self
    }

    /// Places an NPC; `movement` as in `npcs.json`.
    pub(crate) fn npc(mut self, id: &str, at: (i32, i32), movement: Value, leash: i32) -> Land {
        self.kinds.push(
            json!({"id": id, "name": id, "description": format!("It is {id}."),
            "movement": movement, "combat": {"leashRange": leash}}),
        );
        self.npcs
            .push(json!({"id": id, "type": "villager", "position": position(at)}));
        self
    }

    /// Places several wandering beasts around a point.
    pub(crate) fn beasts(mut self, id: &str, at: (i32, i32), count: u32, radius: i32) -> Land {
        self.kinds.push(json!({"id": id, "name": id,
            "movement": {"type": "wander", "wanderRadius": radius, "speed": 3.3}}));
        self.spawns.push(
            json!({"mobId": id, "position": position(at), "maxCount": count,
            "spawnRadius": radius}),
        );
        self
    }

    pub(crate) fn tree(mut self, at: (i32, i32)) -> Land {
        self.resources
            .push(json!({"type": "tree", "resourceId": "oak", "position": position(at)}));
        self
    }

    pub(crate) fn fishing_spot(mut self, at: (i32, i32)) -> Land {
        self.resources
            .push(json!({"type": "fishing_spot", "resourceId": "trout", "position": position(at)}));
        self
    }

    pub(crate) fn station(mut self, sort: &str, at: (i32, i32)) -> Land {
        self.stations
            .push(json!({"id": sort, "type": sort, "position": position(at)}));
        self
    }

    /// The manifests of this land.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let bounds = json!({"minX": -128, "maxX": 128, "minZ": -128, "maxZ": 128});
        let areas = json!({
            "starterTowns": {"field": {"id": "field", "name": "The Field", "biomeType": "plain",
                "difficultyLevel": 0, "safeZone": true, "bounds": bounds, "npcs": self.npcs,
                "mobSpawns": self.spawns, "resources": self.resources,
                "stations": self.stations}},
            "terrain": {"seed": 5, "bounds": bounds, "spawn": {"x": 1, "z": 1},
                "defaultBiome": "plain", "paints": self.paints},
        });
        let nodes = json!({"trees": [
            {"id": "oak", "name": "Oak", "type": "tree", "examine": "Old.", "levelRequired": 15},
            {"id": "trout", "name": "Trout", "type": "fishing_spot", "examine": "Splash."},
        ]});
        let stations = json!({"stations": [
            {"type": "furnace", "name": "Furnace", "examine": "Hot.",
                "footprint": {"width": 3, "depth": 2}},
        ]});
        let biomes = json!([{"id": "plain", "grounds": [["grass", 1]], "heightRange": [2, 2]}]);
        [
            ("world-areas.json", areas),
            ("biomes.json", biomes),
            ("npcs.json", Value::from(self.kinds.clone())),
            ("stores.json", json!([])),
            ("items.json", json!([])),
            ("gathering/woodcutting.json", nodes),
            ("stations.json", stations),
        ]
        .map(|(path, json)| (path.to_owned(), json.to_string()))
        .into()
    }

    pub(crate) fn content(&self) -> Arc<Content> {
        let loaded = Content::load(&self.files()).expect("the land of a story loads");
        assert_eq!(loaded.warnings, [], "the land of a story is without fault");
        Arc::new(loaded.content)
    }
}

fn position(at: (i32, i32)) -> Value {
    json!({"x": at.0, "y": 0, "z": at.1})
}

/// A world with all regions of its content, and a script's progress in it.
pub(crate) struct Stage {
    pub(crate) world: World,
    tick: u64,
    number: u64,
}

impl Stage {
    pub(crate) fn new(land: &Land) -> Stage {
        Stage::with(land, Rules::default())
    }

    pub(crate) fn with(land: &Land, rules: Rules) -> Stage {
        let content = land.content();
        let mut world = World::new(Arc::clone(&content), rules, land.seed, 1);
        for region in content.regions() {
            world
                .region_in(region, Tick(BEGIN), None)
                .expect("a fresh region");
        }
        Stage {
            world,
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

    /// Plays one tick.
    pub(crate) fn step(&mut self, inbox: Inbox) -> Outcome {
        self.tick += 1;
        self.world.tick(Tick(self.tick), inbox, &mut ())
    }

    fn command(&mut self, command: &str, inbox: &mut Inbox) {
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
            ["goes", "to", ..] => Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: None,
            },
            ["walks", "to", ..] => Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: Some(false),
            },
            ["runs", "to", ..] => Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: Some(true),
            },
            ["walks"] => Intent::Run(false),
            ["runs"] => Intent::Run(true),
            ["stops"] => Intent::Stop,
            ["examines", target] => Intent::Examine {
                target: EntityId::from(target),
            },
            _ => panic!("no such command: {command}"),
        };
        self.number += 1;
        inbox.inputs.push(PlayerInput {
            who,
            number: self.number,
            intent,
        });
    }

    fn tell(&self, outcome: &Outcome, told: &mut String) {
        let mut parts: Vec<String> = outcome.events.iter().filter_map(event).collect();
        for id in &outcome.touched {
            parts.push(match self.world.look(id) {
                Some(look) => format!("{id} {},{}", look.tile.x, look.tile.z),
                None => format!("{id} gone"),
            });
        }
        for crossing in &outcome.crossings {
            parts.push(format!(
                "{} to {},{}",
                crossing.who, crossing.to.x, crossing.to.z
            ));
        }
        let line = format!("{:>2} {}", self.tick - BEGIN, parts.join("; "));
        writeln!(told, "{}", line.trim_end()).expect("a string takes all");
    }
}

/// What an event says; vitals are told by the stories about energy only.
fn event(event: &Event) -> Option<String> {
    Some(match event {
        Event::Done { .. } | Event::Vitals { .. } => return None,
        Event::Refused { who, refusal, .. } => format!("{who} refused {refusal:?}"),
        Event::Joined { who } => format!("{who} joined"),
        Event::TurnedAway { who, refusal } => format!("{who} turned away {refusal:?}"),
        Event::Examined { who, target, text } => format!("{who} sees {target}: {text}"),
        Event::Inventory { who, slots } => format!("{who} slots {slots:?}"),
        Event::Coins { who } => format!("{who} coins"),
        Event::Failed { who, refusal, .. } => format!("{who} failed {refusal:?}"),
        Event::Elsewhere { who, target, .. } => format!("{who} wants {target} elsewhere"),
        Event::Teleported { who, tile } => format!("{who} teleported {},{}", tile.x, tile.z),
    })
}

/// `ann joins at 3 4`, with `energy 50` or `of 1 0` (a region) behind it.
fn newcomer(words: &[&str]) -> Arrival {
    let n = |i: usize| -> i32 { words[i].parse().expect("a number") };
    let tile = Tile::new(n(3), n(4));
    let after = |word: &str| words.iter().position(|w| *w == word);
    let region = after("of").map_or(Region::from(tile), |i| Region {
        x: n(i + 1),
        z: n(i + 2),
    });
    let energy = after("energy").map_or(10_000, |i| n(i + 1).unsigned_abs());
    Arrival {
        record: PlayerRecord {
            energy,
            ..record(words[0], tile)
        },
        hot: PlayerHot::default(),
        region,
    }
}

/// A player at rest who walks, with full energy.
pub(crate) fn record(name: &str, tile: Tile) -> PlayerRecord {
    PlayerRecord {
        id: CharacterId::from(name),
        name: name.to_owned(),
        tile,
        y: 0,
        health: 10,
        skills: BTreeMap::new(),
        coins: 0,
        energy: 10_000,
        running: false,
        combat_level: 3,
        placed: true,
        inventory: BTreeMap::new(),
    }
}
