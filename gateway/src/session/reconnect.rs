//! Losing a socket and getting another one.

use std::time::{Duration, Instant};

use proto::client::{
    CloseCode, ErrorCode, Refusal, RequestId,
    error::Error,
    session::{Invalid, Resume, Resumed, WorldLeft},
};
use tokio::{sync::oneshot, time::timeout};
use view::area::Area;

use super::{
    Flow, Session,
    registry::{Adoption, Command, Handle},
    resume::Written,
    state::Stage,
};
use crate::{
    auth::tokens::Refused,
    clock,
    limits::logins::Way,
    mailbox::Reliable,
    socket::{Socket, WriteSide},
    writer::Finished,
};

const EVENT: &str = "session:resume";
/// Reason for refusing to resume a session that is over.
pub(super) const OVER: &str = "the session is over; authenticate anew";

/// Time that a goodbye may take to be written.
const SHUT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time that a session may be busy before it takes its new socket.
const ADOPT_TIMEOUT: Duration = Duration::from_secs(10);

impl Session {
    /// Closes the socket after all waiting messages. The session is over, unless the caller decides
    /// otherwise.
    pub(super) async fn shut(&mut self, code: CloseCode, reason: &'static str) -> Flow {
        self.mailbox.close(code, reason);
        if let Some(mut socket) = self.socket.take() {
            let finished = timeout(SHUT_TIMEOUT, &mut socket.writer).await;
            let written = match finished {
                Ok(finished) => {
                    socket.part();
                    finished.map_or_else(|_| Written::new(), |finished| finished.written)
                }
                Err(_) => socket.cut().await,
            };
            self.tally.keep(Some(written));
        }
        Flow::End
    }

    /// Handles a writer that ended by itself: the client was too slow, or is gone.
    pub(super) fn writer_ended(&mut self, finished: Option<Finished>) -> Flow {
        self.tally.keep(finished.map(|finished| finished.written));
        if let Some(socket) = self.socket.take() {
            socket.part();
        }
        Flow::Lost
    }

    /// Returns whether a client could resume the session.
    pub(super) fn may_wait(&self) -> bool {
        self.account.is_some() && self.timers.leaving().is_none() && !self.looks_on()
    }

    /// Goes on without a socket, for a while.
    pub(super) async fn lose(&mut self) {
        if let Some(socket) = self.socket.take() {
            self.tally.keep(Some(socket.cut().await));
        }
        self.mailbox.pause();
        if let Some(account) = &mut self.account {
            account.budget = None;
        }
        match (self.stage, &self.account) {
            (Stage::World, _) => self.app.zones.pause(&self.handle.session_id),
            (Stage::Fresh | Stage::Lobby, Some(account)) => {
                self.app.sessions.registry.lost(&account.id, &self.handle);
            }
            (Stage::Fresh | Stage::Lobby, None) => {}
        }
        self.timers.wake_in(self.app.config.times.linger);
    }

    pub(super) async fn command(&mut self, command: Command) -> Flow {
        match command {
            Command::Adopt(adoption, back) => self.adopt(adoption, back).await,
            Command::Replaced if self.stage == Stage::World => self.replaced().await,
            Command::Elsewhere(attach) => {
                let session_id = &self.handle.session_id;
                if self.app.zones.is_behind(session_id, attach) {
                    return self.gone_elsewhere().await;
                }
                Flow::On
            }
            Command::Replaced => Flow::On,
            // Its client's token still resumes it, with a resync.
            Command::Outlived if self.socket.is_none() && self.stage != Stage::World => Flow::End,
            Command::Outlived => Flow::On,
            Command::News(news) => self.news(news).await,
        }
    }

