//! News of the stub world from its zone servers: real `ChunkFrame`s, encoded once for all gateways, in
//! real `Frame`s for each link.
//!
//! A thing belongs to the run that owns the region of its tile. Real zones wait until a player is some
//! tiles past a border; so here a few more players change their zone than there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use prost::Message;
use proto::rpc::{
    common::v1 as common,
    zone::v1::{self as wire, ChunkFrame, SessionFrame},
};
use view::subscriptions::Owners;
use world::{Chunk, Region, Tile};

use crate::{
    clock::timed,
    crowd::{Being, Crowd, Step},
};

/// The runs that own the regions.
#[derive(Debug, Default, Clone)]
pub struct Owned(pub HashMap<Region, u64>);

impl Owners for Owned {
    fn owner(&self, region: Region) -> Option<u64> {
        self.0.get(&region).copied()
    }

    fn exists(&self, region: Region) -> bool {
        self.0.contains_key(&region)
    }
}

impl Owned {
    /// Returns the run that owns a tile's region; 0: nobody.
    pub fn at(&self, tile: Tile) -> u64 {
        self.owner(Region::from(tile)).unwrap_or(0)
    }
}

/// A frame whose chunks are encoded already; on the wire it is a `Frame`, as that of the zone server.
#[derive(Clone, PartialEq, prost::Message)]
pub struct EncodedFrame {
    /// Run that sends it.
    #[prost(uint64, tag = "1")]
    pub run_id: u64,
    /// Tick that it tells of.
    #[prost(uint64, tag = "2")]
    pub tick: u64,
    /// Encoded `ChunkFrame`s.
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub chunks: Vec<Bytes>,
    /// The part that is private to each session.
    #[prost(message, repeated, tag = "4")]
    pub sessions: Vec<SessionFrame>,
}

/// News of a run's chunks, encoded.
pub type News = BTreeMap<Chunk, Bytes>;

/// Changed chunks of a tick, by run.
type Frames = BTreeMap<u64, BTreeMap<Chunk, ChunkFrame>>;

/// News of all runs in a tick.
#[derive(Debug, Default)]
pub struct Published {
    /// By run.
    pub news: BTreeMap<u64, News>,
    /// Processor time that each run took to encode its news, in microseconds.
    pub encode_us: BTreeMap<u64, f64>,
}

/// Chunks that one gateway sees at one run.
#[derive(Debug, Default, Clone)]
pub struct Link {
    /// Subscribed chunks.
    pub chunks: BTreeSet<Chunk>,
    /// Chunks of which the next frame has a full record.
    pub fresh: BTreeSet<Chunk>,
}

impl Link {
    /// Changes the set of chunks that the gateway sees.
    pub fn subscribe(&mut self, add: &[Chunk], remove: &[Chunk]) {
        for chunk in remove {
            self.chunks.remove(chunk);
            self.fresh.remove(chunk);
        }
        self.chunks.extend(add);
        self.fresh.extend(add);
    }

    /// Returns those of a run's news that the link carries, apart from full records.
    pub fn carries(&self, news: &News) -> Vec<Bytes> {
        let seen = |chunk: &Chunk| self.chunks.contains(chunk) && !self.fresh.contains(chunk);
        let seen = news.iter().filter(|(chunk, _)| seen(chunk));
        seen.map(|(_, bytes)| bytes.clone()).collect()
    }
}

/// See the module.
#[derive(Debug)]
pub struct Zones {
    /// Owners of the regions.
    pub owners: Owned,
    /// Tick of the last news.
    pub tick: u64,
    here: HashMap<Chunk, BTreeSet<usize>>,
}

impl Zones {
    /// Puts all beings into their chunks.
    pub fn new(owners: Owned, crowd: &Crowd) -> Self {
        let mut here: HashMap<Chunk, BTreeSet<usize>> = HashMap::new();
        for (n, being) in crowd.beings.iter().enumerate() {
            here.entry(Chunk::from(being.at)).or_default().insert(n);
        }
        Self {
            owners,
            tick: 1_000,
            here,
        }
    }

