//! A fake zone, which does as a test orders.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use proto::rpc::{
    common::v1 as common,
    zone::v1::{
        self as wire, from_zone,
        link_server::{Link, LinkServer},
        to_zone,
    },
};
use tokio::{
    net::TcpListener,
    sync::{Mutex as AsyncMutex, Notify, mpsc},
    time::timeout,
};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming, transport::server::TcpIncoming};

use super::TIMEOUT;

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Answer to an attach.
#[derive(Clone, Copy)]
enum Manner {
    Accept,
    NotHere,
    NotInWorld,
    Stale,
    Elsewhere,
    Busy,
    /// No answer yet.
    Silent,
}

struct State {
    manner: Manner,
    things: Vec<wire::Entity>,
    fresh: Vec<common::Chunk>,
    private: Vec<wire::SessionFrame>,
    /// Ownership sequence under which every frame names the session that it plays.
    plays: Option<u64>,
    /// Number of frames sent.
    sent: u64,
    /// Whether it sends no frames.
    is_silent: bool,
    /// Whether all its frames are of the same tick.
    stands_still: bool,
    /// Frame to send between two ticks.
    extra: Option<wire::ChunkFrame>,
    /// Numbers of the last gateway's last attach and input.
    last: (u64, u64),
    control: Option<mpsc::Sender<Result<wire::FromZone, Status>>>,
}

/// Zone that ticks every 20 ms while it lives.
#[derive(Clone)]
pub(super) struct Zone {
    pub(super) run: u64,
    pub(super) address: String,
    sequence: u64,
    dead: Arc<AtomicBool>,
    died: Arc<Notify>,
    state: Arc<Mutex<State>>,
    heard: Arc<AsyncMutex<mpsc::Receiver<to_zone::Message>>>,
    hearing: mpsc::Sender<to_zone::Message>,
}

pub(super) fn person(id: &str, x: i32, z: i32, sequence: u64) -> wire::Entity {
    wire::Entity {
        id: id.to_owned(),
        kind: "player".to_owned(),
        x,
        z,
        ownership_sequence: sequence,
        fields: br#"{"name":"Ann"}"#.as_slice().into(),
        typed_fields: Vec::new(),
    }
}

fn from_zone(message: from_zone::Message) -> wire::FromZone {
    wire::FromZone {
        message: Some(message),
    }
}

