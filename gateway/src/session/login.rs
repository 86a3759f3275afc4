//! Authentication of the client, and its characters.

use std::time::Duration;

use proto::{
    client::{
        CloseCode, ErrorCode, Refusal, RequestId,
        names::character_name,
        session::{
            self as wire, Authenticate, Character, CharacterCreate, CharacterCreated,
            CharacterList, Welcome,
        },
    },
    rpc::{
        common::v1::Tile,
        persistence::v1::{CharacterSummary, CreateCharacterRequest, SignInReply},
    },
};
use service_runtime::config::Secret;

use super::{Account, Flow, Session, budget::NoRoom, state::Stage};
use crate::{
    auth::{
        accounts, admission,
        caller::{Caller, Denied},
        device_key::DeviceKey,
        tokens::{Good, Issued, Scope},
    },
    clock,
    limits::logins::{TooOften, Way},
};

const EVENT: &str = "authenticate";

/// Refusal of a client.
enum No {
    Code(ErrorCode),
    Denied(Denied),
    /// Too many attempts.
    TooOften(Duration),
    /// Too many logins.
    Crowds(TooOften),
}

/// Authenticated client before its welcome.
struct Known {
    reply: SignInReply,
    /// Token that the client showed, if it did.
    by: Option<Caller>,
    /// Key of a new account.
    made: Option<DeviceKey>,
}

impl Session {
    /// Authenticates by the token of the upgrade's `Authorization` header.
    pub(super) async fn header_token(&mut self, token: &Secret) -> Flow {
        let data = Authenticate {
            token: Some(token.expose().to_owned()),
            device_key: None,
        };
        let flow = self.authenticate(None, data).await;
        if flow == Flow::On && self.stage == Stage::Fresh {
            return self
                .shut(CloseCode::InvalidToken, "the token is not valid")
                .await;
        }
        flow
    }

    pub(super) async fn authenticate(&mut self, re: Option<RequestId>, data: Authenticate) -> Flow {
        let spans = &self.app.reports.spans;
        let span = spans.session("session.login", &self.handle.session_id);
        let asked = span.within(self.who(data)).await;
        let outcome = match &asked {
            Ok(_) => "passed",
            Err(No::Code(code)) => code.wire(),
            Err(No::Denied(denied)) => denied.code().wire(),
            Err(No::TooOften(_) | No::Crowds(_)) => "rate_limited",
        };
        self.app.metrics.auth_attempt(outcome);
        let answered = async {
            match asked {
                Ok(known) => self.welcome(re, known).await,
                Err(No::Code(code)) => {
                    self.refuse(re, EVENT, code);
                    Flow::On
                }
                Err(No::Denied(denied)) => self.denied(re, EVENT, denied).await,
                Err(No::TooOften(wait)) => {
                    self.too_many_attempts(re, wait, "too many attempts from your address");
                    Flow::On
                }
                Err(No::Crowds(over)) => self.crowds(re, EVENT, over).await,
            }
        };
        let flow = span.within(answered).await;
        span.end(outcome);
        flow
    }

    fn too_many_attempts(&self, re: Option<RequestId>, wait: Duration, why: &str) {
        let code = ErrorCode::RateLimited;
        self.refuse_with(re, Some(EVENT.to_owned()), code, why, Some(wait));
    }

    /// Closes a client that comes in too often by good tokens. It rests for a minute.
    pub(super) async fn crowds(
        &mut self,
        re: Option<RequestId>,
        event: &str,
        TooOften { wait, why }: TooOften,
    ) -> Flow {
        let (code, event) = (ErrorCode::RateLimited, Some(event.to_owned()));
        self.refuse_with(re, event, code, why, Some(wait));
        self.shut(CloseCode::RateLimited, why).await
    }

    /// Finds out who the client is. A valid token is no attempt; all else is one.
    async fn who(&self, data: Authenticate) -> Result<Known, No> {
        if let Some(token) = &data.token {
            let token = Secret::new(token.as_str());
            match admission::admit(&self.app, &token).await {
                Ok(caller) => return self.by_token(caller).await,
                // The client may show a key as well, and that may still be good.
                Err(Denied::InvalidToken) => {}
                Err(denied) => return Err(No::Denied(denied)),
            }
        }
        let attempt = self.app.auth.attempts.attempt(self.visitor.address()).await;
        attempt.map_err(No::TooOften)?;
        match data {
            Authenticate {
                device_key: Some(key),
                ..
            } => self.by_key(&key).await,
            Authenticate { token: Some(_), .. } => Err(No::Code(ErrorCode::InvalidCredentials)),
            _ => self.anonymous().await,
        }
    }

