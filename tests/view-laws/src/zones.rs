//! Zones as they should be. Each owns things, moves them and hands them over, and tells a
//! subscriber every tick all that it must know.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proto::rpc::{common::v1 as common, zone::v1 as wire};
use rand::{RngExt, rngs::StdRng};
use serde_json::{Map, Value, json};
use world::{Chunk, Tile};

use super::{Strip, client::Seen};
use view::subscriptions::Ask;

#[derive(Debug, Clone, PartialEq)]
struct Thing {
    at: Tile,
    sequence: u64,
    fields: Map<String, Value>,
}

#[derive(Debug, Default)]
struct Zone {
    things: BTreeMap<String, Thing>,
    /// As of the last frame.
    published: BTreeMap<String, Thing>,
    /// Handed over since the last frame.
    transferred: BTreeSet<String>,
    subscribed: BTreeSet<Chunk>,
    /// Subscribed since the last frame.
    fresh: BTreeSet<Chunk>,
}

pub(super) struct Zones {
    pub(super) owners: Strip,
    zones: BTreeMap<u64, Zone>,
    /// Handed over and not yet played: when, to whom.
    crossing: Vec<(u64, u64, String, Thing)>,
    /// Things that dead runs left, with the tick at which another run takes them.
    ownerless: Vec<(u64, BTreeMap<String, Thing>)>,
    minted: u64,
}

fn wire_chunk(chunk: Chunk) -> Option<common::Chunk> {
    Some(common::Chunk {
        x: chunk.x,
        z: chunk.z,
    })
}

fn wire_entity(id: &str, thing: &Thing) -> wire::Entity {
    wire::Entity {
        id: id.to_owned(),
        kind: kind(id).to_owned(),
        x: thing.at.x,
        z: thing.at.z,
        ownership_sequence: thing.sequence,
        fields: json_fields(id, &thing.fields),
        typed_fields: typed_fields(id, &thing.fields),
    }
}

/// Returns the kind of a thing: one half are players.
fn kind(id: &str) -> &'static str {
    match id.len() + usize::from(id.as_bytes()[id.len() - 1]) {
        sum if sum % 2 == 0 => "player",
        _ => "npc",
    }
}

/// Returns whether its zone tells of a thing with typed fields; else it does as release 0.2.0.
fn typed(id: &str) -> bool {
    !id.as_bytes()[id.len() - 1].is_multiple_of(3)
}

fn json_fields(id: &str, fields: &Map<String, Value>) -> Bytes {
    match typed(id) || fields.is_empty() {
        true => Bytes::new(),
        false => serde_json::to_vec(fields).expect("JSON").into(),
    }
}

fn typed_fields(id: &str, fields: &Map<String, Value>) -> Vec<wire::Field> {
    if !typed(id) {
        return Vec::new();
    }
    let value = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(wire::field::Value::Text(text.clone())),
        number => Some(wire::field::Value::Number(
            number.as_i64().expect("a number"),
        )),
    };
    let fields = fields.iter().map(|(name, field)| wire::Field {
        name: name.clone(),
        value: value(field),
    });
    fields.collect()
}

fn delta(id: &str, before: &Thing, now: &Thing) -> wire::EntityDelta {
    let mut fields = Map::new();
    for name in before
        .fields
        .keys()
        .filter(|name| !now.fields.contains_key(*name))
    {
        fields.insert(name.clone(), Value::Null);
    }
    for (name, value) in &now.fields {
        if before.fields.get(name) != Some(value) {
            fields.insert(name.clone(), value.clone());
        }
    }
    wire::EntityDelta {
        id: id.to_owned(),
        x: (before.at.x != now.at.x).then_some(now.at.x),
        z: (before.at.z != now.at.z).then_some(now.at.z),
        fields: json_fields(id, &fields),
        typed_fields: typed_fields(id, &fields),
    }
}

fn walk(dice: &mut StdRng, run_reach: (i32, i32), thing: &mut Thing) {
    let far = if dice.random_ratio(1, 10) { 30 } else { 3 };
    let x = thing.at.x + dice.random_range(-far..=far);
    let z = thing.at.z + dice.random_range(-far..=far);
    thing.at = Tile {
        x: x.clamp(run_reach.0, run_reach.1),
        z: z.clamp(0, 63),
    };
}

