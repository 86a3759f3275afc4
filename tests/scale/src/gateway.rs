//! One gateway as far as its map of the world goes: the real subscriptions, replica, stage and views,
//! called in the order of the gateway's fan-out.

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use anyhow::{Context, Result};
use bytes::Bytes;
use prost::Message;
use proto::{client::Format, rpc::zone::v1::Frame};
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};
use view::{
    changes::Changes,
    encode::{self, Encoding},
    interest::{Flush, View},
    replica::Replica,
    stage::Stage,
    subscriptions::Subscriptions,
};
use world::{Chunk, Tile};

use crate::{
    clock::timed,
    crowd::{Crowd, uuid},
    zones::{EncodedFrame, Link, Owned, Published, Zones, session_frame},
};

/// Most players that a client with the cap sees.
pub const CAP: usize = 255;

/// Cost of a tick at a gateway. Times are processor time in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TickCost {
    /// Bytes of the zones' frames.
    pub frame_bytes: f64,
    /// Records of chunks in them.
    pub frame_chunks: f64,
    /// Time to decode the frames.
    pub decode_us: f64,
    /// Time to apply them to the replica, and to collect what changed.
    pub apply_us: f64,
    /// Time to compare the subscriptions with the sessions' places.
    pub reconcile_us: f64,
    /// Updates with the cap of 255 players.
    pub capped: Shown,
    /// Updates without a cap.
    pub whole: Shown,
}

/// Cost of all clients' updates in a tick, in `tilestead.v2`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Processor time in microseconds.
    pub us: f64,
    /// Number of updates.
    pub updates: f64,
    /// Bytes of the updates.
    pub bytes: f64,
    /// Chunks that clients are still owed afterwards.
    pub owed: f64,
}

/// A session, as two clients see it: one with the cap, and one without.
#[derive(Debug)]
struct Session {
    being: usize,
    id: String,
    focus: [Arc<str>; 1],
    capped: View,
    whole: View,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Gateway {
    sessions: Vec<Session>,
    replica: Replica,
    subscriptions: Subscriptions,
    links: BTreeMap<u64, Link>,
}

impl Gateway {
    /// Gives a gateway its players, by their places in the crowd, and a link with each run.
    pub fn new(players: &[usize], runs: &[u64], crowd: &Crowd, dice: &mut StdRng) -> Self {
        let mut gateway = Self::default();
        for run in runs {
            gateway.subscriptions.link_up(*run);
            gateway.links.insert(*run, Link::default());
        }
        let session = |being: &usize| Session {
            being: *being,
            id: uuid(dice),
            focus: [crowd.beings[*being].id.as_str().into()],
            capped: View::default(),
            whole: View::default(),
        };
        gateway.sessions = players.iter().map(session).collect();
        gateway
    }

    /// Returns the number of things and of chunks in the replica.
    pub fn size(&self) -> (usize, usize) {
        self.replica.size()
    }

