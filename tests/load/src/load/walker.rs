//! One bot of a swarm: connects, enters, plays its plan, and resumes at any gateway when its
//! socket is lost or its gateway leaves. A bot is one future; many share a task.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use proto::client::Format;
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    known::{Known, Request},
    swarm::Snapshot,
};
use crate::{
    bot::{
        Message, Payload, Phase,
        listener::Listener,
        socket::{self, Closed, Received, Upgrade},
        wire,
    },
    http::Address,
};

/// Time from the connection to standing in the world.
const ARRIVE_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest pause before the first further try to connect; it doubles from try to try.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest pause before any try.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// The pause after a gateway said that it is full.
const PAUSE_BUSY: Duration = Duration::from_secs(5);
/// Time after which a connected bot begins anew with short pauses.
const STABLE_AFTER: Duration = Duration::from_secs(30);

/// The address that the first bot names, if each names one.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// Things that all bots of a run share.
pub struct Run {
    /// Encoding of the messages.
    pub format: Format,
    /// Most players that each bot sees at once; only with the compact format.
    pub shown: Option<u16>,
    /// Gateways; a bot that loses its connection connects to any of them.
    pub gateways: Vec<Address>,
    /// Each bot names an address of its own, as behind a load balancer.
    pub own_addresses: bool,
    /// Latencies count from here.
    pub measure_from: Mutex<Option<Instant>>,
    /// The run's end.
    pub end: tokio_util::sync::CancellationToken,
    /// Bots in the world now.
    pub in_world: AtomicUsize,
    /// Channel that takes maps for comparison, and the time between two maps of a bot.
    pub snapshots: Option<(mpsc::Sender<Snapshot>, Duration)>,
    /// When something was broken last.
    pub moment: watch::Receiver<Option<Instant>>,
}

/// One bot.
pub struct Bot {
    name: String,
    /// Number of its first gateway.
    gateway: usize,
    connect_at: Instant,
    /// It keeps a whole map; else it looks only for itself.
    keeps_map: bool,
    known: Mutex<Known>,
    changed: Notify,
    run: Arc<Run>,
}

/// A connection that is in the world.
struct Connection {
    reader: socket::Reader,
    writer: socket::Writer,
    listener: Listener,
}

/// End of a connection.
enum End {
    /// The other side, or the network, ended it.
    Lost(Closed),
    /// The bot goes elsewhere, and keeps this one until it is there.
    MovesOn(Box<Connection>),
}

impl Bot {
    /// Makes a bot that connects at `connect_at` to the gateway of this number. It keeps a whole
    /// map of its messages, or looks only for itself.
    pub fn new(
        name: String,
        gateway: usize,
        connect_at: Instant,
        keeps_map: bool,
        known: Known,
        run: Arc<Run>,
    ) -> Self {
        Self {
            name,
            gateway,
            connect_at,
            keeps_map,
            known: Mutex::new(known),
            changed: Notify::new(),
            run,
        }
    }

    /// Returns an address that no other bot has.
    fn address(&self) -> IpAddr {
        let number = u32::try_from(self.gateway).unwrap_or(u32::MAX);
        IpAddr::from(Ipv4Addr::from_bits(
            FIRST_ADDRESS.to_bits().wrapping_add(number),
        ))
    }

    /// Returns its character's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its knowledge and counters.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it look again at its duties.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// Lives until the run ends.
    pub async fn live(&self) {
        let end = self.run.end.clone();
        // Dropping the future drops the socket: nothing of it is used afterwards.
        let _ = end.run_until_cancelled(self.connections()).await;
    }

    async fn connections(&self) {
        sleep_until(self.connect_at).await;
        let (mut at, mut tries, mut before) = (self.gateway, 0_u32, None);
        loop {
            let began = Instant::now();
            let outcome = self.connection(at, before.take()).await;
            if began.elapsed() > STABLE_AFTER {
                tries = 0;
            }
            let pause = match outcome {
                Ok(End::MovesOn(connection)) => {
                    self.known().tally.moved_on += 1;
                    before = Some(connection);
                    Duration::ZERO
                }
                Ok(End::Lost(closed)) => self.pause(tries) + self.lost(&closed),
                Err(e) => {
                    let cause = e.root_cause().to_string();
                    *self.known().tally.failed.entry(cause).or_default() += 1;
                    self.pause(tries)
                }
            };
            tries += 1;
            self.known().parted(Instant::now());
            at = self.known().place(self.run.gateways.len(), at);
            sleep(pause).await;
        }
    }

