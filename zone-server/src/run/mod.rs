//! One life of this zone server: the regions that it plays, everybody in them, and the state that
//! it has published of them. Lives on the clock's thread; tasks do the work that must wait, and
//! their answers come back as messages.
//!
//! Always: nothing here blocks. In reading order: `edge` (the tick), `telling`, `showing`,
//! `sessions`, `inputs`, `agents`, `leaving`, `source` and `target` (the two sides of a player's
//! handover), `pull` (to a thing over the border), `giving` and `taking` (those of a region's
//! move), `pausing` (a region goes to nobody), `regions`, `saving`, `value`, `trace`, `fault`.

mod agents;
#[cfg(test)]
mod coming_back;
mod edge;
mod fault;
mod giving;
mod inputs;
mod leaving;
mod live_queries;
mod load;
mod pausing;
mod player_handovers;
mod pull;
mod regain;
mod region_moves;
mod regions;
mod saving;
mod sessions;
mod showing;
mod source;
mod taking;
mod target;
mod telling;
mod trace;
mod value;
#[cfg(feature = "simulation")]
mod watched;

use std::sync::Arc;

use proto::rpc::zone::v1::{
    DumpReply, DumpRequest, Welcome, from_zone, to_zone::Message as ToZoneMessage,
};
use world::{CharacterId, Chunk, Content, Region, World};

use self::{
    edge::TickScope, leaving::Ending, player_handovers::PlayerHandovers, region_moves::RegionMoves,
    regions::Regions, showing::Shown,
};
use crate::{
    PLACE_TICKS,
    beat::{Beat, End},
    commit::{
        batch::{Batch, Pace},
        regions::RegionSaves,
        traces::Traces,
    },
    config::Config,
    deliver::{held::HeldSince, links::Links, published::Fields},
    effects::Effects,
    mailbox::{HandoverMessage, Message, PeerMessage, StoreMessage},
    metrics::Metrics,
    ownership::lease::Pulse,
    replay::{
        recorded::Recorded,
        recorder::{Bounds, GENERATION_BYTES_MAX, Recorder},
    },
    roster::Roster,
};

/// Ticks after which the row of a player goes to the store about whom something changed that is of no
/// value, such as its prayers, or a place to which something else than its legs brought it.
const ALTERED_TICKS: u64 = 5;
/// Rows of a batch that could wait.
const ROWS_MAX: usize = 4_000;

/// The means by which a run reaches the outside.
pub(crate) struct RunContext {
    pub(crate) effects: Box<dyn Effects>,
    pub(crate) metrics: Metrics,
    pub(crate) tracer: service_runtime::telemetry::Tracer,
    pub(crate) tracing: bool,
    pub(crate) pulse: Arc<Pulse>,
}

/// The cause of a run's end, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Regions in which a tick panicked.
    pub(crate) regions: Vec<Region>,
    /// Characters whose rows the store refused.
    pub(crate) characters: Vec<CharacterId>,
}

/// One life of the zone server.
pub(crate) struct Run {
    pub(crate) beat: Beat,
    id: u64,
    /// Incarnation of the store that knows it.
    incarnation: u64,
    config: Arc<Config>,
    context: RunContext,
    world: Recorded,
    /// Last tick played.
    now: u64,
    regions: Regions,
    moves: RegionMoves,
    roster: Roster,
    handovers: PlayerHandovers,
    shown: Shown,
    links: Links,
    /// Ticks since which messages wait for the store.
    held_since: HeldSince,
    batch: Batch,
    saves: RegionSaves,
    /// Trace contexts of the ticks since the last batch.
    traces: Traces,
    scope: TickScope,
    ending: Ending,
}