    /// Returns the number of players.
    pub fn players(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the number of runs of which the gateway asks for chunks.
    pub fn asked(&self) -> usize {
        let asked = self
            .links
            .keys()
            .filter(|run| self.subscriptions.asked(**run));
        asked.count()
    }

    /// Takes the subscriptions up to date. Returns the processor time in microseconds.
    pub fn reconcile(&mut self, crowd: &Crowd, owners: &Owned) -> f64 {
        let tiles = self
            .sessions
            .iter()
            .map(|session| crowd.beings[session.being].at);
        let tiles: Vec<Tile> = tiles.collect();
        let Self {
            replica,
            subscriptions,
            links,
            ..
        } = self;
        let ((), took) = timed(|| {
            let change = subscriptions.reconcile(&tiles, owners, replica.tick());
            for around in &change.set {
                replica.set_runs(around.chunk, &around.runs, around.complete);
            }
            for chunk in change.dropped {
                replica.drop_chunk(chunk);
            }
            for (run, ask) in subscriptions.asks() {
                if let Some(link) = links.get_mut(&run) {
                    link.subscribe(&ask.add, &ask.remove);
                }
                subscriptions.tell(run, &ask);
            }
        });
        took
    }

    /// Takes all runs' frames of a tick, and gives each client its update.
    ///
    /// # Errors
    /// A frame does not decode.
    pub fn tick(
        &mut self,
        zones: &Zones,
        published: &Published,
        crowd: &Crowd,
    ) -> Result<TickCost> {
        let mut cost = TickCost::default();
        self.hear(zones, published, crowd, &mut cost)?;
        cost.reconcile_us = self.reconcile(crowd, &zones.owners);
        let (changes, took) = timed(|| self.replica.flush());
        cost.apply_us += took;
        cost.capped = self.show(&changes, crowd, Some(CAP));
        cost.whole = self.show(&changes, crowd, None);
        Ok(cost)
    }

    fn hear(
        &mut self,
        zones: &Zones,
        published: &Published,
        crowd: &Crowd,
        cost: &mut TickCost,
    ) -> Result<()> {
        let mut sessions: BTreeMap<u64, Vec<_>> = BTreeMap::new();
        for session in &self.sessions {
            let being = &crowd.beings[session.being];
            let run = zones.owners.at(being.at);
            let frame = session_frame(&session.id, being);
            sessions.entry(run).or_default().push(frame);
        }
        let nothing = BTreeMap::new();
        for (run, link) in &mut self.links {
            let news = published.news.get(run).unwrap_or(&nothing);
            let sessions = sessions.remove(run).unwrap_or_default();
            let frame: EncodedFrame = zones.frame(*run, link, news, crowd, sessions);
            let bytes = Bytes::from(frame.encode_to_vec());
            drop(frame);
            cost.frame_bytes += number(bytes.len());
            let (frame, took) = timed(|| Frame::decode(bytes));
            let frame = frame.context("a frame of a run")?;
            cost.decode_us += took;
            cost.frame_chunks += number(frame.chunks.len());
            let replica = &mut self.replica;
            let ((), took) = timed(|| replica.apply(*run, frame.tick, frame.chunks));
            cost.apply_us += took;
        }
        Ok(())
    }

    /// Gives each session its update, as a client with this cap has it.
    fn show(&mut self, changes: &Changes, crowd: &Crowd, most: Option<usize>) -> Shown {
        let mut shown = Shown::default();
        let Self {
            sessions, replica, ..
        } = self;
        let ((), took) = timed(|| {
            let encoded = Cell::new(0);
            let mut stage = Stage::new(replica, changes, &encoded);
            for session in sessions {
                let at = crowd.beings[session.being].at;
                session.show(at, &mut stage, replica, changes, most, &mut shown);
            }
        });
        shown.us = took;
        shown
    }
}

impl Session {
    fn show(
        &mut self,
        at: Tile,
        stage: &mut Stage<'_>,
        replica: &Replica,
        changes: &Changes,
        most: Option<usize>,
        shown: &mut Shown,
    ) {
        let encoding = Encoding::of(Format::Compact, most.is_some());
        let view = match most {
            Some(_) => &mut self.capped,
            None => &mut self.whole,
        };
        let center = Chunk::from(at);
        let mut plan = view.plan(center, changes.tick, stage.from(center, encoding));
        if let Some(most) = most {
            let always = self.focus.iter().filter_map(|id| replica.entity(id));
            let always: Vec<u32> = always.map(|entity| entity.number).collect();
            let crowd = stage.crowd(center);
            view.plan_near(&mut plan, changes, most, at, &always, crowd);
        }
        let flush = Flush {
            encoding,
            replica,
            changes,
        };
        view.complete(&mut plan, flush, &self.focus);
        if view.worth(&plan) {
            let pieces = plan.take_pieces();
            let body = encode::update(Format::Compact, plan.tick, pieces, &plan.gone);
            shown.updates += 1.0;
            shown.bytes += number(body.iter().map(Bytes::len).sum());
            view.took(plan);
        }
        shown.owed += number(view.owed());
    }
}

/// Returns a count as a number for means.
#[allow(clippy::cast_precision_loss, reason = "counts stay below 2^52")]
pub fn number(count: usize) -> f64 {
    count as f64
}
