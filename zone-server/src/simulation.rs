//! One run as a value, for a simulation of many processes: the real run with its real clock,
//! world, batches and links. Its requests to the outside come out as plain values, and the answers
//! of the outside go in.
//!
//! Always: nothing happens unless the simulation calls the run; the same calls give the same
//! answers.

mod asking;
mod hearing;

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use prost::Message as _;
use proto::rpc::{
    persistence::v1::{RegisterReply, RenewReply, RunState},
    zone::v1::{Frame, FromZone, LocateReply, PrepareRegionReply, PrepareReply},
};
use service_runtime::{
    config::{Env, Reader},
    telemetry::{Telemetry, TelemetryConfig},
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use world::{CharacterId, Content, Region};

pub use self::{
    asking::Ask,
    hearing::{Heard, PeerAnswer, PeerAsk},
};

use self::asking::{Asked, Queue};
use crate::{
    beat::{Beat, End},
    config::Config,
    deliver::{
        encoded::EncodedFrame,
        links::{CONTROL_MAX, FRAMES_MAX, LinkHalf},
        published::Fields,
    },
    mailbox::{HandoverMessage, Message, PeerMessage},
    metrics::Metrics,
    ownership::lease::{Pulse, Renewed},
    run::{Run, RunContext},
};

/// The way in which a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// In order; the simulation is to release it.
    Stopped,
    /// The store fenced it.
    Fenced,
    /// Its clock or its store changed under it.
    Astray,
    /// The store refused a write; never right.
    Refused,
    /// A tick panicked with these words; never right.
    Panicked(String),
}

/// A character that a run plays or brings in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// Id of the character.
    pub who: String,
    /// Region to which it belongs, as the run believes.
    pub region: Region,
    /// Sequence at which the run owns it.
    pub sequence: u64,
    /// Whether the character stands in the world.
    pub stands: bool,
    /// Whether a session plays the character.
    pub attached: bool,
}

/// The gateway's end of a link.
#[derive(Debug)]
pub struct LinkEnd {
    control: mpsc::Receiver<Result<FromZone, Status>>,
    frames: mpsc::Receiver<Result<EncodedFrame, Status>>,
    cut: CancellationToken,
}

/// A message that comes out of a link.
#[derive(Debug, Clone)]
pub enum FromLink {
    /// A message that needs no tick.
    Control(FromZone),
    /// The frame of a tick.
    Frame(Frame),
}

impl LinkEnd {
    /// Returns the next message, if there is one.
    pub fn take(&mut self) -> Option<FromLink> {
        if let Ok(Ok(message)) = self.control.try_recv() {
            return Some(FromLink::Control(message));
        }
        let frame = self.frames.try_recv().ok()?.ok()?;
        // This very process has encoded it.
        Frame::decode(frame.encode_to_vec().as_slice())
            .ok()
            .map(FromLink::Frame)
    }

    /// Returns whether the run has cut the link.
    pub fn is_cut(&self) -> bool {
        self.cut.is_cancelled()
    }
}

/// The state that all runs of a simulation share.
pub struct Ground {
    /// Content that the runs play.
    pub content: Arc<Content>,
    /// Settings of the runs; see [`config`].
    pub config: Arc<Config>,
    /// Instruments of the runs.
    pub telemetry: Telemetry,
    metrics: Metrics,
}

impl Ground {
    /// Returns a ground on which runs play `content`.
    ///
    /// # Errors
    /// The instruments cannot be made.
    pub fn new(content: Arc<Content>, config: Config) -> anyhow::Result<Ground> {
        let telemetry = Telemetry::new("zone-server", &TelemetryConfig::default())?;
        Ok(Ground {
            content,
            config: Arc::new(config),
            metrics: Metrics::new(&telemetry.meter()),
            telemetry,
        })
    }

    /// Returns the same ground with other settings; the instruments are shared.
    #[must_use]
    pub fn with(&self, config: Config) -> Ground {
        Ground {
            content: Arc::clone(&self.content),
            config: Arc::new(config),
            telemetry: self.telemetry.clone(),
            metrics: self.metrics.clone(),
        }
    }
}

/// Returns the settings of a zone server on which nothing is set.
pub fn config() -> Config {
    Config::read(&mut Reader::new(Env::default()))
}

/// Time at which all simulations begin, in milliseconds of the store's clock.
pub const BEGIN_MS: u64 = 1_800_000_000_000;

/// Returns a moment of the simulation as the run's clock knows it.
fn at(ms: u64) -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now) + Duration::from_millis(ms.saturating_sub(BEGIN_MS))
}

/// One life of a zone server.
pub struct SimRun {
    id: u64,
    incarnation: u64,
    run: Run,
    asked: Asked,
    ended: Option<Ended>,
}

impl SimRun {
    /// Returns a run that the store registered at about `at_ms`.
    pub fn new(ground: &Ground, registered: &RegisterReply, at_ms: u64) -> SimRun {
        let id = registered.run_id;
        let asked = Asked::default();
        let context = RunContext {
            effects: Box::new(Queue {
                run_id: id,
                asked: asked.clone(),
            }),
            metrics: ground.metrics.clone(),
            tracer: ground.telemetry.tracer(),
            tracing: false,
            pulse: Arc::new(Pulse::default()),
        };
        let tick_ms = ground.config.tick_ms;
        let beat = Beat::new(at(at_ms), registered.store_time_ms, tick_ms);
        let (config, content) = (Arc::clone(&ground.config), Arc::clone(&ground.content));
        SimRun {
            id,
            incarnation: registered.incarnation,
            run: Run::new((id, registered.incarnation), beat, config, content, context),
            asked,
            ended: None,
        }
    }

