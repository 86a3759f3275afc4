//! Operators in the game, and a session's part in their orders and the store's.
//!
//! Always: a client may operate only if its account has the role that this takes. Each action is in the store, with its operator, before it has any effect.

use proto::{
    client::{
        CloseCode, ErrorCode, Format, Refusal, RequestId, ZoneRequest,
        admin::{AdminArgs, AdminCommand, AdminElevate, AdminVerb, OPERATOR_TELEPORT},
        error::Error,
        session::{Ack, Notice},
    },
    rpc::identity::v1::{AuditAction, ModerateRequest},
};
use tonic::Code;

use super::{Flow, Session};
use crate::{
    auth::{
        accounts, admission,
        caller::Denied,
        operators::{self, NotMade},
        roles::{self, Role},
        sanctions::{News, Shut},
        tokens::Scope,
    },
    clock,
};

const ELEVATE: &str = "admin:elevate";
const COMMAND: &str = "admin:command";
const MINUTE_MS: u64 = 60_000;

/// Account and character that a command names.
#[derive(Default)]
struct Whom {
    account_id: String,
    character_id: String,
}

/// Reason why the gateway did not carry out a command.
struct Rejected {
    code: ErrorCode,
    /// Words for the client; `None`: those of the code.
    why: Option<&'static str>,
}

impl From<ErrorCode> for Rejected {
    fn from(code: ErrorCode) -> Self {
        Self { code, why: None }
    }
}

impl Session {
    /// Makes the account the first operator by the code, as one attempt to authenticate.
    pub(super) async fn elevate(&mut self, re: Option<RequestId>, data: AdminElevate) {
        let account = self.account_id();
        let attempt = self
            .app
            .auth
            .attempts
            .attempt_of(&account, self.visitor.address());
        if let Err(wait) = attempt.await {
            let (code, event) = (ErrorCode::RateLimited, Some(ELEVATE.to_owned()));
            let why = "too many attempts of your account or from your address";
            self.refuse_with(re, event, code, why, Some(wait));
            return;
        }
        let scope = self.account.as_ref().map(|account| account.scope);
        if scope != Some(Scope::Player) {
            self.refuse(re, ELEVATE, ErrorCode::WrongScope);
            return;
        }
        match operators::make_first(&self.app, &account, &data.code).await {
            Ok(()) => self.answer(re, &Ack {}),
            Err(NotMade::NoCode | NotMade::WrongCode) => {
                self.refuse(re, ELEVATE, ErrorCode::InvalidCredentials);
            }
            Err(NotMade::Exists) => {
                let (code, event) = (ErrorCode::NotElevated, Some(ELEVATE.to_owned()));
                self.refuse_with(re, event, code, NotMade::EXISTS, None);
            }
            Err(NotMade::Away(status)) => self.refuse(re, ELEVATE, accounts::refusal(&status)),
        }
    }

    /// Carries out an operator's command.
    pub(super) async fn operate(&mut self, re: Option<RequestId>, data: AdminCommand) {
        match self.carry_out(&data).await {
            Ok(()) => self.answer(re, &Ack {}),
            Err(no) => {
                let words = no.why.unwrap_or_else(|| no.code.sentence());
                self.refuse_with(re, Some(COMMAND.to_owned()), no.code, words, None);
            }
        }
    }

