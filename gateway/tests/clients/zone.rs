//! A zone that plays nothing: it takes sessions, answers requests that have an id, and ticks.
//!
//! The zone never answers `player:action` with the action `sleep`. It answers every other input
//! with `ack`, or with an error if a zone could not read its data. A character whose socket is gone
//! stays until the test says otherwise.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use proto::{
    client::{Format, data_json},
    rpc::{
        agents::v1::zone_agents_server::ZoneAgentsServer,
        common::v1::{Chunk, Region, Tile},
        zone::v1::{
            Attach, AttachRefused, Attached, ChunkFrame, Entity, Frame, FromZone, Input, Left,
            Private, SessionFrame, Subscribe, ToZone, Welcome, from_zone,
            link_server::{Link, LinkServer},
            to_zone,
        },
    },
};
use tokio::{net::TcpListener, sync::mpsc};
use tokio_stream::{Stream, StreamExt, wrappers::ReceiverStream};
use tonic::{Request, Response, Status, Streaming, transport::server::TcpIncoming};

use crate::minds::Minds;

pub(crate) const RUN: u64 = 1;
const TICK: Duration = Duration::from_millis(50);
const TIMEOUT: Duration = Duration::from_secs(20);
/// A session that comes from another gateway is numbered above so many attaches of that one.
const ATTACHES_OF_A_GATEWAY: u64 = 1 << 20;

struct Playing {
    gateway: String,
    session_id: String,
    epoch: u64,
    attach: u64,
    last_input: u64,
    tile: Tile,
}

impl Playing {
    fn frame(&self, character_id: &str, messages: Vec<Private>) -> SessionFrame {
        SessionFrame {
            session_id: self.session_id.clone(),
            character_id: character_id.to_owned(),
            ownership_sequence: 1,
            position: Some(self.tile),
            messages,
            traceparents: Vec::new(),
            company: Vec::new(),
        }
    }
}

#[derive(Default)]
struct State {
    controls: BTreeMap<String, mpsc::Sender<Result<FromZone, Status>>>,
    /// By character.
    playing: BTreeMap<String, Playing>,
    private: BTreeMap<String, Vec<SessionFrame>>,
    places: BTreeMap<String, Tile>,
    inputs: Vec<Input>,
    /// Characters that nobody may have yet, as while their region is being loaded.
    loading: bool,
    /// The zone tells nobody that the character is attached elsewhere.
    silent: bool,
}

