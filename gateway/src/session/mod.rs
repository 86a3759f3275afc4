//! A session: one client from its first connection to its end, over as many sockets as it needs.
//!
//! In reading order: [`state`], [`limits`], [`resume`] (pure); `budget` and `registry` (shared by
//! all sessions); this file (its one task and its wake-ups); `inbound` (messages of the client),
//! `login`, `play`, `reconnect` and `take_over` (their handling), `watching` (sessions that only
//! look on), `draining`.
//!
//! Always: a session has one task. It answers or refuses each message of a client, in order. Its
//! socket may go at any moment, and it may come back with another one.

mod admin;
pub(crate) mod budget;
mod census;
mod draining;
mod friends;
mod inbound;
pub(crate) mod limits;

mod login;
mod play;
mod reconnect;
pub(crate) mod registry;
pub(crate) mod resume;
pub(crate) mod state;
mod take_over;
mod tally;
mod timers;
pub(crate) mod visitor;
mod watching;

pub(crate) use admin::announcement;
pub(crate) use draining::ANSWERS;

use std::{sync::Arc, time::Duration};

use proto::client::{
    CloseCode, ErrorCode, RequestId, ServerEvent, error::Error, limits::PROTOCOL_VERSION,
    session::Hello,
};
use service_runtime::config::Secret;
use tokio::{sync::mpsc, task::JoinHandle};

use self::{
    budget::Budget,
    census::{Client, Counted},
    registry::{Command, Handle},
    state::Stage,
    tally::Tally,
    timers::Timers,
    visitor::Visitor,
    watching::Followed,
};
use crate::{
    app::App,
    auth::tokens::{Plays, Resumable, Scope},
    clock,
    limits::window::Window,
    mailbox::{Mailbox, Reliable},
    social::presence::Present,
    socket::{Inbound, Socket},
    writer::Finished,
    zone_link::SessionEvent,
};

/// Maximum number of commands and events that wait for a session.
const WAITING_MAX: usize = 16;
/// Number of heartbeats that a client may miss.
const MISSES_MAX: u32 = 3;
/// Number of malformed messages in ten seconds that closes the socket.
const MALFORMED_MAX: usize = 20;

/// Whether the session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// The socket is gone; the client may resume the session.
    Lost,
    End,
}

/// One client.
///
/// Its channels carry boxes, because a channel has room for 32 values from its beginning on.
pub(crate) struct Session {
    app: Arc<App>,
    handle: Handle,
    visitor: Visitor,
    stage: Stage,
    mailbox: Mailbox,
    socket: Option<Socket>,
    tally: Tally,
    account: Option<Account>,
    /// Character that it plays, and the session epoch.
    playing: Option<(Present, u64)>,
    /// Character that it looks at without playing.
    followed: Option<Followed>,
    commands: mpsc::Receiver<Box<Command>>,
    events: (
        mpsc::Sender<Box<SessionEvent>>,
        mpsc::Receiver<Box<SessionEvent>>,
    ),
    timers: Timers,
    limits: Limits,
    /// What metrics count it as now.
    counted: Option<Counted>,
}

/// Authenticated account of a session.
struct Account {
    id: String,
    scope: Scope,
    /// Only character that it may name: an agent's.
    agent: Option<String>,
    /// Login by which it came.
    login: String,
    token_id: String,
    /// End of the login, in milliseconds since 1970.
    until_ms: u64,
    /// Share of the account's budget, while there is a socket.
    budget: Option<Budget>,
}

impl Account {
    /// Returns the ids that end its login: of the login and of the token.
    fn ids(&self) -> [&str; 2] {
        [&self.login, &self.token_id]
    }

    /// Returns whether it may name this character, if the account has it.
    fn may_name(&self, character_id: &str) -> bool {
        self.agent
            .as_deref()
            .is_none_or(|only| only == character_id)
    }
}

/// Limits of one session, beside those of its account.
struct Limits {
    /// Messages before authentication.
    fresh: Window,
    malformed: Window,
}

/// Event that wakes a session.
enum Wake {
    Inbound(Box<Inbound>),
    Finished(Option<Finished>),
    Command(Box<Command>),
    Event(Box<SessionEvent>),
    Heartbeat,
    Deadline,
    Drain,
    /// A newcomer has got the place of this unauthenticated socket.
    SentAway,
}

