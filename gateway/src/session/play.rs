//! Playing a character: into the world, in it, and out of it.

use std::{sync::Arc, time::Duration};

use proto::{
    client::{
        CloseCode, ErrorCode, Refusal, RequestId, ZoneRequest,
        chat::{Channel, ChatMessage, PlayerChat},
        error::Error,
        session::{Ack, Notice, WorldEntered, WorldLeft},
    },
    rpc::persistence::v1::OpenSessionRequest,
};
use view::area::Area;
use world::Region;

use super::{Flow, Session, state::Stage, whole_ms};
use crate::{
    app::App,
    auth::accounts,
    clock,
    mailbox::{Mailbox, Reliable},
    social::{chat, hub::Speaker, presence::Present},
    zone_link::{AttachError, AttachSession, Attached, SessionEvent},
};

const ENTER: &str = "world:enter";
const CHAT: &str = "player:chat";
const PAUSED: &str = "this part of the world is stopped until an operator has looked at it";

impl Session {
    pub(super) async fn enter(&mut self, re: Option<RequestId>, character_id: String) -> Flow {
        let spans = &self.app.reports.spans;
        let span = spans.session("session.enter", &self.handle.session_id);
        let flow = span.within(self.come_in(re, character_id)).await;
        span.end(match self.stage {
            Stage::World => "entered",
            Stage::Fresh | Stage::Lobby => "refused",
        });
        flow
    }

    async fn come_in(&mut self, re: Option<RequestId>, character_id: String) -> Flow {
        let Some(account) = &self.account else {
            return Flow::On;
        };
        if !account.may_name(&character_id) {
            self.refuse(re, ENTER, ErrorCode::WrongScope);
            return Flow::On;
        }
        let request = OpenSessionRequest {
            account_id: account.id.clone(),
            character_id,
            session_id: self.handle.session_id.clone(),
            gateway_id: self.app.config.gateway_id.clone(),
        };
        let account_id = account.id.clone();
        let app = Arc::clone(&self.app);
        let Ok(_turn) = app.sessions.entering.turn().await else {
            self.refuse(re, ENTER, ErrorCode::ZoneUnavailable);
            return Flow::On;
        };
        let opened = match self.app.auth.accounts.open_session(request).await {
            Ok(opened) => opened,
            Err(status) => {
                self.refuse(re, ENTER, accounts::enter_refusal(&status));
                return Flow::On;
            }
        };
        let (Some(character), Some(region)) = (opened.character, opened.region) else {
            tracing::error!("the store opened a session without saying whose and where");
            self.refuse(re, ENTER, ErrorCode::Internal);
            return Flow::On;
        };
        let present = Present {
            session_id: self.handle.session_id.clone(),
            account_id,
            character_id: character.id,
            name: character.name,
            session_epoch: opened.session_epoch,
            language: self.visitor.language().map(str::to_owned),
        };
        let region = Region {
            x: region.x,
            z: region.z,
        };
        let epoch = opened.session_epoch;
        match self.attach(&present, epoch, region).await {
            Ok(attached) => self.entered(re, present, epoch, attached).await,
            Err(error) => {
                // Messages that came already are of no use.
                let _ = self.mailbox.open(Vec::new());
                self.not_entered(re, region, error);
            }
        }
        Flow::On
    }

    /// Attaches the session. The mailbox holds the zone's messages until the client knows that it
    /// is in the world.
    async fn attach(
        &mut self,
        present: &Present,
        session_epoch: u64,
        region: Region,
    ) -> Result<Attached, AttachError> {
        let Some(screen) = self.socket.as_ref().map(|socket| socket.screen) else {
            return Err(AttachError::Gone);
        };
        // Events of an earlier stay in the world mean nothing any more.
        while self.events.1.try_recv().is_ok() {}
        self.mailbox.hold();
        let attach = self.app.zones.attach(AttachSession {
            session_id: present.session_id.clone(),
            character_id: present.character_id.clone(),
            session_epoch,
            attach: 1,
            last_input: 0,
            region,
            screen,
            mailbox: self.mailbox.clone(),
            events: self.events.0.clone(),
        });
        attach.await
    }