    /// Publishes the steps of a tick.
    pub fn publish(&mut self, crowd: &mut Crowd, steps: &[Step]) -> Published {
        self.tick += 1;
        let mut frames = Frames::new();
        for step in steps {
            self.walk(&mut crowd.beings[step.being], *step, &mut frames);
        }
        let mut published = Published::default();
        for (run, frames) in frames {
            let encode = |(chunk, frame): (&Chunk, &ChunkFrame)| {
                (*chunk, Bytes::from(frame.encode_to_vec()))
            };
            let (news, took) = timed(|| frames.iter().map(encode).collect::<News>());
            published.news.insert(run, news);
            published.encode_us.insert(run, took);
        }
        published
    }

    fn walk(&mut self, being: &mut Being, step: Step, frames: &mut Frames) {
        let (from, to) = (Chunk::from(step.from), Chunk::from(step.to));
        let (giver, taker) = (self.owners.at(step.from), self.owners.at(step.to));
        if from == to {
            let changed = |was: i32, is: i32| (was != is).then_some(is);
            of(frames, giver, to).update.push(wire::EntityDelta {
                id: being.id.clone(),
                x: changed(step.from.x, step.to.x),
                z: changed(step.from.z, step.to.z),
                ..wire::EntityDelta::default()
            });
            return;
        }
        of(frames, giver, from).leave.push(wire::Leave {
            id: being.id.clone(),
            ownership_sequence: being.sequence,
            transferred: giver != taker,
            moved: giver == taker,
        });
        being.sequence += u64::from(giver != taker);
        of(frames, taker, to).enter.push(entity(being));
        if let Some(here) = self.here.get_mut(&from) {
            here.remove(&step.being);
        }
        self.here.entry(to).or_default().insert(step.being);
    }

    /// Returns the frame of one link. The link's fresh chunks are in it and are fresh no more.
    pub fn frame(
        &self,
        run: u64,
        link: &mut Link,
        news: &News,
        crowd: &Crowd,
        sessions: Vec<SessionFrame>,
    ) -> EncodedFrame {
        let full = link.fresh.iter().map(|chunk| self.full(run, *chunk, crowd));
        let mut chunks: Vec<Bytes> = full.collect();
        chunks.extend(link.carries(news));
        link.fresh.clear();
        EncodedFrame {
            run_id: run,
            tick: self.tick,
            chunks,
            sessions,
        }
    }

    /// Returns all that a run has in a chunk, encoded.
    fn full(&self, run: u64, chunk: Chunk, crowd: &Crowd) -> Bytes {
        let mut frame = ChunkFrame {
            full: true,
            ..empty(chunk)
        };
        if self.owners.owner(Region::from(chunk)) == Some(run) {
            let here = self.here.get(&chunk).into_iter().flatten();
            frame.enter = here.map(|n| entity(&crowd.beings[*n])).collect();
        }
        frame.encode_to_vec().into()
    }
}

/// Returns the private part of a session's tick, without messages.
pub fn session_frame(session_id: &str, being: &Being) -> SessionFrame {
    SessionFrame {
        session_id: session_id.to_owned(),
        character_id: being.id.clone(),
        ownership_sequence: being.sequence,
        position: Some(common::Tile {
            x: being.at.x,
            z: being.at.z,
        }),
        ..SessionFrame::default()
    }
}

fn empty(chunk: Chunk) -> ChunkFrame {
    ChunkFrame {
        chunk: Some(common::Chunk {
            x: chunk.x,
            z: chunk.z,
        }),
        ..ChunkFrame::default()
    }
}

fn of(frames: &mut Frames, run: u64, chunk: Chunk) -> &mut ChunkFrame {
    let frames = frames.entry(run).or_default();
    frames.entry(chunk).or_insert_with(|| empty(chunk))
}