impl Zones {
    pub(super) fn new(dice: &mut StdRng) -> Self {
        let owners = (0..3)
            .map(|x| (x, Some(u64::try_from(x).unwrap() + 1)))
            .collect();
        let mut zones = Self {
            owners: Strip(owners),
            zones: (1..=3).map(|run| (run, Zone::default())).collect(),
            crossing: Vec::new(),
            ownerless: Vec::new(),
            minted: 0,
        };
        for run in 1..=3 {
            for _ in 0..60 {
                zones.mint(dice, run);
            }
        }
        zones
    }

    pub(super) fn runs(&self) -> Vec<u64> {
        self.zones.keys().copied().collect()
    }

    /// Returns the columns in which the run's things may stand: a little past its regions.
    fn reach(&self, run: u64) -> Option<(i32, i32)> {
        let mine = || {
            self.owners
                .0
                .iter()
                .filter(|(_, owner)| **owner == Some(run))
                .map(|(x, _)| *x)
        };
        let (low, high) = (mine().min()?, mine().max()?);
        Some(((low * 64 - 20).max(0), (high * 64 + 83).min(191)))
    }

    fn mint(&mut self, dice: &mut StdRng, run: u64) {
        let Some((low, high)) = self.reach(run) else {
            return;
        };
        self.minted += 1;
        // Many in one place, so that some chunks are too much for one update.
        let crowd = dice.random_ratio(1, 2);
        let x = if crowd {
            (low + high) / 2
        } else {
            dice.random_range(low..=high)
        };
        let z = if crowd { 30 } else { dice.random_range(0..64) };
        let name = "n".repeat(dice.random_range(1..800));
        let fields = json!({"name": name, "health": 10});
        let Value::Object(fields) = fields else {
            unreachable!()
        };
        let thing = Thing {
            at: Tile { x, z },
            sequence: dice.random_range(0..5),
            fields,
        };
        let id = format!("{}", self.minted);
        if let Some(zone) = self.zones.get_mut(&run) {
            zone.things.insert(id, thing);
        }
    }

    pub(super) fn play(&mut self, dice: &mut StdRng, tick: u64, calm: bool) {
        self.arrive(tick);
        self.take_over(dice, tick);
        if calm {
            return;
        }
        if dice.random_ratio(1, 20) {
            self.give_any(dice, tick);
        }
        let runs = self.runs();
        for run in &runs {
            let Some(reach) = self.reach(*run) else {
                continue;
            };
            let zone = self.zones.get_mut(run).expect("a run");
            let ids: Vec<String> = zone.things.keys().cloned().collect();
            for id in ids {
                let thing = zone.things.get_mut(&id).expect("a thing");
                match dice.random_range(0..100) {
                    0..30 => walk(dice, reach, thing),
                    30..34 => {
                        thing
                            .fields
                            .insert("health".to_owned(), json!(dice.random_range(0..9)));
                    }
                    34..36 => drop(thing.fields.remove("health")),
                    36 => drop(zone.things.remove(&id)),
                    37..40 => {
                        let to = runs[dice.random_range(0..runs.len())];
                        let mut thing = zone.things.remove(&id).expect("a thing");
                        thing.sequence += 1;
                        zone.transferred.insert(id.clone());
                        let due = tick + dice.random_range(1..=2);
                        self.crossing.push((due, to, id, thing));
                    }
                    _ => {}
                }
            }
            if dice.random_ratio(1, 2) {
                self.mint(dice, *run);
            }
        }
        self.bring_near();
    }

    /// Plays those whose crossing is over, at the present owner of their place.
    fn arrive(&mut self, tick: u64) {
        let due: Vec<_> = self
            .crossing
            .extract_if(.., |(due, ..)| *due <= tick)
            .collect();
        for (_, to, id, mut thing) in due {
            let reach = self.zones.get(&to).and_then(|_| self.reach(to));
            let near = reach.is_some_and(|(low, high)| (low..=high).contains(&thing.at.x));
            let region = thing.at.x.div_euclid(64);
            let run = if near {
                Some(to)
            } else {
                thing.sequence += 1;
                self.owners.0.get(&region).copied().flatten()
            };
            match run.and_then(|run| self.zones.get_mut(&run)) {
                Some(zone) => drop(zone.things.insert(id, thing)),
                None => {
                    let left = BTreeMap::from([(id, thing)]);
                    self.ownerless.push((tick + 2, left));
                }
            }
        }
    }

    /// Moves each crossing thing to a place where its new owner may have it.
    fn bring_near(&mut self) {
        let mut crossing = std::mem::take(&mut self.crossing);
        for (_, to, _, thing) in &mut crossing {
            if let Some((low, high)) = self.reach(*to) {
                thing.at.x = thing.at.x.clamp(low, high);
            }
        }
        self.crossing = crossing;
    }