    /// Resumes the session of a token. If the session is here, it takes the socket; else this
    /// session takes its place.
    pub(super) async fn ask_resume(&mut self, re: Option<RequestId>, data: Resume) -> Flow {
        let claims = match self.app.auth.tokens.verify_resume(&data.resume_token) {
            Ok(claims) => claims,
            Err(Refused::NotReady) => {
                self.refuse(re, EVENT, ErrorCode::Refused(Refusal::StorageUnavailable));
                return Flow::On;
            }
            Err(Refused::Invalid) => return self.bad_token(re).await,
        };
        let ids = [claims.session.login.as_deref().unwrap_or_default()];
        if let Some(flow) = self
            .refuse_at_sanctions(re.clone(), EVENT, &claims.sub, &ids)
            .await
        {
            return flow;
        }
        let now = clock::instant();
        let often =
            self.app
                .auth
                .logins
                .pass(Way::Resume, &claims.sub, self.visitor.address(), now);
        if let Err(over) = often {
            return self.crowds(re, EVENT, over).await;
        }
        let handle = Handle {
            session_id: claims.session.sid.clone(),
            commands: self.handle.commands.clone(),
        };
        let mut re = re;
        while let Some(here) = self.app.sessions.registry.add(&handle) {
            let line = claims.session.line.clone();
            match self.hand_over(re, &here, data.last_seq, line).await {
                Ok(flow) => return flow,
                Err(unanswered) => re = unanswered,
            }
        }
        self.handle = handle;
        self.take_over(re, claims).await
    }

    /// Counts a refused token as an attempt, as `authenticate` would.
    async fn bad_token(&self, re: Option<RequestId>) -> Flow {
        let attempt = self.app.auth.attempts.attempt(self.visitor.address()).await;
        if let Err(wait) = attempt {
            let (code, event) = (ErrorCode::RateLimited, Some(EVENT.to_owned()));
            let why = "too many attempts from your address";
            self.refuse_with(re, event, code, why, Some(wait));
            return Flow::On;
        }
        self.no_resume(re, "the token is not valid; authenticate anew")
    }

    /// Asks a session of this gateway to take the socket. If that session ends instead, this
    /// connection keeps the socket and the request comes back.
    async fn hand_over(
        &mut self,
        re: Option<RequestId>,
        handle: &Handle,
        last_seq: u64,
        line: String,
    ) -> Result<Flow, Option<RequestId>> {
        let Some(mut socket) = self.socket.take() else {
            return Ok(Flow::End);
        };
        self.mailbox.release();
        let Some(Finished {
            written,
            half: Some(half),
        }) = socket.released().await
        else {
            return Ok(Flow::End);
        };
        let adoption = Box::new(Adoption {
            socket,
            half,
            written,
            last_seq,
            line,
            re,
        });
        let (back, given_back) = oneshot::channel();
        let (adoption, ended) = match timeout(ADOPT_TIMEOUT, handle.commands.reserve()).await {
            Ok(Ok(room)) => {
                room.send(Box::new(Command::Adopt(adoption, back)));
                match given_back.await {
                    Ok(adoption) => (adoption, true),
                    // The other session took it.
                    Err(_) => return Ok(Flow::End),
                }
            }
            Ok(Err(_)) => {
                self.app.sessions.registry.remove(handle);
                (adoption, true)
            }
            Err(_) => (adoption, false),
        };
        let Adoption {
            mut socket,
            half,
            written,
            re,
            ..
        } = *adoption;
        socket.write_from(half, written, self.mailbox.clone());
        self.socket = Some(socket);
        if ended {
            return Err(re);
        }
        Ok(self.no_resume(re, OVER))
    }

    pub(super) fn no_resume(&self, re: Option<RequestId>, reason: &str) -> Flow {
        self.app.metrics.resume("invalid");
        let reason = reason.to_owned();
        self.answer(re, &Invalid { reason });
        Flow::On
    }

    /// Gives back all sockets of adoptions that still wait.
    pub(super) async fn give_back(&mut self) {
        self.commands.close();
        while let Some(command) = self.commands.recv().await {
            if let Command::Adopt(adoption, back) = *command {
                // The asking session is there, or its client is gone.
                let _ = back.send(adoption);
            }
        }
    }