impl Run {
    /// Returns a new, empty run with its id, which the store gave it in this incarnation.
    pub(crate) fn new(
        (id, incarnation): (u64, u64),
        beat: Beat,
        config: Arc<Config>,
        content: Arc<Content>,
        context: RunContext,
    ) -> Self {
        let pace = Pace {
            walked_ticks: PLACE_TICKS,
            altered_ticks: ALTERED_TICKS,
            save_ticks: config.ticks(config.save_interval),
            rows_max: ROWS_MAX,
        };
        let world = World::new(content, config.rules, config.seed, id);
        let bounds = Bounds {
            ticks: config.replay_ticks,
            bytes: GENERATION_BYTES_MAX,
        };
        let recorder = config.replay_dir.as_ref();
        let recorder = recorder.map(|_| Recorder::new(bounds, beat.last()));
        let batch = Batch::new(pace, config.mutants);
        Self {
            now: beat.last(),
            beat,
            id,
            incarnation,
            world: Recorded::new(world, recorder, config.replay_checks),
            config,
            context,
            regions: Regions::default(),
            moves: RegionMoves::default(),
            roster: Roster::new(),
            handovers: PlayerHandovers::default(),
            shown: Shown::default(),
            links: Links::default(),
            held_since: HeldSince::default(),
            batch,
            saves: RegionSaves::default(),
            traces: Traces::default(),
            scope: TickScope::default(),
            ending: Ending::default(),
        }
    }

    /// Returns the cause of the run's end.
    pub(crate) fn fault(&self) -> Fault {
        Fault {
            regions: self.scope.panicked_in.into_iter().collect(),
            characters: self.ending.refused.clone(),
        }
    }

    /// Returns the cause of the run's end, once it has ended.
    pub(crate) fn end(&self) -> Option<End> {
        self.ending.end
    }

    /// Counts the characters that it holds as gone, because it has ended.
    pub(crate) fn measure_end(&self) {
        let metrics = &self.context.metrics;
        metrics.departed("run_ended", self.roster.len());
    }

    /// Takes in a message that came between ticks.
    #[allow(clippy::too_many_lines, reason = "one arm a message")]
    pub(crate) fn hear(&mut self, message: Message) {
        match message {
            Message::Control(half) => {
                let gateway_id = half.gateway_id.clone();
                if self.links.control(half) {
                    self.welcome(&gateway_id);
                }
            }
            Message::Frames(half) => {
                self.links.frames(half);
            }
            Message::LinkEnded { gateway_id, link } => self.links.ended(&gateway_id, link),
            Message::Gateway {
                gateway_id,
                link,
                message,
            } => {
                if self.links.current(&gateway_id, link) {
                    self.gateway(&gateway_id, *message);
                }
            }
            Message::Subscribe {
                gateway_id,
                link,
                subscribe,
            } => {
                let chunk = |at: proto::rpc::common::v1::Chunk| Chunk { x: at.x, z: at.z };
                let add = subscribe.add.into_iter().map(chunk);
                let remove = subscribe.remove.into_iter().map(chunk);
                self.links.subscribe(&gateway_id, link, add, remove);
            }
            Message::Handover(message) => self.hear_handover(message),
            Message::Peer(message) => self.hear_peers(message),
            Message::Store(message) => self.hear_store(message),
            Message::AgentsOfRun(reply) => self.agents_of_run(&reply),
            // Gateways that asked may be gone.
            Message::TellAgent(request, reply) => {
                let _ = reply.send(self.tell_agent(&request));
            }
            Message::SayToAgent(request, reply) => {
                let _ = reply.send(self.say_to_agent(&request));
            }
            Message::LookAtAgent(request, reply) => {
                let _ = reply.send(self.look_at_agent(&request));
            }
            Message::Dump(request, reply) => {
                // The asker may be gone.
                let _ = reply.send(self.dump(&request));
            }
            // The asker may be gone.
            Message::Whereabouts(who, reply) => drop(reply.send(self.whereabouts(&who))),
            Message::Crowd(reply) => drop(reply.send(self.crowd())),
            Message::Record(order) => self.world.order(order),
            Message::Stop => self.stop(End::Stopped),
        }
        self.drop_closed_links();
    }

    fn gateway(&mut self, gateway_id: &str, message: ToZoneMessage) {
        match message {
            ToZoneMessage::Attach(attach) if attach.resume => self.resume(gateway_id, attach),
            ToZoneMessage::Attach(attach) => self.attach(gateway_id, attach),
            ToZoneMessage::Input(input) => self.input(gateway_id, input),
            ToZoneMessage::Detach(detach) => self.detach(gateway_id, &detach),
            ToZoneMessage::Recall(recall) => self.recall(gateway_id, recall),
            ToZoneMessage::Hello(_) => {
                tracing::warn!(gateway = gateway_id, "a link said hello twice");
            }
        }
    }