impl Zone {
    pub(super) async fn start(run: u64, sequence: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (hearing, heard) = mpsc::channel(256);
        let state = State {
            manner: Manner::Accept,
            things: Vec::new(),
            fresh: Vec::new(),
            private: Vec::new(),
            plays: None,
            sent: 0,
            is_silent: false,
            stands_still: false,
            extra: None,
            last: (0, 0),
            control: None,
        };
        let zone = Self {
            run,
            address,
            sequence,
            dead: Arc::default(),
            died: Arc::default(),
            state: Arc::new(Mutex::new(state)),
            heard: Arc::new(AsyncMutex::new(heard)),
            hearing,
        };
        let serving = tonic::transport::Server::builder()
            .add_service(LinkServer::new(zone.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(serving);
        zone
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("whole")
    }

    /// Returns the next control message.
    pub(super) async fn hears(&self) -> to_zone::Message {
        let mut heard = self.heard.lock().await;
        timeout(TIMEOUT, heard.recv())
            .await
            .expect("nothing was said")
            .expect("open")
    }

    pub(super) fn refuse(&self) {
        self.state().manner = Manner::NotHere;
    }

    /// Makes it play nobody any more, without a word.
    pub(super) fn forgets(&self) {
        self.state().plays = None;
    }

    pub(super) fn accept(&self) {
        self.state().manner = Manner::Accept;
    }

    /// Makes it answer attaches as a zone that still loads.
    pub(super) fn load(&self) {
        self.state().manner = Manner::Busy;
    }

    /// Sets the numbers of another gateway's last attach and input.
    pub(super) fn was_played(&self, attach: u64, last_input: u64) {
        self.state().last = (attach, last_input);
    }

    pub(super) fn gives(&self, to: &Zone, epoch: u64) {
        self.control(from_zone::Message::RegionMoved(wire::RegionMoved {
            region: Some(common::Region { x: 0, z: 0 }),
            epoch,
            to_run_id: to.run,
        }));
    }

    /// Publishes a thing between two ticks.
    pub(super) fn releases(&self, thing: wire::Entity) {
        let chunk = common::Chunk {
            x: thing.x.div_euclid(8),
            z: thing.z.div_euclid(8),
        };
        self.state().extra = Some(wire::ChunkFrame {
            chunk: Some(chunk),
            enter: vec![thing],
            ..Default::default()
        });
    }

    /// Makes it answer no attach before [`Zone::answers_attach`].
    pub(super) fn waits(&self) {
        self.state().manner = Manner::Silent;
    }

    pub(super) fn answers_attach(&self, attach: u64) {
        let attach = wire::Attach {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            attach,
            ..Default::default()
        };
        let attached = self.attached(&attach);
        self.control(from_zone::Message::Attached(attached));
    }

    /// Returns whether everything private has gone out with a frame.
    pub(super) fn has_told(&self) -> bool {
        self.state().private.is_empty()
    }

    pub(super) fn log_out(&self) {
        self.state().manner = Manner::NotInWorld;
    }

    pub(super) fn replace(&self) {
        self.state().manner = Manner::Stale;
    }

    /// Makes it refuse the session as one that plays from another gateway, unless it comes from
    /// there.
    pub(super) fn play_elsewhere(&self) {
        self.state().manner = Manner::Elsewhere;
    }

    /// Ends its streams, and lets none open again.
    pub(super) fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.state().control = None;
        self.died.notify_waiters();
    }

    pub(super) fn place(&self, thing: wire::Entity) {
        self.state().things.push(thing);
    }

    fn session_frame(sequence: u64, messages: Vec<wire::Private>) -> wire::SessionFrame {
        wire::SessionFrame {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            ownership_sequence: sequence,
            position: Some(common::Tile { x: 10, z: 10 }),
            messages,
            traceparents: Vec::new(),
            company: Vec::new(),
        }
    }

    pub(super) fn answers(&self, id: &str, sequence: u64) {
        let ack = wire::Private {
            event: "ack".to_owned(),
            data: b"{}".as_slice().into(),
            re: format!("\"{id}\"").into_bytes().into(),
            only_answers: true,
            ..Default::default()
        };
        self.state()
            .private
            .push(Self::session_frame(sequence, vec![ack]));
    }

    pub(super) fn says(&self, event: &str, sequence: u64) {
        self.tells(event, b"{}", sequence);
    }

    pub(super) fn tells(&self, event: &str, data: &'static [u8], sequence: u64) {
        let message = wire::Private {
            event: event.to_owned(),
            data: data.into(),
            ..Default::default()
        };
        self.tells_all(message, sequence);
    }

    /// Sends a message about an encounter.
    pub(super) fn tells_of(&self, event: &str, encounter: wire::Encounter) {
        let message = wire::Private {
            event: event.to_owned(),
            data: format!("{{\"id\":{:?}}}", encounter.id).into(),
            encounter: Some(encounter),
            ..Default::default()
        };
        self.tells_all(message, 5);
    }

    fn tells_all(&self, message: wire::Private, sequence: u64) {
        self.state()
            .private
            .push(Self::session_frame(sequence, vec![message]));
    }

    fn control(&self, message: from_zone::Message) {
        let control = self.state().control.clone().expect("a link");
        control.try_send(Ok(from_zone(message))).expect("room");
    }

    /// Says something that only a newer gateway knows.
    pub(super) fn says_what_is_newer(&self) {
        let control = self.state().control.clone().expect("a link");
        let newer = wire::FromZone { message: None };
        control.try_send(Ok(newer)).expect("room");
    }

    /// Gives the session to another zone, which names it after [`Zone::plays`].
    pub(super) fn moves_to(&self, to: &Zone, sequence: u64) {
        self.moves_after(0, to, sequence);
    }

    /// Returns the number of frames that it has sent.
    pub(super) fn sent(&self) -> u64 {
        self.state().sent
    }

    /// Makes it send no frames, or send them again.
    pub(super) fn is_silent(&self, silent: bool) {
        self.state().is_silent = silent;
    }

    /// Makes all its further frames frames of one tick.
    pub(super) fn stands_still(&self) {
        self.state().stands_still = true;
    }

    /// Says that it gave the session to another zone after the next `more` frames.
    pub(super) fn moves_after(&self, more: u64, to: &Zone, sequence: u64) {
        self.forgets();
        let after_frames = self.state().sent + more;
        self.control(from_zone::Message::Moved(wire::Moved {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            ownership_sequence: sequence,
            to_run_id: to.run,
            region: Some(common::Region { x: 0, z: 0 }),
            after_frames,
        }));
    }

    pub(super) fn plays(&self, sequence: u64) {
        self.state().plays = Some(sequence);
    }

    pub(super) fn turns_out(&self, attach: u64) {
        self.forgets();
        self.control(from_zone::Message::AttachRefused(wire::AttachRefused {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            attach,
            code: "not_here".to_owned(),
        }));
    }

    /// Reports an input as lost: it came when the zone no longer had the character.
    pub(super) fn loses(&self, id: &str) {
        self.control(from_zone::Message::InputLost(wire::InputLost {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            session_epoch: 3,
            number: 1,
            id: format!("\"{id}\"").into_bytes().into(),
        }));
    }

    /// Says that the character is attached elsewhere, under this epoch.
    pub(super) fn replaced(&self, session_epoch: u64) {
        self.forgets();
        self.control(from_zone::Message::Left(wire::Left {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            session_epoch,
            reason: "replaced".to_owned(),
            ..Default::default()
        }));
    }

    pub(super) fn leaves(&self, session_epoch: u64, re: &str) {
        self.forgets();
        self.control(from_zone::Message::Left(wire::Left {
            session_id: "s".to_owned(),
            character_id: "ann".to_owned(),
            session_epoch,
            reason: "left".to_owned(),
            re: re.as_bytes().to_vec().into(),
        }));
    }

    fn take(&self, message: to_zone::Message) {
        if let to_zone::Message::Attach(attach) = &message {
            let refused = |code: &str| {
                from_zone::Message::AttachRefused(wire::AttachRefused {
                    session_id: attach.session_id.clone(),
                    character_id: attach.character_id.clone(),
                    attach: attach.attach,
                    code: code.to_owned(),
                })
            };
            let manner = self.state().manner;
            if let Manner::Silent = manner {
                return self.hearing.try_send(message).expect("room");
            }
            self.control(match manner {
                Manner::Accept => from_zone::Message::Attached(self.attached(attach)),
                Manner::NotHere => refused("not_here"),
                Manner::NotInWorld => refused("not_in_world"),
                // A gateway that numbers its attach itself may be behind one from elsewhere.
                Manner::Elsewhere if attach.resume => {
                    from_zone::Message::Attached(self.attached(attach))
                }
                Manner::Elsewhere => refused("elsewhere"),
                Manner::Stale => refused("stale"),
                Manner::Busy | Manner::Silent => refused("busy"),
            });
            if !matches!(manner, Manner::Accept) && !attach.resume {
                return;
            }
        }
        if let to_zone::Message::Detach(_) = &message {
            self.forgets();
        }
        if !matches!(message, to_zone::Message::Hello(_)) {
            self.hearing.try_send(message).expect("room");
        }
    }

    fn attached(&self, attach: &wire::Attach) -> wire::Attached {
        self.state().plays = Some(self.sequence);
        wire::Attached {
            session_id: attach.session_id.clone(),
            character_id: attach.character_id.clone(),
            attach: if attach.resume {
                self.state().last.0 + 1
            } else {
                attach.attach
            },
            ownership_sequence: self.sequence,
            position: Some(common::Tile { x: 10, z: 10 }),
            region: Some(common::Region { x: 0, z: 0 }),
            tick: 1,
            sync: b"{}".as_slice().into(),
            last_input: if attach.resume {
                self.state().last.1
            } else {
                attach.last_input
            },
            encounters: Vec::new(),
        }
    }

    fn frame(&self, tick: u64) -> wire::Frame {
        let mut state = self.state();
        let fresh = std::mem::take(&mut state.fresh);
        let chunks = fresh.into_iter().map(|chunk| {
            let here = |thing: &&wire::Entity| {
                (thing.x.div_euclid(8), thing.z.div_euclid(8)) == (chunk.x, chunk.z)
            };
            wire::ChunkFrame {
                chunk: Some(chunk),
                full: true,
                enter: state.things.iter().filter(here).cloned().collect(),
                ..Default::default()
            }
        });
        let chunks = chunks.collect();
        let mut sessions = std::mem::take(&mut state.private);
        if let Some(sequence) = state.plays.filter(|_| sessions.is_empty()) {
            sessions.push(Self::session_frame(sequence, Vec::new()));
        }
        state.sent += 1;
        wire::Frame {
            run_id: self.run,
            tick,
            chunks,
            sessions,
            extra: false,
        }
    }
}

#[tonic::async_trait]
impl Link for Zone {
    type ControlStream = Answers<wire::FromZone>;
    type FramesStream = Answers<wire::Frame>;