    /// Goes on with a new socket.
    async fn adopt(
        &mut self,
        adoption: Box<Adoption>,
        back: oneshot::Sender<Box<Adoption>>,
    ) -> Flow {
        if self.socket.is_some() {
            self.shut(CloseCode::GoingAway, "resumed on another connection")
                .await;
        }
        // Events from zones that wait already may end the session here.
        while let Ok(event) = self.events.1.try_recv() {
            let flow = self.event(*event).await;
            if flow != Flow::On {
                let _ = back.send(adoption);
                return flow;
            }
        }
        // Messages pushed from here on wait for the new socket.
        self.mailbox.pause();
        let Adoption {
            mut socket,
            half,
            written: fresh,
            last_seq,
            line,
            re,
        } = *adoption;
        if self.account.is_none() {
            return self.adopt_unauthenticated(socket, half, fresh, re);
        }
        let before = self.tally.take();
        // A number of another count means nothing.
        let last_seq = (line == self.tally.line()).then_some(last_seq);
        let (written, first, resync) = self.first_words(before, fresh, last_seq, re);
        self.app
            .metrics
            .resume(if resync { "same_resync" } else { "same" });
        self.mailbox.resume(first);
        let screen = socket.screen;
        socket.write_from(half, written, self.mailbox.clone());
        self.socket = Some(socket);
        self.timers.rest();
        if !self.takes_budget() {
            let reason = "too much from this account";
            return self.shut(CloseCode::RateLimited, reason).await;
        }
        if self.stage == Stage::World {
            let (zones, mailbox) = (&self.app.zones, self.mailbox.clone());
            if !zones.resume(&self.handle.session_id, mailbox, screen, resync) {
                self.lost_world();
            }
            if resync {
                self.tell_friends();
            }
        }
        Flow::On
    }

    /// Takes a share of the account's budget, unless the session has one. Returns false if there is
    /// none left.
    fn takes_budget(&mut self) -> bool {
        let Some(account) = self.account.as_mut().filter(|of| of.budget.is_none()) else {
            return true;
        };
        let budgets = &self.app.sessions.budgets;
        account.budget = budgets.connect(&account.id, clock::instant()).ok();
        account.budget.is_some()
    }

    /// Takes back a socket for a session that nobody has authenticated: the resume that it waited
    /// for failed.
    fn adopt_unauthenticated(
        &mut self,
        mut socket: Socket,
        half: WriteSide,
        written: Written,
        re: Option<RequestId>,
    ) -> Flow {
        self.mailbox.resume(Vec::new());
        socket.write_from(half, written, self.mailbox.clone());
        self.socket = Some(socket);
        self.no_resume(re, OVER)
    }

    /// Returns the record for the new socket, its first messages, and whether the client gets
    /// everything else anew.
    fn first_words(
        &mut self,
        mut before: Written,
        fresh: Written,
        last_seq: Option<u64>,
        re: Option<RequestId>,
    ) -> (Written, Vec<Reliable>, bool) {
        let mut lost = before.answers_after(last_seq.unwrap_or(0));
        let missed = last_seq
            .filter(|_| !self.mailbox.overflowed())
            .and_then(|last_seq| before.rewind(last_seq, Instant::now()));
        let resync = missed.is_none();
        if resync {
            self.tally.restart();
            lost.extend(self.mailbox.forget());
        } else {
            lost.clear();
        }
        let missed = missed.unwrap_or_default();
        let stands = self.app.zones.position(&self.handle.session_id);
        let area = stands.map(|(tile, _)| Area::of(tile));
        let resumed = Resumed {
            session_id: self.handle.session_id.clone(),
            replayed: missed.len() as u64,
            resync,
            resume_token: self.resume_token(),
            character_id: self.character_id(),
            gateway: area.and_then(|area| self.app.sessions.hub.steer(area)),
        };
        let mut first = vec![Reliable::of(&resumed).answering(re)];
        first.extend(missed);
        let unanswered = self.mailbox.take_requests().into_iter();
        first.extend(unanswered.map(|(id, event)| unknown(id, Some(event))));
        first.extend(lost.into_iter().map(|id| unknown(id, None)));
        (if resync { fresh } else { before }, first, resync)
    }

    fn lost_world(&mut self) {
        let character_id = self.character_id().unwrap_or_default();
        self.leave_world(false);
        let resume_token = self.resume_token();
        self.push(&WorldLeft {
            character_id,
            resume_token,
        });
    }
}

/// Returns the answer to a request whose own answer was lost.
fn unknown(id: RequestId, event: Option<&str>) -> Reliable {
    let code = ErrorCode::OutcomeUnknown;
    let error = Error {
        code,
        message: code.sentence().to_owned(),
        event: event.map(str::to_owned),
        retry_after_ms: None,
    };
    Reliable::of(&error).answering(Some(id))
}