    async fn carry_out(&mut self, data: &AdminCommand) -> Result<(), Rejected> {
        let role = self.may_operate(data.command).await?;
        let by = operators::account(&self.account_id());
        let own = data.args.name.is_none();
        if data.command == AdminVerb::Teleport && own && self.playing.is_none() {
            return Err(ErrorCode::NotInWorld.into());
        }
        let whom = self.whom(data).await?;
        // Account that the command names. An operator that names nobody may mean itself.
        let named = match own && data.args.account_id.is_none() {
            true => "",
            false => whom.account_id.as_str(),
        };
        match roles::outranks(&self.app.auth.identity, Some(role), named).await {
            Ok(true) => {}
            Ok(false) => {
                return Err(Rejected {
                    code: ErrorCode::NotElevated,
                    why: Some("moderators may not do this to each other, nor to admins"),
                });
            }
            Err(denied) => return Err(denied.code().into()),
        }
        let args = &data.args;
        let until = args
            .minutes
            .map(|m| clock::unix_ms() + u64::from(m) * MINUTE_MS);
        let request = ModerateRequest {
            action: action(data.command).into(),
            by,
            account_id: whom.account_id,
            character_id: whom.character_id,
            reason: args.message.clone().unwrap_or_default(),
            until_ms: until.unwrap_or(0),
            x: args.x.unwrap_or(0),
            z: args.z.unwrap_or(0),
            roles: Vec::new(),
        };
        let moderated = self.app.auth.identity.moderate(request).await;
        moderated.map_err(|status| match status.code() {
            Code::NotFound => ErrorCode::Refused(Refusal::NotFound),
            Code::InvalidArgument => ErrorCode::InvalidData,
            _ => accounts::refusal(&status),
        })?;
        // The push brings all else to every gateway.
        if data.command == AdminVerb::Announce {
            self.announce(args).await?;
        }
        Ok(())
    }

    /// Returns the role by which the account may give this command. Asks the store each time, so
    /// that a role that was taken away has no effect any more.
    async fn may_operate(&self, command: AdminVerb) -> Result<Role, ErrorCode> {
        let account = self.account.as_ref().ok_or(ErrorCode::NotAuthenticated)?;
        // No other token carries the account's role.
        if account.scope != Scope::Player {
            return Err(ErrorCode::NotElevated);
        }
        let has = roles::of(&self.app.auth.identity, &account.id).await;
        let has = has
            .map_err(Denied::code)?
            .filter(|has| *has >= takes(command));
        has.ok_or(ErrorCode::NotElevated)
    }

    async fn whom(&self, data: &AdminCommand) -> Result<Whom, ErrorCode> {
        if let Some(account_id) = &data.args.account_id {
            return Ok(Whom {
                account_id: account_id.clone(),
                ..Whom::default()
            });
        }
        if let Some(name) = &data.args.name {
            let found = self.app.auth.accounts.find_character(name).await;
            let found = found.map_err(|status| match status.code() {
                Code::NotFound | Code::InvalidArgument => ErrorCode::Refused(Refusal::NotFound),
                _ => accounts::refusal(&status),
            })?;
            return Ok(Whom {
                account_id: found.account_id,
                character_id: found.id,
            });
        }
        let own = self.playing.as_ref().map(|(present, _)| present);
        Ok(own.map_or_else(Whom::default, |present| Whom {
            account_id: present.account_id.clone(),
            character_id: present.character_id.clone(),
        }))
    }

    async fn announce(&self, args: &AdminArgs) -> Result<(), ErrorCode> {
        let message = args.message.clone().unwrap_or_default();
        self.app.sessions.hub.announce(announcement(message)).await
    }

    /// Asks the zone to put the character somewhere else. The zone's answer goes to the client.
    fn teleport(&self, x: i32, z: i32) {
        let passed = self.app.zones.input(
            &self.handle.session_id,
            ZoneRequest {
                event: OPERATOR_TELEPORT,
                data: serde_json::json!({"x": x, "z": z}).to_string().into(),
                format: Format::Json,
            },
            None,
            String::new(),
        );
        if let Err(error) = passed {
            self.refuse(None, OPERATOR_TELEPORT, error.code());
        }
    }

    /// Handles the store's news of this session's account.
    pub(super) async fn news(&mut self, news: News) -> Flow {
        match news {
            News::Changed => self.look_at_sanctions().await,
            News::Kicked { reason } => {
                self.leave_world(false);
                self.notice_end("kicked", &reason);
                self.shut(CloseCode::Policy, "an operator closed this connection")
                    .await
            }
            News::Teleported { character_id, x, z } => {
                if self.character_id() == Some(character_id) {
                    self.teleport(x, z);
                }
                Flow::On
            }
        }
    }