    async fn by_token(&self, caller: Caller) -> Result<Known, No> {
        let (account, now) = (&caller.account_id, clock::instant());
        let often = self
            .app
            .auth
            .logins
            .pass(Way::Login, account, self.visitor.address(), now);
        often.map_err(No::Crowds)?;
        let reply = self.app.auth.accounts.account(&caller.account_id).await;
        let mut known = known(reply, None)?;
        known
            .reply
            .characters
            .retain(|character| caller.may_name(&character.id));
        known.by = Some(caller);
        Ok(known)
    }

    async fn by_key(&self, key: &str) -> Result<Known, No> {
        if !self.app.config.anonymous {
            return Err(No::Code(ErrorCode::AnonymousDisabled));
        }
        let key = DeviceKey::parse(key).ok_or(No::Code(ErrorCode::InvalidCredentials))?;
        let reply = self.app.auth.accounts.sign_in(key.hash(), false).await;
        let known = known(reply, None)?;
        let id = known
            .reply
            .account
            .as_ref()
            .map(|account| account.id.as_str());
        let passed = admission::pass(&self.app, id.unwrap_or_default(), &[]).await;
        passed.map_err(No::Denied)?;
        Ok(known)
    }

    async fn anonymous(&self) -> Result<Known, No> {
        if !self.app.config.anonymous {
            return Err(No::Code(ErrorCode::AnonymousDisabled));
        }
        let key = DeviceKey::new();
        let reply = self.app.auth.accounts.sign_in(key.hash(), true).await;
        known(reply, Some(key))
    }

    async fn welcome(&mut self, re: Option<RequestId>, known: Known) -> Flow {
        let Some(account) = known.reply.account else {
            self.refuse(re, EVENT, ErrorCode::InvalidCredentials);
            return Flow::On;
        };
        // A session that looks on takes no place from one that plays.
        let by = known.by.as_ref().map(|caller| caller.scope);
        let share = match by {
            Some(Scope::Spectator) => format!("spectators of {}", account.id),
            _ => account.id.clone(),
        };
        let budget = match self.app.sessions.budgets.connect(&share, clock::instant()) {
            Ok(budget) => budget,
            Err(no) => return self.no_room(re, no).await,
        };
        let Some((issued, made)) = self.issue(&account.id, known.by) else {
            self.refuse(re, EVENT, ErrorCode::Refused(Refusal::StorageUnavailable));
            return Flow::On;
        };
        self.app.sessions.registry.add(&self.handle);
        let handle = self.handle.clone();
        self.app.sessions.registry.belongs(&account.id, handle);
        self.belong_to(Account {
            budget: Some(budget),
            ..made
        });
        self.stage = Stage::Lobby;
        self.timers.rest();
        let welcome = Welcome {
            session_id: self.handle.session_id.clone(),
            resume_token: self.resume_token().unwrap_or_default(),
            auth_token: issued.token,
            expires_at: clock::iso(issued.expires_at_ms),
            account: wire::Account {
                id: account.id,
                name: account.name,
                anonymous: account.anonymous,
            },
            device_key: known.made.map(DeviceKey::into_text),
            characters: characters(known.reply.characters),
        };
        self.answer(re, &welcome);
        Flow::On
    }

    /// Issues a new token of the login that the client came by, or of a new one. Returns it with
    /// the session's part of it.
    fn issue(&self, account_id: &str, by: Option<Caller>) -> Option<(Issued, Account)> {
        let scope = by.as_ref().map_or(Scope::Player, |caller| caller.scope);
        let agent = by.as_ref().and_then(|caller| caller.character_id.clone());
        let good = Good {
            account_id,
            scope,
            character_id: agent.as_deref(),
            ends_by_ms: by
                .as_ref()
                .filter(|caller| matches!(caller.scope, Scope::Agent | Scope::Spectator))
                .map(|caller| caller.expires_at_ms),
        };
        let issued = match &by {
            Some(caller) => self.app.auth.tokens.issue_within(good, &caller.login_id),
            None => self.app.auth.tokens.issue_for(good),
        }?;
        let login = by.as_ref().map(|caller| caller.login_id.clone());
        let token_id = by.map(|caller| caller.token_id);
        let account = Account {
            id: account_id.to_owned(),
            scope,
            agent,
            login: login.unwrap_or_else(|| issued.token_id.clone()),
            token_id: token_id.unwrap_or_else(|| issued.token_id.clone()),
            until_ms: issued.expires_at_ms,
            budget: None,
        };
        Some((issued, account))
    }

