//! A client for tests: it does one thing at a time and waits for the expected message, with a
//! deadline. A task reads its socket all the time and keeps its [`View`] and a bounded log.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use fastwebsockets::OpCode;
use futures::future::BoxFuture;
use proto::client::{
    Format, RequestId,
    session::{Character, Welcome, WorldEntered},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    task::AbortHandle,
    time::{Instant, timeout_at},
};

use super::{
    Action, FaultKind, View,
    listener::Listener,
    socket::{self, Closed, Received, Upgrade, Writer},
    wire::{self, Message, Payload},
};
use crate::http::Address;

/// Longest time that an answer may take.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// Messages that are remembered.
const LOG_MAX: usize = 20_000;

#[derive(Default)]
struct Inner {
    view: View,
    log: VecDeque<Message>,
    /// Messages taken from the front of the log.
    dropped: usize,
    closed: Option<Closed>,
    unreadable: Vec<String>,
    next_id: u64,
}

#[derive(Default)]
struct Shared {
    inner: Mutex<Inner>,
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connected client.
pub struct Player {
    address: Address,
    format: Format,
    shared: Arc<Shared>,
    writer: Writer,
    reading: AbortHandle,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Player {
    /// Connects and waits for `session:hello`.
    pub async fn connect(gateway: &str, format: Format) -> Result<Self> {
        let upgrade = Upgrade {
            format: Some(format),
            ..Upgrade::default()
        };
        Self::connect_with(gateway, format, &upgrade).await
    }

    /// Connects as `upgrade` says and waits for `session:hello`.
    pub fn connect_with<'a>(
        gateway: &'a str,
        format: Format,
        upgrade: &'a Upgrade,
    ) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            let address: Address = gateway.parse()?;
            let shared = Arc::new(Shared::default());
            let (writer, reading) = Self::open(&address, format, upgrade, &shared).await?;
            let player = Self {
                address,
                format,
                shared,
                writer,
                reading,
            };
            player
                .until("session:hello", TIMEOUT, |view| view.hello.clone())
                .await?;
            Ok(player)
        })
    }

    /// Connects, signs in anonymously, makes a character of this name and enters the world.
    pub fn arrive<'a>(
        gateway: &'a str,
        format: Format,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            let player = Self::connect(gateway, format).await?;
            player.sign_in(None).await?;
            let character = player.create(name).await?;
            player.enter(&character.id).await?;
            Ok(player)
        })
    }

    /// Signs in, enters with the first character of a device key and returns.
    pub fn come_back<'a>(
        gateway: &'a str,
        format: Format,
        device_key: &'a str,
    ) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            let player = Self::connect(gateway, format).await?;
            let welcome = player.sign_in(Some(device_key)).await?;
            let first = welcome.characters.first().context("no character")?;
            player.enter(&first.id).await?;
            Ok(player)
        })
    }

    async fn open(
        address: &Address,
        format: Format,
        upgrade: &Upgrade,
        shared: &Arc<Shared>,
    ) -> Result<(Writer, AbortHandle)> {
        let (reader, writer) = socket::connect(address, upgrade).await?;
        {
            let mut inner = shared.lock();
            inner.view.connected();
            inner.closed = None;
        }
        let task = tokio::spawn(listen(reader, format, Arc::clone(shared)));
        Ok((writer, task.abort_handle()))
    }

    /// Sends `authenticate` without a token.
    pub fn sign_in<'a>(&'a self, device_key: Option<&'a str>) -> BoxFuture<'a, Result<Welcome>> {
        Box::pin(async move {
            let data = match device_key {
                Some(key) => json!({ "deviceKey": key }),
                None => json!({}),
            };
            self.authenticate(data).await
        })
    }

    /// Sends `authenticate` with any data.
    pub async fn authenticate(&self, data: Value) -> Result<Welcome> {
        match self.ask("authenticate", &data).await? {
            Payload::Welcome(welcome) => Ok(welcome),
            other => bail!("authenticate: {other:?}"),
        }
    }

    /// Sends `character:create`.
    pub fn create<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Character>> {
        Box::pin(async move {
            match self
                .ask("character:create", &json!({ "name": name }))
                .await?
            {
                Payload::CharacterCreated(created) => Ok(created.character),
                other => bail!("character:create: {other:?}"),
            }
        })
    }

    /// Sends `world:enter`, and waits until the own entity is on the own map.
    pub fn enter<'a>(&'a self, character_id: &'a str) -> BoxFuture<'a, Result<WorldEntered>> {
        Box::pin(async move {
            let data = json!({ "characterId": character_id });
            let entered = match self.ask("world:enter", &data).await? {
                Payload::WorldEntered(entered) => entered,
                other => bail!("world:enter: {other:?}"),
            };
            self.until("the own entity", TIMEOUT, |view| {
                view.map.entity(&entered.entity_id).map(|_| ())
            })
            .await?;
            Ok(entered)
        })
    }

    /// Walks or runs to a tile and waits until it stands there.
    pub fn walk<'a>(
        &'a self,
        to: (i32, i32),
        run: bool,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let data = json!({ "target": { "x": to.0, "z": to.1 }, "run": run });
            match self.ask("player:move", &data).await? {
                Payload::Ack(_) => {}
                other => bail!("player:move to {to:?}: {other:?}"),
            }
            self.until(&format!("standing at {to:?}"), time_limit, |view| {
                (view.position == Some(to)).then_some(())
            })
            .await
        })
    }

    /// Sends `player:chat`; returns the answer.
    pub async fn say(&self, data: Value) -> Result<Payload> {
        self.ask("player:chat", &data).await
    }

    /// Sends a request with an id and waits for the message that answers it.
    pub async fn ask<T: Serialize + ?Sized>(&self, event: &str, data: &T) -> Result<Payload> {
        let (id, from) = {
            let mut inner = self.shared.lock();
            inner.next_id += 1;
            (inner.next_id, inner.dropped + inner.log.len())
        };
        self.answer_to(event, id, from, data).await
    }

    /// Asks for something of value and waits for the answer.
    pub fn act<'a>(&'a self, action: Action) -> BoxFuture<'a, Result<Payload>> {
        Box::pin(async move {
            let (event, data) = action.request();
            let (id, from) = {
                let mut inner = self.shared.lock();
                inner.next_id += 1;
                let id = inner.next_id;
                inner.view.possessions.asked(id, action);
                (id, inner.dropped + inner.log.len())
            };
            self.answer_to(event, id, from, &data).await
        })
    }

    async fn answer_to<T: Serialize + ?Sized>(
        &self,
        event: &str,
        id: u64,
        from: usize,
        data: &T,
    ) -> Result<Payload> {
        let bytes = wire::request(self.format, event, Some(id), data)?;
        self.writer.send(self.format, bytes).await?;
        let re = RequestId::Number(id.into());
        let what = format!("an answer to {event}");
        self.heard(&what, from, TIMEOUT, |message| {
            (message.re.as_ref() == Some(&re)).then(|| message.payload.clone())
        })
        .await
    }

    /// Sends a request without an id.
    pub async fn tell<T: Serialize + ?Sized>(&self, event: &str, data: &T) -> Result<()> {
        let bytes = wire::request(self.format, event, None, data)?;
        self.writer.send(self.format, bytes).await
    }

    /// Sends any frame.
    pub async fn raw(&self, fin: bool, opcode: OpCode, bytes: Vec<u8>) -> Result<()> {
        self.writer.raw(fin, opcode, bytes).await
    }

    /// Returns the present end of the log; [`Player::heard`] can begin there.
    pub fn mark(&self) -> usize {
        let inner = self.shared.lock();
        inner.dropped + inner.log.len()
    }

    /// Waits for a message after `mark`.
    pub async fn heard<T>(
        &self,
        what: &str,
        mark: usize,
        time_limit: Duration,
        mut test: impl FnMut(&Message) -> Option<T>,
    ) -> Result<T> {
        let mut next = mark;
        self.wait(what, time_limit, |inner| {
            let skip = next.saturating_sub(inner.dropped);
            let found = inner.log.iter().skip(skip).find_map(&mut test);
            next = inner.dropped + inner.log.len();
            found
        })
        .await
    }

    /// Waits until the view answers.
    pub async fn until<T>(
        &self,
        what: &str,
        time_limit: Duration,
        mut test: impl FnMut(&View) -> Option<T>,
    ) -> Result<T> {
        self.wait(what, time_limit, |inner| test(&inner.view)).await
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self, time_limit: Duration) -> Result<Closed> {
        let deadline = Instant::now() + time_limit;
        loop {
            let changed = self.shared.changed.notified();
            if let Some(closed) = self.shared.lock().closed.clone() {
                return Ok(closed);
            }
            if timeout_at(deadline, changed).await.is_err() {
                bail!("still open after {time_limit:?}");
            }
        }
    }

    async fn wait<T>(
        &self,
        what: &str,
        time_limit: Duration,
        mut test: impl FnMut(&Inner) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + time_limit;
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let inner = self.shared.lock();
                if let Some(found) = test(&inner) {
                    return Ok(found);
                }
                if let Some(closed) = &inner.closed {
                    bail!("waiting for {what}: closed, {closed:?}");
                }
            }
            if timeout_at(deadline, changed).await.is_err() {
                let last = self.last();
                bail!("waiting for {what}: nothing in {time_limit:?}; last heard: {last}");
            }
        }
    }

    fn last(&self) -> String {
        let inner = self.shared.lock();
        let told = inner
            .log
            .iter()
            .rev()
            .filter(|m| !matches!(m.payload, Payload::Update(_)));
        let lines: Vec<_> = told.take(5).map(|m| format!("{m:?}")).collect();
        format!(
            "position {:?} tick {} seq {} unreadable {:?}; {}",
            inner.view.position,
            inner.view.tick,
            inner.view.seq,
            inner.unreadable,
            lines.join(" | ")
        )
    }

    /// Looks at its knowledge of the world.
    pub fn look<T>(&self, test: impl FnOnce(&View) -> T) -> T {
        test(&self.shared.lock().view)
    }

    /// Returns everything heard that is remembered.
    pub fn log(&self) -> Vec<Message> {
        self.shared.lock().log.iter().cloned().collect()
    }

    /// Fails if its messages had a fault: a gap in `seq`, a message that could not be read, an
    /// update that did not fit its map, or a leap.
    pub fn check(&self) -> Result<()> {
        let inner = self.shared.lock();
        let view = &inner.view;
        ensure!(
            inner.unreadable.is_empty(),
            "unreadable: {:?}",
            inner.unreadable
        );
        ensure!(view.gaps == 0, "{} gaps in seq", view.gaps);
        let (count, first) = view.map.faults();
        ensure!(count == 0, "{count} faults on the map: {first:?}");
        let (leaps, first) = (view.leaps, view.first_leap);
        ensure!(
            leaps == 0,
            "{leaps} leaps of the own entity, first {first:?}"
        );
        ensure!(
            view.self_unseen == 0,
            "unseen to itself {} times",
            view.self_unseen
        );
        ensure!(view.ticks_backwards == 0, "ticks went backwards");
        let own = &view.possessions;
        let wrong = own.count(FaultKind::TakenBack) + own.count(FaultKind::Unasked);
        let faults: Vec<&String> = own.faults().collect();
        ensure!(wrong == 0, "{wrong} times wrong: {faults:?}");
        Ok(())
    }

    /// Drops the connection without a word.
    pub async fn cut(&self) {
        self.reading.abort();
        self.shared.lock().closed = Some(Closed::default());
    }

    /// Connects again at `gateway` and resumes the session; whether everything was sent anew.
    pub fn resume<'a>(&'a mut self, gateway: &'a str) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            self.reading.abort();
            let (resume_token, last_seq) = self.look(|view| (view.resume_token.clone(), view.seq));
            let resume_token = resume_token.context("never welcomed")?;
            self.address = gateway.parse()?;
            let upgrade = Upgrade {
                format: Some(self.format),
                ..Upgrade::default()
            };
            let (writer, reading) =
                Self::open(&self.address, self.format, &upgrade, &self.shared).await?;
            self.writer = writer;
            self.reading = reading;
            let data = json!({ "resumeToken": resume_token, "lastSeq": last_seq });
            match self.ask("session:resume", &data).await? {
                Payload::Resumed(resumed) => Ok(resumed.resync),
                other => bail!("session:resume: {other:?}"),
            }
        })
    }

    /// Returns the gateway's host and port.
    pub fn authority(&self) -> String {
        self.address.authority()
    }

    /// Returns its character's id.
    pub fn id(&self) -> Result<String> {
        self.look(|view| view.entered.as_ref().map(|e| e.character_id.clone()))
            .context("not in the world")
    }

    /// Returns its tile.
    pub fn position(&self) -> Result<(i32, i32)> {
        self.look(|view| view.position).context("nowhere")
    }

    /// Returns the device key of its anonymous account, if the server made one.
    pub fn device_key(&self) -> Result<String> {
        self.look(|view| view.welcome.as_ref().and_then(|w| w.device_key.clone()))
            .context("no device key")
    }
}

async fn listen(mut reader: socket::Reader, format: Format, shared: Arc<Shared>) {
    let mut listener = Listener::new(format);
    loop {
        let received = reader.next().await;
        let mut inner = shared.lock();
        match received {
            Ok(Received::Message { text, bytes }) => {
                if text != format.is_text() {
                    inner
                        .unreadable
                        .push("a frame of the wrong type".to_owned());
                }
                match listener.read(&bytes) {
                    Ok(message) => {
                        inner.view.take(&message);
                        inner.log.push_back(message);
                        if inner.log.len() > LOG_MAX {
                            inner.log.pop_front();
                            inner.dropped += 1;
                        }
                    }
                    Err(e) => {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        inner.unreadable.push(format!("{e:#}: {text:.300}"));
                    }
                }
            }
            Ok(Received::Closed(closed)) => inner.closed = Some(closed),
            Err(e) => {
                inner.closed = Some(Closed {
                    code: None,
                    reason: format!("{e:#}"),
                });
            }
        }
        let over = inner.closed.is_some();
        drop(inner);
        shared.changed.notify_waiters();
        if over {
            return;
        }
    }
}