    /// Ends a session whose account or login may not be here any more, as far as this gateway
    /// knows.
    pub(super) async fn look_at_sanctions(&mut self) -> Flow {
        let Some(account) = &self.account else {
            return Flow::On;
        };
        let now_ms = clock::unix_ms();
        let ids = account.ids();
        match self.app.auth.sanctions.pass(&account.id, &ids, now_ms) {
            Ok(()) if now_ms >= account.until_ms => {
                self.leave_world(false);
                let why = "the login has ended; log in again";
                self.shut(CloseCode::SessionExpired, why).await
            }
            Ok(()) => Flow::On,
            Err(Shut::Deleted) => {
                self.leave_world(false);
                self.push(&Notice {
                    code: "account_deleted".to_owned(),
                    message: "This account was deleted.".to_owned(),
                    level: "info".to_owned(),
                });
                let why = "this account was deleted";
                self.shut(CloseCode::InvalidToken, why).await
            }
            Err(Shut::Revoked) => {
                self.leave_world(false);
                self.shut(CloseCode::InvalidToken, "logged out").await
            }
            Err(Shut::Banned(ban)) => {
                self.leave_world(false);
                self.notice_end("banned", &ban.reason);
                self.shut(CloseCode::Banned, "this account is banned").await
            }
        }
    }

    /// Asks whether an account may come in by a login with these ids. If not, tells the client, and
    /// closes the connection of one that may not come back.
    pub(super) async fn refuse_at_sanctions(
        &mut self,
        re: Option<RequestId>,
        event: &str,
        account_id: &str,
        ids: &[&str],
    ) -> Option<Flow> {
        let denied = admission::pass(&self.app, account_id, ids).await.err()?;
        Some(self.denied(re, event, denied).await)
    }

    /// Tells the client why it may not come in.
    pub(super) async fn denied(
        &mut self,
        re: Option<RequestId>,
        event: &str,
        denied: Denied,
    ) -> Flow {
        let code = denied.code();
        self.refuse(re, event, code);
        if code != ErrorCode::Banned {
            return Flow::On;
        }
        self.shut(CloseCode::Banned, "this account is banned").await
    }

    fn notice_end(&self, code: &str, reason: &str) {
        let reason = match reason {
            "" => "An operator ended your session.".to_owned(),
            reason => format!("An operator ended your session: {reason}"),
        };
        self.push(&Notice {
            code: code.to_owned(),
            message: reason,
            level: "warning".to_owned(),
        });
    }

    /// Returns whether the account may not chat now. If so, tells the client.
    pub(super) fn refuse_muted(&self, re: Option<&RequestId>, event: &str) -> bool {
        let Some(account) = &self.account else {
            return false;
        };
        let Some(mute) = self.app.auth.sanctions.muted(&account.id, clock::unix_ms()) else {
            return false;
        };
        let message = match mute.until_ms {
            Some(until) => format!("you are muted until {}", clock::iso(until)),
            None => ErrorCode::Muted.sentence().to_owned(),
        };
        let error = Error {
            code: ErrorCode::Muted,
            message,
            event: Some(event.to_owned()),
            retry_after_ms: None,
        };
        self.answer(re.cloned(), &error);
        true
    }
}

/// Returns the notice that everybody gets.
pub(crate) fn announcement(message: String) -> Notice {
    Notice {
        code: "announcement".to_owned(),
        message,
        level: "info".to_owned(),
    }
}

/// Returns the role that a command takes.
fn takes(verb: AdminVerb) -> Role {
    match verb {
        AdminVerb::Kick
        | AdminVerb::Ban
        | AdminVerb::Unban
        | AdminVerb::Mute
        | AdminVerb::Unmute
        | AdminVerb::Announce => Role::Moderator,
        AdminVerb::Teleport | AdminVerb::Freeze | AdminVerb::Unfreeze => Role::Admin,
    }
}

fn action(verb: AdminVerb) -> AuditAction {
    match verb {
        AdminVerb::Kick => AuditAction::Kick,
        AdminVerb::Ban => AuditAction::Ban,
        AdminVerb::Unban => AuditAction::Unban,
        AdminVerb::Mute => AuditAction::Mute,
        AdminVerb::Unmute => AuditAction::Unmute,
        AdminVerb::Teleport => AuditAction::Teleport,
        AdminVerb::Announce => AuditAction::Announce,
        AdminVerb::Freeze => AuditAction::Freeze,
        AdminVerb::Unfreeze => AuditAction::Unfreeze,
    }
}