    /// Returns a random pause before the next try, the longer the more have failed.
    fn pause(&self, tries: u32) -> Duration {
        let most = PAUSE_FIRST.saturating_mul(1 << tries.min(5));
        self.known().jitter(most.min(PAUSE_MAX))
    }

    /// Notes that a connection was lost in the world; returns the time to wait beyond the usual.
    fn lost(&self, closed: &Closed) -> Duration {
        let mut known = self.known();
        let code = closed.code.map_or("none".to_owned(), |c| c.to_string());
        let what = format!("{code} {}", closed.reason);
        *known.tally.disconnects.entry(what).or_default() += 1;
        match closed.code {
            // The session is over, or somebody else has it.
            Some(4004 | 4009 | 4010) => {
                known.view.entered = None;
                Duration::ZERO
            }
            Some(1013) => PAUSE_BUSY,
            _ => Duration::ZERO,
        }
    }

    /// Plays one connection from its start to its end. It drops `before` as soon as this one is in
    /// the world. An error means that it never came into the world.
    async fn connection(&self, at: usize, before: Option<Box<Connection>>) -> Result<End> {
        let upgrade = Upgrade {
            format: Some(self.run.format),
            players: self.run.shown,
            forwarded_for: self.run.own_addresses.then(|| self.address()),
            ..Upgrade::default()
        };
        let address = &self.run.gateways[at % self.run.gateways.len()];
        let (reader, writer) = socket::connect(address, &upgrade).await?;
        let mut connection = Connection {
            reader,
            writer,
            listener: Listener::new(self.run.format),
        };
        let entry = self.enter(&mut connection);
        timeout(ARRIVE_TIMEOUT, entry)
            .await
            .context("entering took too long")??;
        drop(before);
        self.run.in_world.fetch_add(1, Ordering::Relaxed);
        let ended = tokio::select! {
            ended = self.listen(&mut connection.reader, &mut connection.listener) => Some(ended),
            ended = self.act(&connection.writer) => ended,
        };
        self.run.in_world.fetch_sub(1, Ordering::Relaxed);
        Ok(match ended {
            Some(closed) => End::Lost(closed),
            None => End::MovesOn(Box::new(connection)),
        })
    }

    async fn enter(&self, connection: &mut Connection) -> Result<()> {
        self.known().view.connected();
        self.hear(connection, |m| matches!(m.payload, Payload::Hello(_)))
            .await?;
        let resume = {
            let view = &self.known().view;
            let token = view
                .resume_token
                .as_ref()
                .filter(|_| view.entered.is_some());
            token.map(|t| json!({ "resumeToken": t, "lastSeq": view.resume_from }))
        };
        if let Some(data) = resume {
            self.send(&connection.writer, "session:resume", data)
                .await?;
            let answer = self
                .hear(connection, |m| {
                    matches!(m.payload, Payload::Resumed(_) | Payload::Invalid(_))
                })
                .await?;
            let resumed = matches!(answer, Payload::Resumed(_));
            self.known().resumed(resumed);
            if resumed {
                return Ok(());
            }
        }
        self.start(connection).await
    }

    /// Starts a new session: signs in, makes a character where there is none, enters.
    async fn start(&self, connection: &mut Connection) -> Result<()> {
        let key = self.known().device_key.clone();
        let data = key.map_or(json!({}), |key| json!({ "deviceKey": key }));
        self.send(&connection.writer, "authenticate", data).await?;
        self.hear(connection, |m| matches!(m.payload, Payload::Welcome(_)))
            .await?;
        if self.known().view.characters.is_empty() {
            let data = json!({ "name": self.name });
            self.send(&connection.writer, "character:create", data)
                .await?;
            self.hear(connection, |m| {
                matches!(m.payload, Payload::CharacterCreated(_))
            })
            .await?;
        }
        let id = self.known().view.characters.first().map(|c| c.id.clone());
        let data = json!({ "characterId": id.context("no character")? });
        self.known().view.position = None;
        self.send(&connection.writer, "world:enter", data).await?;
        self.hear(connection, |m| {
            matches!(m.payload, Payload::WorldEntered(_))
        })
        .await?;
        while self.known().view.position.is_none() {
            self.hear(connection, |_| true).await?;
        }
        {
            let mut known = self.known();
            if known.tally.arrivals_us.is_empty() {
                let took = self.connect_at.elapsed();
                known.tally.arrived(took);
            }
        }
        // A bot that turned to a beast that bites it would not arrive at its destination.
        let flees = json!({ "on": false });
        self.send(&connection.writer, "combat:retaliate", flees)
            .await
    }