impl Session {
    /// Serves a socket from its upgrade on, until its session is over or another session has taken
    /// the socket.
    pub(crate) async fn serve(
        app: Arc<App>,
        visitor: Visitor,
        token: Option<Secret>,
        open: impl FnOnce(Mailbox) -> Socket,
    ) {
        let mailbox = Mailbox::new();
        let socket = open(mailbox.clone());
        let (sender, commands) = mpsc::channel(WAITING_MAX);
        let session = Self {
            handle: Handle {
                session_id: uuid::Uuid::new_v4().to_string(),
                commands: sender,
            },
            visitor,
            stage: Stage::Fresh,
            mailbox,
            socket: Some(socket),
            tally: Tally::new(),
            account: None,
            playing: None,
            followed: None,
            commands,
            events: mpsc::channel(WAITING_MAX),
            timers: Timers::new(
                app.config.times.heartbeat,
                app.config.times.handshake,
                app.sessions.draining.clone(),
            ),
            limits: Limits::new(),
            counted: None,
            app,
        };
        // Boxed: else the task holds room for the session twice.
        Box::pin(session.run(token)).await;
    }

    async fn run(mut self, token: Option<Secret>) {
        self.push(&Hello {
            protocol: PROTOCOL_VERSION,
            heartbeat_ms: whole_ms(self.app.config.times.heartbeat),
            auth_timeout_ms: whole_ms(self.app.config.times.handshake),
            anonymous: self.app.config.anonymous,
        });
        let mut flow = match token {
            Some(token) => Box::pin(self.header_token(&token)).await,
            None => Flow::On,
        };
        loop {
            match flow {
                Flow::On => {}
                Flow::Lost if self.may_wait() => Box::pin(self.lose()).await,
                Flow::Lost | Flow::End => break,
            }
            self.count();
            let woken = self.wake().await;
            // Boxed, so that a waiting session holds no memory for its work after waking up.
            flow = Box::pin(self.wake_up(woken)).await;
        }
        self.end();
        self.count_as(None);
        Box::pin(self.give_back()).await;
    }

    /// Handles the event that woke the session.
    async fn wake_up(&mut self, woken: Wake) -> Flow {
        // A busy place cannot go to a newcomer while the session handles the event.
        let _busy = self.visitor.busy();
        match woken {
            Wake::Inbound(inbound) => self.inbound(*inbound).await,
            Wake::Finished(finished) => self.writer_ended(finished),
            Wake::Command(command) => self.command(*command).await,
            Wake::Event(event) => self.event(*event).await,
            Wake::Heartbeat => self.beat().await,
            Wake::Deadline => self.late().await,
            Wake::Drain => self.drain(),
            Wake::SentAway => {
                let why = "others wait for this place; connect again";
                self.shut(CloseCode::Busy, why).await
            }
        }
    }

    /// Waits for the first event. Everything here is safe to drop while it waits.
    async fn wake(&mut self) -> Wake {
        let (inbound, writer) = match &mut self.socket {
            Some(socket) => (Some(&mut socket.inbound), Some(&mut socket.writer)),
            None => (None, None),
        };
        let (deadline, leaving) = (self.timers.deadline(), self.timers.leaving());
        tokio::select! {
            inbound = hear(inbound, &self.mailbox) => Wake::Inbound(inbound),
            finished = ended(writer) => Wake::Finished(finished),
            Some(command) = self.commands.recv() => Wake::Command(command),
            Some(event) = self.events.1.recv() => Wake::Event(event),
            _ = self.timers.heartbeat.tick() => Wake::Heartbeat,
            () = clock::until(deadline) => Wake::Deadline,
            () = &mut self.timers.draining, if leaving.is_none() => Wake::Drain,
            () = self.visitor.sent_away() => Wake::SentAway,
        }
    }

    /// Puts a message of the gateway's own into the mailbox.
    fn push<T: ServerEvent>(&self, data: &T) {
        self.answer(None, data);
    }

    /// Answers a request.
    fn answer<T: ServerEvent>(&self, re: Option<RequestId>, data: &T) {
        // A mailbox that is full closes its socket by itself.
        let _ = self.mailbox.push(Reliable::of(data).answering(re));
    }

    /// Refuses a request with the code's own words.
    fn refuse(&self, re: Option<RequestId>, event: &str, code: ErrorCode) {
        self.refuse_with(re, Some(event.to_owned()), code, code.sentence(), None);
    }