    async fn entered(
        &mut self,
        re: Option<RequestId>,
        present: Present,
        epoch: u64,
        attached: Attached,
    ) {
        let character_id = present.character_id.clone();
        self.playing = Some((present.clone(), epoch));
        let entered = WorldEntered {
            character_id: character_id.clone(),
            entity_id: character_id.clone(),
            tick: attached.tick,
            region: [attached.region.x, attached.region.z],
            zone: attached.run_id.to_string(),
            resume_token: self.resume_token(),
            gateway: self.better_gateway(attached.region),
        };
        let first = vec![
            Reliable::of(&entered).answering(re),
            Reliable::raw("player:sync", attached.sync),
        ];
        self.stage = Stage::World;
        self.app
            .sessions
            .registry
            .play(&character_id, epoch, self.handle.clone());
        // If it does not fit, the writer closes the socket as too slow.
        let _ = self.mailbox.open(first);
        self.app
            .sessions
            .hub
            .announce_takeover(&character_id, epoch)
            .await;
        self.app.sessions.hub.join(present, self.mailbox.clone());
    }

    /// Returns the address of the gateway that shows the area of a region to most players, if that is
    /// another one.
    pub(super) fn better_gateway(&self, region: Region) -> Option<String> {
        self.app.sessions.hub.steer(Area::of_region(region))
    }

    fn not_entered(&self, re: Option<RequestId>, region: Region, error: AttachError) {
        let code = match error {
            AttachError::Unavailable | AttachError::Gone | AttachError::NotInWorld => {
                ErrorCode::ZoneUnavailable
            }
            AttachError::Replaced => ErrorCode::CharacterOnline,
        };
        let paused = error == AttachError::Unavailable && self.app.zones.directory().paused(region);
        let words = if paused { PAUSED } else { code.sentence() };
        self.refuse_with(re, Some(ENTER.to_owned()), code, words, None);
    }

    /// Passes a message on to the zone that plays the character.
    pub(super) fn to_zone(&self, re: Option<RequestId>, request: ZoneRequest) {
        let event = request.event;
        let receiving = self
            .app
            .reports
            .spans
            .receive(event, &self.handle.session_id);
        let _within = receiving.enter();
        if let Some(id) = &re
            && let Some((oldest, event)) = self.mailbox.expect(id.clone(), event)
        {
            let words = ErrorCode::OutcomeUnknown.sentence();
            let event = Some(event.to_owned());
            self.refuse_with(Some(oldest), event, ErrorCode::OutcomeUnknown, words, None);
        }
        let passed = self.app.zones.input(
            &self.handle.session_id,
            request,
            re.as_ref(),
            receiving.traceparent(),
        );
        if let Err(error) = passed {
            self.app.metrics.message(event, error.code().wire());
            self.refuse(re, event, error.code());
        }
    }

    pub(super) fn chat(&mut self, re: Option<RequestId>, said: PlayerChat) {
        let Some((present, _)) = self.playing.clone() else {
            self.refuse(re, CHAT, ErrorCode::NotInWorld);
            return;
        };
        if self.refuse_muted(re.as_ref(), CHAT) {
            return;
        }
        let Some(message) = chat::clean(&said.message) else {
            self.refuse(re, CHAT, ErrorCode::InvalidData);
            return;
        };
        let budget = self.account.as_ref().and_then(|of| of.budget.as_ref());
        if let Some(Err(wait)) = budget.map(|budget| budget.chat(clock::instant())) {
            let words = ErrorCode::RateLimited.sentence();
            let event = Some(CHAT.to_owned());
            self.refuse_with(re, event, ErrorCode::RateLimited, words, Some(wait));
            return;
        }
        let position = self.app.zones.position(&self.handle.session_id);
        let speaker = Speaker {
            present,
            tile: position.map(|(tile, _)| tile),
        };
        let (app, mailbox) = (Arc::clone(&self.app), self.mailbox.clone());
        let owner = self.account.as_ref().is_some_and(|a| a.agent.is_none());
        // The session does not wait for the bus; at most 5 of these begin in 5 s.
        self.app.tasks.spawn("chat", async move {
            let said = match (said.channel, said.to) {
                (Channel::Private, Some(to)) => {
                    let told = whisper(&app, owner, &speaker, &to, message).await;
                    told.map_err(|code| (code, None))
                }
                (channel, _) => {
                    let global = channel == Channel::Global;
                    let said = app.sessions.hub.say(&speaker, global, message).await;
                    said.map(|()| None)
                        .map_err(|unsaid| (unsaid.code(), unsaid.wait()))
                }
            };
            let (done, answer) = match said {
                Ok(answer) => (Ok(()), answer),
                Err(refused) => (Err(refused), None),
            };
            answer_chat(&mailbox, re, done);
            if let Some(answer) = answer {
                // The writer of a session that overflows closes it.
                let _ = mailbox.push(Reliable::of(&answer));
            }
        });
    }