    /// Returns the run's id.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns how the run ended, once it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Returns the requests of the run since the last call.
    pub fn asks(&mut self) -> VecDeque<Ask> {
        self.asked.take()
    }

    /// Plays the ticks that are due, and returns their number.
    pub fn tick(&mut self, now_ms: u64) -> usize {
        let mut played = 0;
        while self.ended.is_none() {
            let Some(edge) = self.run.beat.edge(at(now_ms)) else {
                break;
            };
            played += 1;
            self.guarded(|run| run.tick(edge));
        }
        played
    }

    /// Gives the run a message.
    pub fn hear(&mut self, heard: Heard, now_ms: u64) {
        if self.ended.is_none() {
            let message = heard.message(|reply, asked_ms| self.renewed(reply, asked_ms, now_ms));
            self.guarded(|run| run.hear(message));
        }
    }

    /// Gives the run a request of a peer and returns the answer; `None`: there is no answer.
    pub fn peer(&mut self, ask: PeerAsk) -> Option<PeerAnswer> {
        if self.ended.is_some() {
            return None;
        }
        let (here, request) = (self.id, ask);
        Some(match request {
            PeerAsk::Prepare(request) if request.to_run_id != here => {
                PeerAnswer::Prepare(PrepareReply {
                    accepted: false,
                    code: "not_owner".to_owned(),
                })
            }
            PeerAsk::PrepareRegion(request) if request.to_run_id != here => {
                PeerAnswer::PrepareRegion(PrepareRegionReply {
                    accepted: false,
                    code: "stale".to_owned(),
                })
            }
            PeerAsk::Locate(request) if request.to_run_id != here => {
                PeerAnswer::Locate(LocateReply::default())
            }
            PeerAsk::Prepare(request) => {
                PeerAnswer::Prepare(self.ask(|reply| HandoverMessage::Prepare(request, reply))?)
            }
            PeerAsk::Complete(request) => {
                PeerAnswer::Complete(self.ask(|reply| HandoverMessage::Complete(request, reply))?)
            }
            PeerAsk::Forward(request) => {
                PeerAnswer::Forward(self.ask(|reply| HandoverMessage::Forward(request, reply))?)
            }
            PeerAsk::PrepareRegion(request) => {
                let asked = self.ask(|reply| PeerMessage::PrepareRegion(request, reply));
                PeerAnswer::PrepareRegion(asked?)
            }
            PeerAsk::CompleteRegion(request) => {
                let asked = self.ask(|reply| PeerMessage::CompleteRegion(request, reply));
                PeerAnswer::CompleteRegion(asked?)
            }
            PeerAsk::Locate(request) => {
                PeerAnswer::Locate(self.ask(|reply| PeerMessage::Locate(request, reply))?)
            }
        })
    }

    fn ask<A, M: Into<Message>>(
        &mut self,
        message: impl FnOnce(oneshot::Sender<A>) -> M,
    ) -> Option<A> {
        let (sender, mut answer) = oneshot::channel();
        let message = message(sender).into();
        self.guarded(|run| run.hear(message));
        answer.try_recv().ok()
    }

    /// Opens both streams of a gateway's link.
    pub fn link(&mut self, gateway_id: &str, link: u64) -> LinkEnd {
        let (control, heard) = mpsc::channel(CONTROL_MAX);
        let (frames, framed) = mpsc::channel(FRAMES_MAX);
        let cut = CancellationToken::new();
        let control = LinkHalf {
            gateway_id: gateway_id.to_owned(),
            link,
            fields: Fields::Typed,
            sender: control,
            cut: cut.clone(),
        };
        let frames = LinkHalf {
            gateway_id: gateway_id.to_owned(),
            link,
            fields: Fields::Typed,
            sender: frames,
            cut: cut.clone(),
        };
        if self.ended.is_none() {
            self.guarded(|run| {
                run.hear(Message::Control(control));
                run.hear(Message::Frames(frames));
            });
        }
        LinkEnd {
            control: heard,
            frames: framed,
            cut,
        }
    }

    /// Returns the characters that the run plays or brings in.
    pub fn played(&self) -> Vec<Played> {
        self.run.played()
    }

    /// Returns whether the player acts on things in this run and must not go.
    pub fn pinned(&self, who: &CharacterId) -> bool {
        self.run.pinned(who)
    }

    /// Describes the work of the run, for people.
    pub fn about(&self) -> String {
        self.run.about()
    }

    /// Returns all knowledge of the run about a character, for people.
    pub fn slots(&self, who: &str) -> Vec<String> {
        self.run.slots(&CharacterId::from(who))
    }

    /// Returns the regions that the run plays, with their epochs.
    pub fn held(&self) -> Vec<(Region, u64)> {
        self.run.regions_held()
    }

    fn guarded(&mut self, work: impl FnOnce(&mut Run)) {
        let run = &mut self.run;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(run))) {
            let words = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no words");
            self.ended = Some(Ended::Panicked(words.to_owned()));
            return;
        }
        self.ended = self.run.end().map(|end| match end {
            End::Stopped => Ended::Stopped,
            End::Fenced => Ended::Fenced,
            End::Astray => Ended::Astray,
            End::Refused => Ended::Refused,
            End::Panicked => Ended::Panicked(String::new()),
        });
    }

    fn renewed(&self, reply: &RenewReply, asked_ms: u64, now_ms: u64) -> Renewed {
        if reply.state() == RunState::Fenced {
            Renewed::Fenced
        } else if reply.incarnation != self.incarnation {
            Renewed::OtherIncarnation
        } else {
            Renewed::Live {
                store_ms: reply.store_time_ms,
                at: at(asked_ms.midpoint(now_ms)),
            }
        }
    }
}
