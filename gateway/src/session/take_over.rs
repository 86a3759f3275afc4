//! Takes over a session that another gateway held, or that this one held before it forgot it.
//!
//! This gateway has nothing of that session. It cannot replay its messages or name its requests
//! without an answer. So `session:resumed` says `resync`, and the client must take the outcome of
//! every such request for unknown. Nobody sends an input again.
//!
//! Always: the session plays the token's character only when a zone says that it has that character
//! under that session epoch. The zone ends the older gateway's part. A resume that fails leaves a
//! connection that may authenticate.

use proto::{
    client::{RequestId, session::Resumed},
    topics::GatewayEnvelope,
};

use super::{Account, Flow, Session, reconnect::OVER, registry::Handle, state::Stage};
use crate::{
    auth::tokens::{Plays, ResumeClaims, Scope},
    clock,
    mailbox::Reliable,
    social::presence::Present,
    zone_link::{AttachError, AttachSession, Attached},
};

impl Session {
    /// Becomes the session of a token. It has that session's id already.
    pub(super) async fn take_over(&mut self, re: Option<RequestId>, claims: ResumeClaims) -> Flow {
        let budget = match self
            .app
            .sessions
            .budgets
            .connect(&claims.sub, clock::instant())
        {
            Ok(budget) => budget,
            Err(no) => {
                self.give_up();
                return self.no_room(re, no).await;
            }
        };
        let agent = claims.session.agent.clone();
        let login = claims.session.login.clone().unwrap_or_default();
        let account = Account {
            scope: match agent {
                Some(_) => Scope::Agent,
                None => Scope::Player,
            },
            agent,
            token_id: login.clone(),
            login,
            until_ms: claims.exp * 1000,
            id: claims.sub,
            budget: Some(budget),
        };
        self.app
            .sessions
            .registry
            .belongs(&account.id, self.handle.clone());
        let Some(plays) = claims.session.plays else {
            self.belong_to(account);
            self.stage = Stage::Lobby;
            return self.taken_over(re, None);
        };
        match self.find(&plays).await {
            Ok(attached) => {
                let present = Present {
                    session_id: self.handle.session_id.clone(),
                    account_id: account.id.clone(),
                    character_id: plays.id,
                    name: plays.name,
                    session_epoch: plays.epoch,
                    language: self.visitor.language().map(str::to_owned),
                };
                self.belong_to(account);
                self.go_on(re, present, plays.epoch, attached).await
            }
            Err(error) => {
                // Messages that came already are of no use.
                let _ = self.mailbox.open(Vec::new());
                self.app.sessions.registry.parted(&account.id, &self.handle);
                self.give_up();
                self.no_resume(re, why(error))
            }
        }
    }

    /// Asks the zones for the character. The mailbox holds their messages until the client knows
    /// that it goes on.
    async fn find(&mut self, plays: &Plays) -> Result<Attached, AttachError> {
        let Some(screen) = self.socket.as_ref().map(|socket| socket.screen) else {
            return Err(AttachError::Gone);
        };
        self.mailbox.hold();
        let sought = self.app.zones.take_over(AttachSession {
            session_id: self.handle.session_id.clone(),
            character_id: plays.id.clone(),
            session_epoch: plays.epoch,
            attach: 0,
            last_input: 0,
            // The gateway asks all zones at once; the zone that has the character names its region.
            region: Default::default(),
            screen,
            mailbox: self.mailbox.clone(),
            events: self.events.0.clone(),
        });
        sought.await
    }

    async fn go_on(
        &mut self,
        re: Option<RequestId>,
        present: Present,
        epoch: u64,
        attached: Attached,
    ) -> Flow {
        let character_id = present.character_id.clone();
        self.playing = Some((present.clone(), epoch));
        self.stage = Stage::World;
        let handle = self.handle.clone();
        self.app
            .sessions
            .registry
            .play(&character_id, epoch, handle);
        let attach = attached.attach;
        let flow = self.taken_over(re, Some(attached));
        let resumed = GatewayEnvelope::Resumed {
            session_id: present.session_id.clone(),
            attach,
        };
        self.app
            .sessions
            .hub
            .tell_other(&character_id, resumed)
            .await;
        self.app.sessions.hub.join(present, self.mailbox.clone());
        flow
    }

    /// Tells the client that everything comes anew.
    fn taken_over(&mut self, re: Option<RequestId>, attached: Option<Attached>) -> Flow {
        self.app.metrics.resume("elsewhere");
        self.timers.rest();
        let resumed = Resumed {
            session_id: self.handle.session_id.clone(),
            replayed: 0,
            resync: true,
            resume_token: self.resume_token(),
            character_id: self.character_id(),
            gateway: attached
                .as_ref()
                .and_then(|attached| self.better_gateway(attached.region)),
        };
        let mut first = vec![Reliable::of(&resumed).answering(re)];
        first.extend(attached.map(|attached| Reliable::raw("player:sync", attached.sync)));
        // If it does not fit, the writer closes the socket as too slow.
        let _ = self.mailbox.open(first);
        Flow::On
    }

    /// Makes it nobody's session again, with all its time to authenticate.
    fn give_up(&mut self) {
        self.app.sessions.registry.remove(&self.handle);
        self.handle = Handle {
            session_id: uuid::Uuid::new_v4().to_string(),
            commands: self.handle.commands.clone(),
        };
        self.timers.wake_in(self.app.config.times.handshake);
    }
}

const fn why(error: AttachError) -> &'static str {
    match error {
        AttachError::Replaced => "another login plays this character; authenticate anew",
        AttachError::NotInWorld => "the character has left the world; authenticate anew",
        AttachError::Unavailable => "the character could not be found in time; authenticate anew",
        AttachError::Gone => OVER,
    }
}