    fn hear_handover(&mut self, message: HandoverMessage) {
        match message {
            // Peers that asked may be gone; they ask again.
            HandoverMessage::Prepare(request, reply) => {
                let _ = reply.send(self.prepare(*request));
            }
            HandoverMessage::Complete(request, reply) => {
                let _ = reply.send(self.complete(*request));
            }
            HandoverMessage::Forward(request, reply) => {
                let _ = reply.send(self.forward(request));
            }
            HandoverMessage::Prepared {
                who,
                attempt,
                reply,
            } => self.prepared(&who, attempt, reply),
            HandoverMessage::Completed { who, h, known } => self.completed(&who, h, known),
            HandoverMessage::Forwarded { who, taken } => self.forwarded(&who, taken),
            HandoverMessage::Owner {
                who,
                h,
                owned,
                source_dead,
            } => self.owner(&who, h, owned, source_dead),
        }
    }

    fn hear_peers(&mut self, message: PeerMessage) {
        match message {
            // Peers that asked may be gone; they ask again.
            PeerMessage::PrepareRegion(request, reply) => {
                let _ = reply.send(self.prepare_region(&request));
            }
            PeerMessage::CompleteRegion(request, reply) => {
                let _ = reply.send(self.complete_region(*request));
            }
            PeerMessage::RegionPrepared {
                region,
                attempt,
                reply,
            } => self.region_prepared(region, attempt, reply),
            PeerMessage::RegionCompleted {
                region,
                epoch,
                known,
            } => self.region_completed(region, epoch, known),
            PeerMessage::Locate(request, reply) => {
                let _ = reply.send(self.locate_here(request));
            }
            PeerMessage::Located {
                who,
                attempt,
                run_id,
                reply,
            } => self.located(&who, attempt, run_id, reply),
        }
        self.stopped();
    }

    fn hear_store(&mut self, message: StoreMessage) {
        match message {
            StoreMessage::Drained(heard) => {
                self.drained(heard);
                self.stopped();
            }
            StoreMessage::Directory(update) => self.directory(update),
            StoreMessage::RegionLoaded {
                region,
                epoch,
                loaded,
            } => self.region_loaded(region, epoch, loaded),
            StoreMessage::CharacterLoaded { who, loaded } => self.character_loaded(&who, loaded),
            StoreMessage::Online(online) => self.online(online),
            StoreMessage::Answered { sequence, reply } => self.answered(sequence, reply),
            StoreMessage::CommitFailed => self.batch.attempt_failed(),
            StoreMessage::Renewed(renewed) => self.renewed(renewed),
        }
    }

    fn welcome(&mut self, gateway_id: &str) {
        let welcome = Welcome {
            run_id: self.id,
            tick: self.now,
            content_hash: self.world.content().hash().to_owned(),
        };
        self.links
            .tell(gateway_id, from_zone::Message::Welcome(welcome));
        tracing::info!(run = self.id, gateway = gateway_id, "gateway linked");
    }

    /// Returns the state of some chunks that the run published at a tick; run 0 when it does not
    /// remember.
    fn dump(&self, request: &DumpRequest) -> DumpReply {
        use prost::Message as _;
        use proto::rpc::zone::v1::ChunkFrame;

        let Some((tick, chunks)) = self
            .shown
            .dumps
            .iter()
            .find(|(tick, _)| *tick == request.tick)
        else {
            return DumpReply::default();
        };
        let dumped = request.chunks.iter().map(|at| {
            let news = chunks.get(&Chunk { x: at.x, z: at.z });
            let frame = news.and_then(|news| ChunkFrame::decode(news.encoded(Fields::Json)).ok());
            frame.unwrap_or_else(|| ChunkFrame {
                chunk: Some(*at),
                full: true,
                ..ChunkFrame::default()
            })
        });
        DumpReply {
            run_id: self.id,
            tick: *tick,
            chunks: dumped.collect(),
        }
    }
}