    /// Reads until a message fits; an error of the server is an error here.
    async fn hear(
        &self,
        connection: &mut Connection,
        fits: impl Fn(&Message) -> bool,
    ) -> Result<Payload> {
        loop {
            match connection.reader.next().await? {
                Received::Closed(closed) => bail!("closed: {:?} {}", closed.code, closed.reason),
                Received::Message { bytes, .. } => {
                    let Some(message) = self.take(&mut connection.listener, &bytes) else {
                        continue;
                    };
                    if fits(&message) {
                        return Ok(message.payload);
                    }
                    if let Payload::Error(error) = message.payload {
                        return Err(anyhow!("error {}", error.code.wire()));
                    }
                }
            }
        }
    }

    async fn listen(&self, reader: &mut socket::Reader, listener: &mut Listener) -> Closed {
        loop {
            match reader.next().await {
                Ok(Received::Closed(closed)) => return closed,
                Ok(Received::Message { bytes, .. }) => {
                    let due = self.known().due();
                    self.take(listener, &bytes);
                    if self.known().due() != due {
                        self.changed.notify_one();
                    }
                }
                Err(e) => {
                    return Closed {
                        code: None,
                        reason: format!("{e:#}"),
                    };
                }
            }
        }
    }

    fn take(&self, listener: &mut Listener, bytes: &[u8]) -> Option<Message> {
        let now = Instant::now();
        let mut known = self.known();
        let known = &mut *known;
        known.tally.messages += 1;
        known.tally.bytes += bytes.len() as u64;
        let own = known.view.entered.as_ref().map(|e| e.entity_id.as_str());
        let read = if self.keeps_map {
            listener.read(bytes)
        } else {
            listener.glance(bytes, own.unwrap_or_default())
        };
        let Ok(message) = read else {
            known.tally.unreadable += 1;
            return None;
        };
        known.tally.updates += u64::from(message.payload.event() == "world:update");
        if let Payload::Update(update) = &message.payload
            && update.tick > known.view.tick
        {
            self.snapshot(known, now);
        }
        if let Some(took) = known.take(&message, now)
            && self.measuring(now, took)
        {
            known.tally.moved(took);
        }
        Some(message)
    }

    fn measuring(&self, now: Instant, took: Duration) -> bool {
        let from = self
            .run
            .measure_from
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        from.is_some_and(|from| now >= from + took)
    }

    /// Sends the map for comparison: before a new tick comes, the map shows the old one completely.
    fn snapshot(&self, known: &mut Known, now: Instant) {
        let Some((sink, every)) = &self.run.snapshots else {
            return;
        };
        if !self.measuring(now, Duration::ZERO) {
            return;
        }
        let spread = Duration::from_millis(self.name.bytes().map(u64::from).sum::<u64>() % 5_000);
        let due = *known.snapshot_at.get_or_insert(now + spread);
        if now < due || known.view.phase != Phase::World || known.view.tick == 0 {
            return;
        }
        known.snapshot_at = Some(now + *every);
        // A full channel means that the comparing side is behind, and leaves this map out.
        let _ = sink.try_send(Snapshot::of(&self.name, &known.view));
    }

    /// Plays; returns `None` if it is time to go to another gateway.
    async fn act(&self, writer: &socket::Writer) -> Option<Closed> {
        let mut moment = self.run.moment.clone();
        loop {
            let due = self.known().due();
            let idle = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = idle => {}
                () = self.changed.notified() => continue,
                Ok(()) = moment.changed() => {
                    let at = *moment.borrow_and_update();
                    if let Some(at) = at {
                        self.known().failover.begin(at);
                    }
                    continue;
                }
            }
            if self
                .known()
                .move_on_at
                .is_some_and(|at| at <= Instant::now())
            {
                return None;
            }
            let Some(request) = self.next_step() else {
                continue;
            };
            if let Err(e) = self.write(writer, request).await {
                return Some(Closed {
                    code: None,
                    reason: format!("{e:#}"),
                });
            }
        }
    }

    fn next_step(&self) -> Option<Request> {
        let now = Instant::now();
        let mut known = self.known();
        let (request, lost) = known.next(now);
        if lost && self.measuring(now, Duration::ZERO) {
            known.tally.lost += 1;
            known.tally.moved(super::plan::LOST_AFTER);
        }
        request
    }

    async fn send(&self, writer: &socket::Writer, event: &'static str, data: Value) -> Result<()> {
        let request = self.known().request(event, data, Instant::now());
        self.write(writer, request).await
    }

    async fn write(&self, writer: &socket::Writer, request: Request) -> Result<()> {
        let Request { id, event, data } = request;
        let bytes = wire::request(self.run.format, event, Some(id), &data)?;
        writer.send(self.run.format, bytes).await
    }
}