    /// Handles an event of this session from the zones.
    pub(super) async fn event(&mut self, event: SessionEvent) -> Flow {
        if self.stage != Stage::World {
            return Flow::On;
        }
        match event {
            SessionEvent::Left { reason, .. } if reason == "replaced" => self.replaced().await,
            // The session is over, and no gateway can resume it: its character is out of the world.
            // A client that came back by itself might send the failed request again.
            SessionEvent::Left { reason, .. } if reason == "server_fault" => {
                self.leave_world(false);
                self.shut(
                    CloseCode::Internal,
                    "the server failed at a request of yours",
                )
                .await
            }
            SessionEvent::Left { re, reason } => {
                self.left(re);
                if reason != "left" {
                    self.notice("left_world", &format!("You left the world: {reason}."));
                }
                self.go_on_without_world()
            }
            SessionEvent::Elsewhere => self.gone_elsewhere().await,
            SessionEvent::Malformed { requests } => self.count_malformed(requests).await,
            // Only a newer login takes a character from a session that is there.
            SessionEvent::Lost { why } => {
                tracing::debug!(session = self.handle.session_id, why, "lost");
                self.replaced().await
            }
        }
    }

    /// Ends a session that lingers only for the world's sake.
    fn go_on_without_world(&self) -> Flow {
        if self.socket.is_none() {
            Flow::End
        } else {
            Flow::On
        }
    }

    fn left(&mut self, re: Option<RequestId>) {
        let character_id = self.character_id();
        self.leave_world(false);
        if let Some(character_id) = character_id {
            let left = WorldLeft {
                character_id,
                resume_token: self.resume_token(),
            };
            self.answer(re, &left);
        }
        self.app.zones.detach(&self.handle.session_id);
    }

    /// Returns the id of the character that it plays.
    pub(super) fn character_id(&self) -> Option<String> {
        let (present, _) = self.playing.as_ref()?;
        Some(present.character_id.clone())
    }

    /// Does the gateway's own part of leaving the world. `elsewhere`: the character plays on.
    pub(super) fn leave_world(&mut self, elsewhere: bool) {
        if let Some((present, _)) = self.playing.take() {
            self.app.sessions.hub.leave(&present.session_id, elsewhere);
            self.app
                .sessions
                .registry
                .stop(&present.character_id, &present.session_id);
        }
        if self.stage == Stage::World {
            self.stage = Stage::Lobby;
        }
    }

    /// Ends the session because a newer login plays the character.
    pub(super) async fn replaced(&mut self) -> Flow {
        self.leave_world(true);
        self.shut(CloseCode::Replaced, "another login plays this character")
            .await
    }

    /// Ends the session because its client has resumed at another gateway.
    pub(super) async fn gone_elsewhere(&mut self) -> Flow {
        self.leave_world(true);
        self.shut(CloseCode::GoingAway, "replaced by its own resume")
            .await
    }

    fn notice(&self, code: &str, message: &str) {
        self.push(&Notice {
            code: code.to_owned(),
            message: message.to_owned(),
            level: "warning".to_owned(),
        });
    }
}

/// Says something to one player, or to an agent of the speaker's own that nobody plays. Returns the
/// agent's answer. A token of one agent (no `owner`) orders no other agent.
async fn whisper(
    app: &App,
    owner: bool,
    speaker: &Speaker,
    to: &str,
    message: String,
) -> Result<Option<ChatMessage>, ErrorCode> {
    let told = app.sessions.hub.tell(speaker, to, message.clone()).await;
    if told == Err(ErrorCode::NotDelivered) && owner {
        let (agents, by) = (&app.agents, &speaker.present);
        return agents.chat(&app.zones, by, to, message).await;
    }
    told.map(|()| None)
}

/// Answers a client that said something: with the reason and the time to wait if nobody hears it.
fn answer_chat(
    mailbox: &Mailbox,
    re: Option<RequestId>,
    done: Result<(), (ErrorCode, Option<Duration>)>,
) {
    let message = match done {
        Ok(()) if re.is_none() => return,
        Ok(()) => Reliable::of(&Ack {}),
        Err((code, wait)) => Reliable::of(&Error {
            code,
            message: match code {
                ErrorCode::Refused(Refusal::Busy) => "chat is paused for the moment".to_owned(),
                code => code.sentence().to_owned(),
            },
            event: Some(CHAT.to_owned()),
            retry_after_ms: wait.map(whole_ms),
        }),
    };
    // The writer of a session that overflows closes it.
    let _ = mailbox.push(message.answering(re));
}