#[derive(Clone)]
pub(crate) struct Zone {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
    minds: Minds,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Zone {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let zone = Self {
            address: listener.local_addr().unwrap().to_string(),
            state: Arc::default(),
            minds: Minds::default(),
        };
        let serving = tonic::transport::Server::builder()
            .add_service(LinkServer::new(zone.clone()))
            .add_service(ZoneAgentsServer::new(zone.minds.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(serving);
        zone
    }

    /// Returns the zone's record of agents.
    pub(crate) fn minds(&self) -> &Minds {
        &self.minds
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Sets the tile at which a character will stand when it enters.
    pub(crate) fn put(&self, character_id: &str, x: i32, z: i32) {
        self.state()
            .places
            .insert(character_id.to_owned(), Tile { x, z });
    }

    /// Says something to one player only.
    pub(crate) fn say(&self, character_id: &str, event: &str, data: &str) {
        self.state().private(character_id, event, data, &[]);
    }

    /// Returns whether all waiting messages have gone out with a frame.
    pub(crate) fn has_told(&self) -> bool {
        self.state().private.is_empty()
    }

    /// Returns the events of all inputs so far, with their numbers.
    pub(crate) fn inputs(&self) -> Vec<(u64, String)> {
        let state = self.state();
        state
            .inputs
            .iter()
            .map(|input| (input.number, input.event.clone()))
            .collect()
    }

    /// Returns the same, once there are as many as `number`: an input is on its way after its
    /// socket's task is done with it.
    pub(crate) async fn heard(&self, number: usize) -> Vec<(u64, String)> {
        let heard = async {
            while self.inputs().len() < number {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let heard = tokio::time::timeout(TIMEOUT, heard).await;
        heard.expect("the inputs never reached the zone");
        self.inputs()
    }

    /// Ends the linger time of a character.
    pub(crate) fn forget(&self, character_id: &str) {
        self.state().playing.remove(character_id);
    }

    /// Lets a character be in loading, or ends that.
    pub(crate) fn load(&self, loading: bool) {
        self.state().loading = loading;
    }

    /// Makes the zone silent from now on: it tells no session that its character is attached
    /// elsewhere.
    pub(crate) fn be_silent(&self) {
        self.state().silent = true;
    }

    /// Lets a request of this character make the zone fail.
    pub(crate) fn blame(&self, character_id: &str) {
        let mut state = self.state();
        let playing = state.playing.remove(character_id).unwrap();
        let left = Left {
            session_id: playing.session_id,
            character_id: character_id.to_owned(),
            session_epoch: playing.epoch,
            reason: "server_fault".to_owned(),
            re: Default::default(),
        };
        state.tell(&playing.gateway, from_zone::Message::Left(left));
    }

    fn hear(&self, gateway: &str, message: to_zone::Message) {
        let mut state = self.state();
        match message {
            // The zone keeps these back; a test sends them later.
            to_zone::Message::Hello(_) | to_zone::Message::Recall(_) => {}
            to_zone::Message::Attach(attach) => state.attach(gateway, attach),
            to_zone::Message::Input(input) => state.input(input),
            to_zone::Message::Detach(detach) => {
                let current = state.playing.get_mut(&detach.character_id);
                if let Some(current) = current
                    .filter(|p| p.session_id == detach.session_id && p.attach == detach.attach)
                {
                    current.gateway.clear();
                }
            }
        }
    }
}

impl State {
    fn tell(&self, gateway: &str, message: from_zone::Message) {
        if let Some(control) = self.controls.get(gateway) {
            let message = Some(message);
            control.try_send(Ok(FromZone { message })).unwrap();
        }
    }

    /// Returns the reason why a session cannot play, or none if it can.
    fn refusal(&self, attach: &Attach) -> Option<&'static str> {
        match self.playing.get(&attach.character_id) {
            _ if self.loading && attach.resume => Some("busy"),
            None if attach.resume => Some("not_here"),
            Some(playing) if playing.epoch > attach.session_epoch => Some("stale"),
            // A gateway that the session has left asks for less than the one to which it went.
            Some(playing) if playing.epoch == attach.session_epoch => {
                let older = !attach.resume && attach.attach <= playing.attach;
                older.then_some("elsewhere")
            }
            Some(_) | None => None,
        }
    }

    fn attach(&mut self, gateway: &str, mut attach: Attach) {
        if let Some(code) = self.refusal(&attach) {
            let refused = AttachRefused {
                session_id: attach.session_id,
                character_id: attach.character_id,
                attach: attach.attach,
                code: code.to_owned(),
            };
            return self.tell(gateway, from_zone::Message::AttachRefused(refused));
        }
        if attach.resume {
            let playing = &self.playing[&attach.character_id];
            attach.attach = (playing.attach / ATTACHES_OF_A_GATEWAY + 1) * ATTACHES_OF_A_GATEWAY;
            attach.last_input = playing.last_input;
        }
        let character_id = attach.character_id.clone();
        let tile = self.places.get(&character_id).copied();
        let playing = Playing {
            gateway: gateway.to_owned(),
            session_id: attach.session_id.clone(),
            epoch: attach.session_epoch,
            attach: attach.attach,
            last_input: attach.last_input,
            tile: tile.unwrap_or(Tile { x: 32, z: 32 }),
        };
        let position = Some(playing.tile);
        let before = self.playing.insert(character_id.clone(), playing);
        if let Some(before) = before.filter(|p| !p.gateway.is_empty() && !self.silent)
            && (before.session_id != attach.session_id || before.gateway != gateway)
        {
            let left = Left {
                session_id: before.session_id,
                character_id: character_id.clone(),
                session_epoch: attach.session_epoch,
                reason: "replaced".to_owned(),
                re: Default::default(),
            };
            self.tell(&before.gateway, from_zone::Message::Left(left));
        }
        let attached = Attached {
            session_id: attach.session_id,
            character_id,
            attach: attach.attach,
            ownership_sequence: 1,
            position,
            region: Some(Region { x: 0, z: 0 }),
            tick: 1,
            sync: br#"{"tick":1}"#.as_slice().into(),
            last_input: attach.last_input,
            encounters: Vec::new(),
        };
        self.tell(gateway, from_zone::Message::Attached(attached));
    }

    fn input(&mut self, input: Input) {
        self.inputs.push(input.clone());
        if let Some(playing) = self.playing.get_mut(&input.character_id) {
            playing.last_input = input.number;
        }
        if input.event == "world:leave" {
            if let Some(playing) = self.playing.remove(&input.character_id) {
                let left = Left {
                    session_id: playing.session_id,
                    character_id: input.character_id,
                    session_epoch: playing.epoch,
                    reason: "left".to_owned(),
                    re: input.id,
                };
                self.tell(&playing.gateway, from_zone::Message::Left(left));
            }
        } else if unreadable(&input) {
            let error = r#"{"code":"invalid_data","message":"the zone cannot read it"}"#;
            self.answer(&input, "error", error, true);
        } else if !input.id.is_empty() && !input.data.windows(5).any(|w| w == b"sleep") {
            self.answer(&input, "ack", "{}", false);
        }
    }

    fn answer(&mut self, input: &Input, event: &str, data: &str, malformed: bool) {
        let message = Private {
            event: event.to_owned(),
            data: data.to_owned().into(),
            re: input.id.clone(),
            malformed,
            ..Private::default()
        };
        self.tell_player(&input.character_id, message);
    }

    fn private(&mut self, character_id: &str, event: &str, data: &str, re: &[u8]) {
        let message = Private {
            event: event.to_owned(),
            data: data.to_owned().into(),
            re: re.to_vec().into(),
            ..Private::default()
        };
        self.tell_player(character_id, message);
    }

    fn tell_player(&mut self, character_id: &str, message: Private) {
        let Some(playing) = self.playing.get(character_id) else {
            return;
        };
        let frame = playing.frame(character_id, vec![message]);
        let gateway = playing.gateway.clone();
        self.private.entry(gateway).or_default().push(frame);
    }

    fn frame(&mut self, gateway: &str, tick: u64, fresh: Vec<Chunk>) -> Frame {
        let full = |chunk: Chunk| {
            let here = self.playing.iter().filter(|(_, playing)| {
                let tile = playing.tile;
                (tile.x.div_euclid(8), tile.z.div_euclid(8)) == (chunk.x, chunk.z)
            });
            let enter = here.map(|(id, playing)| Entity {
                id: id.clone(),
                kind: "player".to_owned(),
                x: playing.tile.x,
                z: playing.tile.z,
                ownership_sequence: 1,
                fields: br#"{"name":"Somebody"}"#.as_slice().into(),
                typed_fields: Vec::new(),
            });
            ChunkFrame {
                enter: enter.collect(),
                chunk: Some(chunk),
                full: true,
                ..Default::default()
            }
        };
        let mut sessions = self.private.remove(gateway).unwrap_or_default();
        // Every frame names each character that the gateway plays.
        let quiet = self.playing.iter().filter(|(who, playing)| {
            playing.gateway == gateway && sessions.iter().all(|s| s.character_id != **who)
        });
        let quiet: Vec<SessionFrame> = quiet
            .map(|(who, playing)| playing.frame(who, Vec::new()))
            .collect();
        sessions.extend(quiet);
        Frame {
            run_id: RUN,
            tick,
            chunks: fresh.into_iter().map(full).collect(),
            sessions,
            extra: false,
        }
    }
}

#[tonic::async_trait]
impl Link for Zone {
    type ControlStream = Answers<FromZone>;
    type FramesStream = Answers<Frame>;

    async fn control(
        &self,
        request: Request<Streaming<ToZone>>,
    ) -> Result<Response<Self::ControlStream>, Status> {
        let mut asked = request.into_inner();
        let (sender, answers) = mpsc::channel(1024);
        let zone = self.clone();
        tokio::spawn(async move {
            let mut gateway = String::new();
            while let Some(Ok(ToZone {
                message: Some(message),
            })) = asked.next().await
            {
                if let to_zone::Message::Hello(hello) = &message {
                    gateway.clone_from(&hello.gateway_id);
                    zone.state()
                        .controls
                        .insert(gateway.clone(), sender.clone());
                    let welcome = Welcome {
                        run_id: RUN,
                        tick: 1,
                        content_hash: String::new(),
                    };
                    zone.state()
                        .tell(&gateway, from_zone::Message::Welcome(welcome));
                }
                zone.hear(&gateway, message);
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(answers))))
    }

    async fn frames(
        &self,
        request: Request<Streaming<Subscribe>>,
    ) -> Result<Response<Self::FramesStream>, Status> {
        let mut asked = request.into_inner();
        let (sender, frames) = mpsc::channel(4);
        let zone = self.clone();
        tokio::spawn(async move {
            let mut tick = tokio::time::interval(TICK);
            let (mut number, mut gateway, mut fresh) = (1, String::new(), Vec::new());
            loop {
                tokio::select! {
                    subscribe = asked.next() => {
                        let Some(Ok(subscribe)) = subscribe else { return };
                        if let Some(hello) = subscribe.hello {
                            gateway = hello.gateway_id;
                        }
                        fresh.extend(subscribe.add);
                    }
                    _ = tick.tick() => {
                        number += 1;
                        let frame = zone.state().frame(&gateway, number, std::mem::take(&mut fresh));
                        if sender.send(Ok(frame)).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(frames))))
    }
}

/// Returns whether a real zone could not read the data of an input.
fn unreadable(input: &Input) -> bool {
    let format = match input.message_pack {
        true => Format::MessagePack,
        false => Format::Json,
    };
    let Ok(data) = data_json(format, input.data.clone()) else {
        return true;
    };
    let read = world::Intent::read(&input.event, &data, world::Screen::Offer);
    matches!(read, Err(world::BadRequest::Data(_)))
}