    /// Kills a run, unless it is the last one.
    pub(super) fn kill(&mut self, dice: &mut StdRng) -> Option<u64> {
        let runs = self.runs();
        if runs.len() < 2 {
            return None;
        }
        let run = runs[dice.random_range(0..runs.len())];
        let zone = self.zones.remove(&run)?;
        for owner in self
            .owners
            .0
            .values_mut()
            .filter(|owner| **owner == Some(run))
        {
            *owner = None;
        }
        self.ownerless.push((0, zone.things));
        Some(run)
    }

    fn take_over(&mut self, dice: &mut StdRng, tick: u64) {
        let runs = self.runs();
        let waits = self.owners.0.values().any(Option::is_none) && !dice.random_ratio(1, 4);
        if waits {
            return;
        }
        for owner in self.owners.0.values_mut().filter(|owner| owner.is_none()) {
            *owner = Some(runs[dice.random_range(0..runs.len())]);
        }
        for (_, things) in self.ownerless.extract_if(.., |(due, _)| *due <= tick) {
            for (id, thing) in things {
                let region = thing.at.x.div_euclid(64);
                let run = self
                    .owners
                    .0
                    .get(&region)
                    .copied()
                    .flatten()
                    .unwrap_or(runs[0]);
                let zone = self.zones.get_mut(&run).expect("a live owner");
                let thing = Thing {
                    sequence: thing.sequence + 1,
                    ..thing
                };
                zone.things.insert(id, thing);
            }
        }
    }

    /// Gives a region with all that stands in it to another run, which plays it after so many
    /// ticks.
    pub(super) fn give(&mut self, x: i32, to: u64, tick: u64, after: u64) {
        let Some(Some(from)) = self.owners.0.insert(x, Some(to)) else {
            return;
        };
        let left = self.reach(from);
        let zone = self.zones.get_mut(&from).expect("an owner that lives");
        // Those, too, that stand past its border and belong to it.
        let of_it = |_: &String, thing: &mut Thing| {
            let stays = left.is_some_and(|(low, high)| (low..=high).contains(&thing.at.x));
            thing.at.x.div_euclid(64) == x || !stays
        };
        for (id, mut thing) in zone.things.extract_if(.., of_it) {
            thing.sequence += 1;
            zone.transferred.insert(id.clone());
            self.crossing.push((tick + after, to, id, thing));
        }
    }

    fn give_any(&mut self, dice: &mut StdRng, tick: u64) {
        let runs = self.runs();
        let to = runs[dice.random_range(0..runs.len())];
        let x = dice.random_range(0..3);
        let owner = self.owners.0.get(&x).copied().flatten();
        if owner.is_some_and(|owner| owner != to) {
            self.give(x, to, tick, dice.random_range(1..=2));
        }
    }

    /// Publishes, between two ticks, things that a batch held back: some come, some go.
    pub(super) fn extra(&mut self, dice: &mut StdRng, run: u64, tick: u64) -> wire::Frame {
        let before: BTreeSet<String> = self.zones[&run].things.keys().cloned().collect();
        for _ in 0..dice.random_range(0..3) {
            self.mint(dice, run);
        }
        let zone = self.zones.get_mut(&run).expect("a run");
        let mut chunks: BTreeMap<Chunk, wire::ChunkFrame> = BTreeMap::new();
        let mut entry = |chunk: Chunk, edit: &mut dyn FnMut(&mut wire::ChunkFrame)| {
            if zone.subscribed.contains(&chunk) && !zone.fresh.contains(&chunk) {
                edit(chunks.entry(chunk).or_insert_with(|| wire::ChunkFrame {
                    chunk: wire_chunk(chunk),
                    ..Default::default()
                }));
            }
        };
        for (id, thing) in &zone.things {
            if !before.contains(id) {
                zone.published.insert(id.clone(), thing.clone());
                let entity = wire_entity(id, thing);
                entry(Chunk::from(thing.at), &mut |f| f.enter.push(entity.clone()));
            }
        }
        let same = |id: &&String| zone.published.get(*id) == zone.things.get(*id);
        let gone = before.iter().filter(same).nth(dice.random_range(0..60));
        if let Some(id) = gone.cloned()
            && let Some(thing) = zone.things.remove(&id)
        {
            zone.published.remove(&id);
            let leave = wire::Leave {
                id,
                ownership_sequence: thing.sequence,
                ..Default::default()
            };
            entry(Chunk::from(thing.at), &mut |f| f.leave.push(leave.clone()));
        }
        wire::Frame {
            run_id: run,
            tick,
            chunks: chunks.into_values().collect(),
            sessions: Vec::new(),
            extra: true,
        }
    }