    fn refuse_with(
        &self,
        re: Option<RequestId>,
        event: Option<String>,
        code: ErrorCode,
        message: &str,
        retry_after: Option<Duration>,
    ) {
        let error = Error {
            code,
            message: message.to_owned(),
            event,
            // Rounded up: after this time it passes.
            retry_after_ms: retry_after.map(|after| whole_ms(after) + 1),
        };
        self.answer(re, &error);
    }

    async fn beat(&mut self) -> Flow {
        // If the session missed a sanction or an end of its login, it ends here.
        if self.look_at_sanctions().await == Flow::End {
            return Flow::End;
        }
        let Some(socket) = &self.socket else {
            self.tally.forget_old();
            return Flow::On;
        };
        if socket.silence() > self.app.config.times.heartbeat * MISSES_MAX {
            tracing::debug!(session = self.handle.session_id, "the client is silent");
            return Flow::Lost;
        }
        self.mailbox.ping();
        Flow::On
    }

    /// Handles the end of the deadline.
    async fn late(&mut self) -> Flow {
        if self.socket.is_none() {
            // Nobody resumed.
            return Flow::End;
        }
        if let Some(leaving) = self.timers.leaving() {
            return self.leave_gateway(leaving).await;
        }
        if self.stage == Stage::Fresh {
            return self
                .shut(CloseCode::NotAuthenticated, "not authenticated in time")
                .await;
        }
        self.timers.rest();
        self.look_again().await
    }

    /// Returns a token that resumes the session as it is now; `None` while nobody is authenticated.
    fn resume_token(&self) -> Option<String> {
        // A session that only looks on misses nothing by beginning anew.
        let account = self.account.as_ref().filter(|_| !self.looks_on())?;
        let plays = self.playing.as_ref().map(|(present, epoch)| Plays {
            id: present.character_id.clone(),
            name: present.name.clone(),
            epoch: *epoch,
        });
        let session = Resumable {
            sid: self.handle.session_id.clone(),
            line: self.tally.line().to_owned(),
            plays,
            login: Some(account.login.clone()),
            agent: account.agent.clone(),
        };
        let ends_by_ms = account.agent.as_ref().map(|_| account.until_ms);
        let tokens = &self.app.auth.tokens;
        tokens.issue_resume(&account.id, session, ends_by_ms)
    }

    /// Keeps the counts of sessions and clients right.
    fn count(&mut self) {
        let scope = self.account.as_ref().map(|account| account.scope);
        let client = self.socket.as_ref().map(|socket| Client {
            kind: census::kind(scope, self.visitor.is_from_page()),
            subprotocol: socket.screen.format.subprotocol(),
        });
        let state = match client {
            Some(_) => self.stage.name(),
            None => "lingering",
        };
        self.count_as(Some(Counted { state, client }));
    }

    fn count_as(&mut self, now: Option<Counted>) {
        if self.counted != now {
            census::recount(&self.app.metrics, self.counted, now);
            self.counted = now;
        }
    }

    /// Removes the session from everything that knows it.
    fn end(&mut self) {
        self.leave_world(false);
        self.app.zones.detach(&self.handle.session_id);
        self.app.sessions.registry.remove(&self.handle);
        if let Some(account) = &self.account {
            self.app.sessions.registry.parted(&account.id, &self.handle);
        }
    }
}

impl Limits {
    fn new() -> Self {
        let per_second = proto::client::limits::CLIENT_MESSAGES_PER_SECOND_MAX;
        Self {
            fresh: Window::new(per_second, Duration::from_secs(1)),
            malformed: Window::new(MALFORMED_MAX - 1, Duration::from_secs(10)),
        }
    }
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX - 1)
}

/// Returns the client's next message, as soon as there is room for its answer.
async fn hear(
    inbound: Option<&mut mpsc::Receiver<Box<Inbound>>>,
    mailbox: &Mailbox,
) -> Box<Inbound> {
    let Some(inbound) = inbound else {
        return std::future::pending().await;
    };
    mailbox.roomy().await;
    let next = inbound.recv().await;
    next.unwrap_or_else(|| Box::new(Inbound::Ended))
}

/// Waits for the end of the writer.
async fn ended(writer: Option<&mut JoinHandle<Finished>>) -> Option<Finished> {
    match writer {
        Some(writer) => writer.await.ok(),
        None => std::future::pending().await,
    }
}
