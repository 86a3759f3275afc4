//! One bot of a swarm: connects, enters, plays its plan, and resumes when its socket is lost.
//! A bot is one future; many share a task.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use proto::client::{Format, RequestId};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    measure::Tally,
    plan::{LOST_AFTER, Plan, Seen, Step},
    swarm::Snapshot,
};
use crate::{
    bot::{
        Message, Phase, Told, View, glance,
        socket::{self, Closed, Received, Upgrade},
        wire,
    },
    http::Address,
};

/// Time from the connection to standing in the world.
const ARRIVE_TIMEOUT: Duration = Duration::from_secs(60);

/// What all bots of a run share.
pub struct Run {
    /// How messages are written.
    pub format: Format,
    /// Latencies count from here.
    pub measure_from: Mutex<Option<Instant>>,
    /// The run's end.
    pub end: tokio_util::sync::CancellationToken,
    /// Bots in the world now.
    pub in_world: AtomicUsize,
    /// Where maps are sent to be compared, and how often a bot does so.
    pub snapshots: Option<(mpsc::Sender<Snapshot>, Duration)>,
}

/// What a bot knows and counts.
pub struct Known {
    /// Learned from the server.
    pub view: View,
    /// Counted by itself.
    pub tally: Tally,
    plan: Plan,
    pending: HashMap<u64, Instant>,
    walk_id: u64,
    next_id: u64,
    snapshot_at: Option<Instant>,
}

/// One bot.
pub struct Bot {
    name: String,
    address: Address,
    connect_at: Instant,
    /// It keeps a whole map; else it looks only for itself.
    keeps_map: bool,
    known: Mutex<Known>,
    changed: Notify,
    run: Arc<Run>,
}

impl Bot {
    /// Makes a bot that is to connect at `connect_at` and keeps a whole map of what it is shown, or
    /// looks only for itself.
    pub fn new(
        name: String,
        address: Address,
        connect_at: Instant,
        keeps_map: bool,
        plan: Plan,
        run: Arc<Run>,
    ) -> Self {
        Self {
            name,
            address,
            connect_at,
            keeps_map,
            known: Mutex::new(Known {
                view: View::default(),
                tally: Tally::default(),
                plan,
                pending: HashMap::new(),
                walk_id: 0,
                next_id: 0,
                snapshot_at: None,
            }),
            changed: Notify::new(),
            run,
        }
    }

    /// What it knows and counts.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lives until the run ends.
    pub async fn live(&self) {
        let end = self.run.end.clone();
        // Dropping the future drops the socket: nothing of it is used afterwards.
        let _ = end.run_until_cancelled(self.connections()).await;
    }

    async fn connections(&self) {
        sleep_until(self.connect_at).await;
        let mut pause_ms = 200;
        loop {
            if let Err(e) = self.connection().await {
                let cause = e.root_cause().to_string();
                *self.known().tally.failed.entry(cause).or_default() += 1;
                pause_ms = (pause_ms * 2).min(5_000);
            } else {
                pause_ms = 200;
            }
            let jitter = u64::from(self.name.bytes().map(u32::from).sum::<u32>()) % 200;
            sleep(Duration::from_millis(pause_ms + jitter)).await;
        }
    }

    /// One connection from its start to its end. An error means that it never came into the world.
    async fn connection(&self) -> Result<()> {
        let upgrade = Upgrade {
            format: Some(self.run.format),
            ..Upgrade::default()
        };
        let (mut reader, writer) = socket::connect(&self.address, &upgrade).await?;
        let entry = self.enter(&mut reader, &writer);
        timeout(ARRIVE_TIMEOUT, entry)
            .await
            .context("entering took too long")??;
        self.run.in_world.fetch_add(1, Ordering::Relaxed);
        let ended = tokio::select! {
            ended = self.listen(&mut reader) => ended,
            ended = self.act(&writer) => ended,
        };
        self.run.in_world.fetch_sub(1, Ordering::Relaxed);
        let mut known = self.known();
        let code = ended
            .code
            .map_or("none".to_owned(), |code| code.to_string());
        *known
            .tally
            .disconnects
            .entry(format!("{code} {}", ended.reason))
            .or_default() += 1;
        known.plan.refused(Instant::now());
        known.pending.clear();
        Ok(())
    }

    async fn enter(&self, reader: &mut socket::Reader, writer: &socket::Writer) -> Result<()> {
        self.known().view.connected();
        self.hear(reader, |m| matches!(m.told, Told::Hello(_)))
            .await?;
        let resume = {
            let view = &self.known().view;
            view.welcome
                .as_ref()
                .filter(|_| view.entered.is_some())
                .map(|w| json!({ "resumeToken": w.resume_token, "lastSeq": view.resume_from }))
        };
        if let Some(data) = resume {
            self.send(writer, "session:resume", &data).await?;
            let answer = self
                .hear(reader, |m| {
                    matches!(m.told, Told::Resumed(_) | Told::Invalid(_))
                })
                .await?;
            if matches!(answer, Told::Resumed(_)) {
                self.known().tally.resumed += 1;
                return Ok(());
            }
            self.known().view.entered = None;
        }
        self.start(reader, writer).await
    }