    /// Returns zones with so many things that stand still in the middle region, and nothing else.
    pub(super) fn crowd(count: i32) -> Self {
        let mut zones = Self {
            owners: Strip((0..3).zip([Some(1), Some(2), Some(3)]).collect()),
            zones: (1..=3).map(|run| (run, Zone::default())).collect(),
            crossing: Vec::new(),
            ownerless: Vec::new(),
            minted: 0,
        };
        let things = (0..count).map(|n| {
            let at = Tile {
                x: 72 + n % 48,
                z: 8 + n / 48 % 48,
            };
            let thing = Thing {
                at,
                sequence: 1,
                fields: Map::new(),
            };
            (format!("thing {n}"), thing)
        });
        if let Some(zone) = zones.zones.get_mut(&2) {
            zone.things.extend(things);
        }
        zones
    }

    /// Returns whether everything is owned and played.
    pub(super) fn quiet(&self) -> bool {
        let owned = self.owners.0.values().all(Option::is_some);
        owned && self.crossing.is_empty() && self.ownerless.is_empty()
    }

    pub(super) fn subscribe(&mut self, run: u64, ask: &Ask) {
        let Some(zone) = self.zones.get_mut(&run) else {
            return;
        };
        for chunk in &ask.remove {
            zone.subscribed.remove(chunk);
            zone.fresh.remove(chunk);
        }
        zone.subscribed.extend(&ask.add);
        zone.fresh.extend(&ask.add);
    }

    pub(super) fn unsubscribe(&mut self, run: u64) {
        if let Some(zone) = self.zones.get_mut(&run) {
            zone.subscribed.clear();
            zone.fresh.clear();
        }
    }

    pub(super) fn frame(&mut self, run: u64, tick: u64) -> wire::Frame {
        let zone = self.zones.get_mut(&run).expect("a run");
        let mut chunks: BTreeMap<Chunk, wire::ChunkFrame> = BTreeMap::new();
        let mut entry = |chunk: Chunk, edit: &mut dyn FnMut(&mut wire::ChunkFrame)| {
            if zone.subscribed.contains(&chunk) && !zone.fresh.contains(&chunk) {
                edit(chunks.entry(chunk).or_insert_with(|| wire::ChunkFrame {
                    chunk: wire_chunk(chunk),
                    ..Default::default()
                }));
            }
        };
        for (id, before) in &zone.published {
            let from = Chunk::from(before.at);
            let now = zone.things.get(id);
            let moved = now.is_some_and(|now| Chunk::from(now.at) != from);
            if now.is_none() || moved {
                let leave = wire::Leave {
                    id: id.clone(),
                    ownership_sequence: before.sequence,
                    transferred: zone.transferred.contains(id),
                    moved,
                };
                entry(from, &mut |frame| frame.leave.push(leave.clone()));
            } else if let Some(now) = now.filter(|now| *now != before) {
                let delta = delta(id, before, now);
                entry(from, &mut |frame| frame.update.push(delta.clone()));
            }
        }
        for (id, now) in &zone.things {
            let to = Chunk::from(now.at);
            let before = zone.published.get(id).map(|before| Chunk::from(before.at));
            if before != Some(to) {
                entry(to, &mut |frame| frame.enter.push(wire_entity(id, now)));
            }
        }
        for chunk in std::mem::take(&mut zone.fresh) {
            let here = zone
                .things
                .iter()
                .filter(|(_, thing)| Chunk::from(thing.at) == chunk);
            let frame = wire::ChunkFrame {
                chunk: wire_chunk(chunk),
                full: true,
                enter: here.map(|(id, thing)| wire_entity(id, thing)).collect(),
                ..Default::default()
            };
            chunks.insert(chunk, frame);
        }
        zone.published = zone.things.clone();
        zone.transferred.clear();
        wire::Frame {
            run_id: run,
            tick,
            chunks: chunks.into_values().collect(),
            sessions: Vec::new(),
            extra: false,
        }
    }

    /// Returns the things of all zones in a chunk.
    pub(super) fn chunk(&self, chunk: Chunk) -> BTreeMap<String, Seen> {
        let all = self.zones.values().flat_map(|zone| &zone.things);
        let here = all.filter(|(_, thing)| Chunk::from(thing.at) == chunk);
        here.map(|(id, thing)| {
            let seen = (
                thing.at.x,
                thing.at.z,
                kind(id).to_owned(),
                thing.fields.clone(),
            );
            (id.clone(), seen)
        })
        .collect()
    }
}