    async fn control(
        &self,
        request: Request<Streaming<wire::ToZone>>,
    ) -> Result<Response<Self::ControlStream>, Status> {
        if self.dead.load(Ordering::SeqCst) {
            return Err(Status::unavailable("dead"));
        }
        let (control, answers) = mpsc::channel(256);
        let welcome = wire::Welcome {
            run_id: self.run,
            ..Default::default()
        };
        let welcome = from_zone(from_zone::Message::Welcome(welcome));
        control.try_send(Ok(welcome)).expect("room");
        self.state().control = Some(control);
        let zone = self.clone();
        let mut messages = request.into_inner();
        tokio::spawn(async move {
            while let Ok(Some(message)) = messages.message().await {
                message
                    .message
                    .into_iter()
                    .for_each(|message| zone.take(message));
            }
        });
        let answers = tokio_stream::wrappers::ReceiverStream::new(answers);
        Ok(Response::new(Box::pin(answers)))
    }

    async fn frames(
        &self,
        request: Request<Streaming<wire::Subscribe>>,
    ) -> Result<Response<Self::FramesStream>, Status> {
        let (out, frames) = mpsc::channel(256);
        let zone = self.clone();
        let mut asks = request.into_inner();
        tokio::spawn(async move {
            let mut pace = tokio::time::interval(Duration::from_millis(20));
            let mut tick = 1;
            loop {
                tokio::select! {
                    () = zone.died.notified() => return,
                    ask = asks.message() => match ask {
                        Ok(Some(ask)) => zone.state().fresh.extend(ask.add),
                        _ => return,
                    },
                    _ = pace.tick() => {
                        if zone.state().is_silent {
                            continue;
                        }
                        tick += u64::from(!zone.state().stands_still);
                        let frame = zone.frame(tick);
                        if out.send(Ok(frame)).await.is_err() {
                            return;
                        }
                        let extra = zone.state().extra.take();
                        let Some(chunk) = extra else { continue };
                        zone.state().sent += 1;
                        let extra = wire::Frame {
                            run_id: zone.run,
                            tick,
                            chunks: vec![chunk],
                            extra: true,
                            ..Default::default()
                        };
                        if out.send(Ok(extra)).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        let frames = tokio_stream::wrappers::ReceiverStream::new(frames);
        Ok(Response::new(Box::pin(frames)))
    }
}