    /// A new session: signs in, makes a character where there is none, enters.
    async fn start(&self, reader: &mut socket::Reader, writer: &socket::Writer) -> Result<()> {
        let key = self
            .known()
            .view
            .welcome
            .as_ref()
            .and_then(|w| w.device_key.clone());
        let data = key.map_or(json!({}), |key| json!({ "deviceKey": key }));
        self.send(writer, "authenticate", &data).await?;
        self.hear(reader, |m| matches!(m.told, Told::Welcome(_)))
            .await?;
        if self.known().view.characters.is_empty() {
            let data = json!({ "name": self.name });
            self.send(writer, "character:create", &data).await?;
            self.hear(reader, |m| matches!(m.told, Told::CharacterCreated(_)))
                .await?;
        }
        let id = self.known().view.characters.first().map(|c| c.id.clone());
        let data = json!({ "characterId": id.context("no character")? });
        self.send(writer, "world:enter", &data).await?;
        self.hear(reader, |m| matches!(m.told, Told::WorldEntered(_)))
            .await?;
        while self.known().view.position.is_none() {
            self.hear(reader, |_| true).await?;
        }
        let first = self.known().tally.arrivals_us.is_empty();
        if first {
            let took = self.connect_at.elapsed();
            self.known().tally.arrived(took);
        }
        Ok(())
    }

    /// Reads until a message fits; an error of the server is an error here.
    async fn hear(
        &self,
        reader: &mut socket::Reader,
        fits: impl Fn(&Message) -> bool,
    ) -> Result<Told> {
        loop {
            match reader.next().await? {
                Received::Closed(closed) => bail!("closed: {:?} {}", closed.code, closed.reason),
                Received::Message { bytes, .. } => {
                    let Some(message) = self.take(&bytes) else {
                        continue;
                    };
                    if fits(&message) {
                        return Ok(message.told);
                    }
                    if let Told::Error(error) = message.told {
                        return Err(anyhow!("error {}", error.code.wire()));
                    }
                }
            }
        }
    }

    async fn listen(&self, reader: &mut socket::Reader) -> Closed {
        loop {
            match reader.next().await {
                Ok(Received::Closed(closed)) => return closed,
                Ok(Received::Message { bytes, .. }) => {
                    self.take(&bytes);
                    self.changed.notify_one();
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

    fn take(&self, bytes: &[u8]) -> Option<Message> {
        let now = Instant::now();
        let mut known = self.known();
        let known = &mut *known;
        known.tally.messages += 1;
        known.tally.bytes += bytes.len() as u64;
        let own = known.view.entered.as_ref().map(|e| e.entity_id.as_str());
        let read = match own {
            Some(own) if !self.keeps_map => glance::read(bytes, own),
            _ => wire::read(self.run.format, bytes),
        };
        let Ok(message) = read else {
            known.tally.unreadable += 1;
            return None;
        };
        known.tally.updates += u64::from(message.told.event() == "world:update");
        if let Told::Update(update) = &message.told
            && update.tick > known.view.tick
        {
            self.snapshot(known, now);
        }
        if matches!(message.told, Told::Chat(_)) {
            known.tally.heard += 1;
        }
        known.view.take(&message);
        self.answered(known, &message, now);
        if let Some(at) = known.view.position
            && let Seen::First(took) = known.plan.seen(now, at)
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

    fn answered(&self, known: &mut Known, message: &Message, now: Instant) {
        let Some(RequestId::Number(id)) = &message.re else {
            return;
        };
        let Some(id) = id.as_u64() else {
            return;
        };
        known.pending.remove(&id);
        if matches!(message.told, Told::Error(_)) && id == known.walk_id {
            known.plan.refused(now);
        }
    }

    /// Before a new tick is shown, the map shows the old one completely.
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
        // A full channel means that the comparing side is behind: this one is left out.
        let _ = sink.try_send(Snapshot::of(&self.name, &known.view));
    }

    async fn act(&self, writer: &socket::Writer) -> Closed {
        loop {
            let due = self.known().plan.due();
            tokio::select! {
                () = sleep_until(due) => {}
                () = self.changed.notified() => continue,
            }
            let Some((event, data)) = self.next_step() else {
                continue;
            };
            if let Err(e) = self.send(writer, event, &data).await {
                return Closed {
                    code: None,
                    reason: format!("{e:#}"),
                };
            }
        }
    }

    fn next_step(&self) -> Option<(&'static str, Value)> {
        let now = Instant::now();
        let mut known = self.known();
        let overdue = |asked: &Instant| now.saturating_duration_since(*asked) > LOST_AFTER;
        let late: Vec<u64> = known
            .pending
            .iter()
            .filter(|(_, asked)| overdue(asked))
            .map(|(id, _)| *id)
            .collect();
        for id in late {
            known.pending.remove(&id);
            known.tally.unanswered += 1;
        }
        let at = known.view.position?;
        let (step, lost) = known.plan.act(now, at);
        if lost && self.measuring(now, Duration::ZERO) {
            known.tally.lost += 1;
            known.tally.moved(LOST_AFTER);
        }
        match step? {
            Step::Walk { to, run } => {
                known.walk_id = known.next_id + 1;
                let data = json!({ "target": { "x": to.0, "z": to.1 }, "run": run });
                Some(("player:move", data))
            }
            Step::Say { message, global } => {
                let channel = if global { "global" } else { "local" };
                let data = json!({ "message": message, "channel": channel });
                Some(("player:chat", data))
            }
        }
    }

    async fn send(&self, writer: &socket::Writer, event: &str, data: &Value) -> Result<()> {
        let id = {
            let mut known = self.known();
            known.next_id += 1;
            let id = known.next_id;
            known.pending.insert(id, Instant::now());
            id
        };
        let bytes = wire::request(self.run.format, event, Some(id), data)?;
        writer.send(self.run.format, bytes).await
    }
}
