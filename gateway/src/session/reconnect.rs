//! Losing a socket and getting another one.

use std::time::{Duration, Instant};

use proto::client::{
    CloseCode, ErrorCode, RequestId,
    error::Error,
    session::{Invalid, Resume, Resumed, WorldLeft},
};
use tokio::time::{Instant as TokioInstant, timeout};

use super::{
    Flow, NEVER, Session,
    registry::{Adoption, Command},
    resume::{self, Written},
    state::{self, Stage},
};
use crate::{clock, mailbox::Reliable, writer::Finished};

/// How long a goodbye may take to be written.
const SHUT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a session may be busy before it takes its new socket.
const ADOPT_TIMEOUT: Duration = Duration::from_secs(10);

impl Session {
    /// Closes the socket behind what waits to be written. The session is over, unless the caller
    /// says otherwise.
    pub(super) async fn shut(&mut self, code: CloseCode, reason: &'static str) -> Flow {
        self.mailbox.close(code, reason);
        if let Some(mut socket) = self.socket.take() {
            let finished = timeout(SHUT_TIMEOUT, &mut socket.writer).await;
            self.written = Some(match finished {
                Ok(finished) => {
                    socket.part();
                    finished.map_or_else(|_| Written::new(), |finished| finished.written)
                }
                Err(_) => socket.cut().await,
            });
        }
        Flow::End
    }

    /// The writer ended by itself: the client was too slow, or is gone.
    pub(super) fn writer_ended(&mut self, finished: Option<Finished>) -> Flow {
        self.written = finished.map(|finished| finished.written);
        if let Some(socket) = self.socket.take() {
            socket.part();
        }
        Flow::Lost
    }

    /// Whether somebody could resume it.
    pub(super) fn may_wait(&self) -> bool {
        self.token.is_some() && !self.draining
    }

    /// Goes on without a socket, for a while.
    pub(super) async fn lose(&mut self) {
        if let Some(socket) = self.socket.take() {
            self.written = Some(socket.cut().await);
        }
        self.mailbox.pause();
        if let Some(account) = &mut self.account {
            account.budget = None;
        }
        if self.stage == Stage::World {
            self.app.zones.pause(&self.handle.session_id);
        }
        self.deadline = TokioInstant::now() + self.app.config.times.linger;
    }

    pub(super) async fn command(&mut self, command: Command) -> Flow {
        match command {
            Command::Adopt(adoption) => self.adopt(*adoption).await,
            Command::Replaced if self.stage == Stage::World => self.replaced().await,
            Command::Replaced => Flow::On,
        }
    }

    /// Asks the session of this token to take the socket.
    pub(super) async fn ask_resume(&mut self, re: Option<RequestId>, data: Resume) -> Flow {
        let hash = resume::token_hash(&data.resume_token);
        let Some(handle) = self.app.registry.by_token(&hash) else {
            return self.no_resume(re, "unknown");
        };
        let Some(mut socket) = self.socket.take() else {
            return Flow::End;
        };
        self.mailbox.release();
        let Some(Finished {
            written,
            half: Some(half),
        }) = socket.released().await
        else {
            return Flow::End;
        };
        let adoption = Adoption {
            socket,
            half,
            written,
            last_seq: data.last_seq,
            re,
        };
        let asked = handle.commands.reserve();
        match timeout(ADOPT_TIMEOUT, asked).await {
            Ok(Ok(room)) => {
                room.send(Command::Adopt(Box::new(adoption)));
                Flow::End
            }
            // It ended, or hangs: this connection stays its own.
            _ => {
                let Adoption {
                    mut socket,
                    half,
                    written,
                    re,
                    ..
                } = adoption;
                socket.write_from((half, written), self.mailbox.clone());
                self.socket = Some(socket);
                self.no_resume(re, "ended")
            }
        }
    }

    fn no_resume(&self, re: Option<RequestId>, outcome: &'static str) -> Flow {
        self.app.metrics.resume(outcome);
        let reason = "the session is over; authenticate anew".to_owned();
        self.answer(re, &Invalid { reason });
        Flow::On
    }

    /// Goes on with a new socket.
    async fn adopt(&mut self, adoption: Adoption) -> Flow {
        if self.socket.is_some() {
            self.shut(CloseCode::GoingAway, "resumed on another connection")
                .await;
        }
        // What is pushed from here on waits for the new socket.
        self.mailbox.pause();
        let Adoption {
            mut socket,
            half,
            written: fresh,
            last_seq,
            re,
        } = adoption;
        let before = self.written.take().unwrap_or_else(Written::new);
        let (written, first, resync) = self.first_words(before, fresh, last_seq, re);
        self.app
            .metrics
            .resume(if resync { "resync" } else { "replayed" });
        self.mailbox.resume(first);
        let format = socket.format;
        socket.write_from((half, written), self.mailbox.clone());
        self.socket = Some(socket);
        self.deadline = TokioInstant::now() + NEVER;
        if let Some(account) = &mut self.account
            && account.budget.is_none()
        {
            match self.app.budgets.connect(&account.id, clock::instant()) {
                Ok(budget) => account.budget = Some(budget),
                Err(_) => {
                    return self
                        .shut(CloseCode::RateLimited, "too much from this account")
                        .await;
                }
            }
        }
        if self.stage == Stage::World {
            let (zones, mailbox) = (&self.app.zones, self.mailbox.clone());
            if !zones.resume(&self.handle.session_id, mailbox, format, resync) {
                self.lost_world();
            }
        }
        Flow::On
    }

    /// What the new socket is sent first, behind which number, and whether everything else is
    /// sent anew.
    fn first_words(
        &self,
        mut before: Written,
        fresh: Written,
        last_seq: u64,
        re: Option<RequestId>,
    ) -> (Written, Vec<Reliable>, bool) {
        let mut lost = before.answers_after(last_seq);
        let missed = if self.mailbox.overflowed() {
            None
        } else {
            before.rewind(last_seq, Instant::now())
        };
        let resync = missed.is_none();
        if resync {
            lost.extend(self.mailbox.forget());
        } else {
            lost.clear();
        }
        let missed = missed.unwrap_or_default();
        let resumed = Resumed {
            session_id: self.handle.session_id.clone(),
            replayed: missed.len() as u64,
            resync,
            resume_token: None,
            character_id: None,
        };
        let mut first = vec![Reliable::of(&resumed).answering(re)];
        first.extend(missed);
        let unanswered = self.mailbox.take_requests().into_iter();
        first.extend(unanswered.map(|(id, event)| unknown(id, Some(event))));
        first.extend(lost.into_iter().map(|id| unknown(id, None)));
        (if resync { fresh } else { before }, first, resync)
    }

    fn lost_world(&mut self) {
        let character_id = self
            .playing
            .as_ref()
            .map(|present| present.character_id.clone());
        self.leave_world(false);
        let character_id = character_id.unwrap_or_default();
        self.push(&WorldLeft {
            character_id,
            resume_token: None,
        });
    }
}

/// The answer to a request whose answer was lost.
fn unknown(id: RequestId, event: Option<&str>) -> Reliable {
    let code = ErrorCode::OutcomeUnknown;
    let error = Error {
        code,
        message: state::words(code).to_owned(),
        event: event.map(str::to_owned),
        retry_after_ms: None,
    };
    Reliable::of(&error).answering(Some(id))
}