/// Returns a being as zone servers show players and NPCs, field for field.
fn entity(being: &Being) -> wire::Entity {
    use wire::field::Value::{Flag, Number, Text};
    let text = |text: &str| Text(text.to_owned());
    let fields = match being.player {
        true => vec![
            ("name", text(&being.name)),
            ("combatLevel", Number(42)),
            ("health", Number(50)),
            ("maxHealth", Number(50)),
            ("run", Flag(false)),
        ],
        false => vec![
            ("name", text(&being.name)),
            ("npcId", text("forest_beast")),
            ("level", Number(7)),
            ("health", Number(20)),
            ("maxHealth", Number(20)),
            ("category", text("mob")),
            ("attackable", Flag(true)),
        ],
    };
    let fields = fields.into_iter().map(|(name, value)| wire::Field {
        name: name.to_owned(),
        value: Some(value),
    });
    wire::Entity {
        id: being.id.clone(),
        kind: if being.player { "player" } else { "npc" }.to_owned(),
        x: being.at.x,
        z: being.at.z,
        ownership_sequence: being.sequence,
        typed_fields: fields.collect(),
        ..wire::Entity::default()
    }
}

#[cfg(test)]
mod tests {
    use proto::rpc::zone::v1::Frame;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{crowd::Habits, land::Land};

    /// A world of 2 × 2 regions, of which two runs own a column each.
    fn stage() -> (StdRng, Crowd, Zones) {
        let mut dice = StdRng::seed_from_u64(5);
        let land = Land::new(2, 1, &mut dice);
        let habits = Habits {
            in_towns: 0.5,
            walking: 1.0,
            npcs: 3,
        };
        let crowd = Crowd::new(&land, 100, habits, &mut dice);
        let owned = land.regions().map(|at| (at, u64::from(at.x == 0) + 1));
        let zones = Zones::new(Owned(owned.collect()), &crowd);
        (dice, crowd, zones)
    }

    #[test]
    fn a_frame_has_the_subscribed_chunks_first_in_full_and_then_their_changes() {
        let (mut dice, mut crowd, mut zones) = stage();
        let chunks: Vec<Chunk> = zones.here.keys().copied().collect();
        let mut link = Link::default();
        link.subscribe(&chunks, &[]);
        let mut frames = |zones: &mut Zones, link: &mut Link| {
            let steps = crowd.step(&mut dice);
            let published = zones.publish(&mut crowd, &steps);
            let frame = zones.frame(1, link, &published.news[&1], &crowd, Vec::new());
            let frame = Frame::decode(frame.encode_to_vec().as_slice()).unwrap();
            (frame, published.news[&1].len())
        };
        let (first, _) = frames(&mut zones, &mut link);
        assert_eq!(first.chunks.len(), chunks.len());
        assert!(first.chunks.iter().all(|chunk| chunk.full));
        let told: usize = first.chunks.iter().map(|chunk| chunk.enter.len()).sum();
        let (second, changed) = frames(&mut zones, &mut link);
        assert!(second.chunks.iter().all(|chunk| !chunk.full));
        assert!(second.chunks.len() <= changed && second.chunks.len() > changed / 2);
        let east = |n: &&usize| crowd.beings[**n].at.x >= 64;
        let owned = zones.here.values().flatten().filter(east).count();
        assert!(told.abs_diff(owned) < 10, "{told} told, {owned} are there");
    }

    #[test]
    fn whoever_crosses_a_border_leaves_one_run_and_enters_the_other_with_the_next_sequence() {
        let (_, mut crowd, mut zones) = stage();
        let (from, to) = (Tile { x: 63, z: 5 }, Tile { x: 64, z: 5 });
        crowd.beings[0].at = to;
        zones.here.entry(Chunk::from(from)).or_default().insert(0);
        let mut frames = Frames::new();
        let step = Step { being: 0, from, to };
        zones.walk(&mut crowd.beings[0], step, &mut frames);
        let leave = &frames[&2][&Chunk::from(from)].leave[0];
        assert!(leave.transferred && !leave.moved);
        assert_eq!(leave.ownership_sequence, 1);
        assert_eq!(frames[&1][&Chunk::from(to)].enter[0].ownership_sequence, 2);
        assert!(!zones.here[&Chunk::from(from)].contains(&0));
    }
}