    /// Returns whether the session came by an agent's token, which is not good for all of its
    /// account. If so, refuses the request.
    fn refuse_agent(&self, re: Option<&RequestId>, event: &str) -> bool {
        let agent = self.account.as_ref().is_some_and(|a| a.agent.is_some());
        if agent {
            self.refuse(re.cloned(), event, ErrorCode::WrongScope);
        }
        agent
    }

    pub(super) async fn no_room(&mut self, re: Option<RequestId>, no: NoRoom) -> Flow {
        match no {
            NoRoom::TooMany => {
                let why = "an account has at most 4 connections";
                self.too_many_attempts(re, Duration::from_secs(1), why);
                self.shut(CloseCode::Policy, why).await
            }
            NoRoom::Blocked(wait) => {
                let why = "this account sent too much; it is blocked for a minute";
                self.too_many_attempts(re, wait, why);
                self.shut(CloseCode::RateLimited, why).await
            }
        }
    }

    /// Makes the session one of the account, before its client hears so. From then on it takes no
    /// place among the unauthenticated ones.
    pub(super) fn belong_to(&mut self, account: Account) {
        self.visitor.authenticated();
        self.account = Some(account);
    }

    pub(super) fn account_id(&self) -> String {
        self.account
            .as_ref()
            .map(|account| account.id.clone())
            .unwrap_or_default()
    }

    pub(super) async fn list_characters(&mut self, re: Option<RequestId>, event: &str) {
        match self.app.auth.accounts.characters(&self.account_id()).await {
            Ok(mut all) => {
                all.retain(|character| {
                    let account = self.account.as_ref();
                    account.is_some_and(|account| account.may_name(&character.id))
                });
                let characters = characters(all);
                self.answer(re, &CharacterList { characters });
            }
            Err(status) => self.refuse(re, event, accounts::refusal(&status)),
        }
    }

    pub(super) async fn create_character(&mut self, re: Option<RequestId>, asked: CharacterCreate) {
        const EVENT: &str = "character:create";
        if self.refuse_agent(re.as_ref(), EVENT) {
            return;
        }
        let name = match character_name(&asked.name) {
            Ok(name) => name,
            Err(why) => {
                let event = Some(EVENT.to_owned());
                let code = ErrorCode::InvalidName;
                self.refuse_with(re, event, code, &why.to_string(), None);
                return;
            }
        };
        let spawn = self.app.content().spawn();
        let request = CreateCharacterRequest {
            account_id: self.account_id(),
            name,
            spawn: Some(Tile {
                x: spawn.x,
                z: spawn.z,
            }),
            look: asked.look.map(String::from).unwrap_or_default(),
        };
        match self.app.auth.accounts.create_character(request).await {
            Ok(made) => {
                let character = character(made);
                self.answer(re, &CharacterCreated { character });
            }
            Err(status) if status.code() == tonic::Code::ResourceExhausted => {
                // Too many at once, or too many in a day: the store says which.
                let (event, code) = (Some(EVENT.to_owned()), ErrorCode::TooManyCharacters);
                self.refuse_with(re, event, code, status.message(), None);
            }
            Err(status) => self.refuse(re, EVENT, accounts::refusal(&status)),
        }
    }

    pub(super) async fn delete_character(&mut self, re: Option<RequestId>, character_id: &str) {
        const EVENT: &str = "character:delete";
        if self.refuse_agent(re.as_ref(), EVENT) {
            return;
        }
        let account_id = self.account_id();
        match self
            .app
            .auth
            .accounts
            .delete_character(&account_id, character_id)
            .await
        {
            Ok(()) => self.list_characters(re, EVENT).await,
            Err(status) => self.refuse(re, EVENT, accounts::refusal(&status)),
        }
    }
}

/// Returns the account that the store named. One that the store does not know has no valid
/// credentials.
fn known(reply: Result<SignInReply, tonic::Status>, made: Option<DeviceKey>) -> Result<Known, No> {
    match reply {
        Ok(reply) if reply.account.is_some() => Ok(Known {
            reply,
            by: None,
            made,
        }),
        Ok(_) => Err(No::Code(ErrorCode::InvalidCredentials)),
        Err(status) if status.code() == tonic::Code::NotFound => {
            Err(No::Code(ErrorCode::InvalidCredentials))
        }
        Err(status) => Err(No::Code(accounts::refusal(&status))),
    }
}

fn characters(all: Vec<CharacterSummary>) -> Vec<Character> {
    all.into_iter().map(character).collect()
}

fn character(summary: CharacterSummary) -> Character {
    let last = summary.last_login_ms;
    Character {
        id: summary.id,
        name: summary.name,
        combat_level: summary.combat_level,
        look: summary.look,
        last_login_at: (last > 0).then(|| clock::iso(last)),
    }
}
