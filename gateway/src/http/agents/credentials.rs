//! Tokens that speak for one agent's character and for nothing else.
//!
//! Always: only the owner makes one, and sees it once. It is good for as long as any token; its
//! end holds at once.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use proto::rpc::agents::v1::{AddCredentialRequest, Agent, Credential};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refused;
use crate::{
    app::App,
    auth::{
        caller::Caller,
        tokens::{Good, Scope},
    },
    http::{
        ask::{Body, Id},
        problem::{Code, Problem},
        route::{Answer, Call, OWNERS, Operation, Output, Route, created},
        values::{Message, Success, Time, success},
    },
};

pub(super) fn routes() -> Vec<Route> {
    [
        OWNERS
            .get("/api/agent/credentials", "Tokens that are still good", list)
            .or("/api/agents/credentials"),
        OWNERS
            .post("/api/agent/credentials", "A token for one agent", create)
            .problems(&[Code::NotYourCharacter, Code::NotFound, Code::Conflict])
            .or("/api/agents/credentials"),
        OWNERS
            .delete(
                "/api/agent/credentials/{id}",
                "Ends a token at once",
                revoke,
            )
            .path("The token's id.", "5f3a")
            .or("/api/agents/credentials/{id}"),
    ]
    .concat()
}

/// The agent that a token is to be for: by its character, its id, or both.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    example = serde_json::json!({"agentId": "0199c3a0-0000-7000-8000-00000000000a"}),
    extend("anyOf" = [{"required": ["characterId"]}, {"required": ["agentId"]}])
)]
struct TokenFor {
    character_id: Option<String>,
    agent_id: Option<String>,
    account_id: Option<String>,
}

/// A token as its owner's list shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Credential")]
struct CredentialShown {
    #[schemars(example = &"5f3a")]
    credential_id: String,
    agent_id: String,
    character_id: String,
    created_at: Option<Time>,
    expires_at: Option<Time>,
}

impl From<&Credential> for CredentialShown {
    fn from(credential: &Credential) -> Self {
        Self {
            credential_id: credential.token_id.clone(),
            agent_id: credential.agent_id.clone(),
            character_id: credential.character_id.clone(),
            created_at: Time::unless_never(credential.created_at_ms),
            expires_at: Time::unless_never(credential.expires_at_ms),
        }
    }
}

/// A new token, which is shown this once.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NewCredential {
    #[serde(flatten)]
    credential: CredentialShown,
    #[schemars(example = &"eyJ…")]
    auth_token: String,
    #[schemars(example = &"ws://localhost:5555/ws")]
    server_url: Option<String>,
    message: &'static str,
}

/// An answer that no cache on the way may keep.
struct Secret<T>(T);

impl<T: Serialize> IntoResponse for Secret<T> {
    fn into_response(self) -> Response {
        let secret = [(header::CACHE_CONTROL, "no-store")];
        (StatusCode::CREATED, secret, Json(self.0)).into_response()
    }
}

impl<T: JsonSchema> Output for Secret<T> {
    fn describe(operation: &mut Operation) {
        created::<T>(operation);
    }
}

async fn meant(app: &App, caller: &Caller, asked: &TokenFor) -> Result<Agent, Problem> {
    let foreign = asked.account_id.as_ref();
    if foreign.is_some_and(|named| *named != caller.account_id) {
        let why = "Tokens are made for agents of one's own account.";
        return Err(Problem::of(Code::NotYourCharacter, why));
    }
    let found = app.agents.list(&caller.account_id).await;
    let found = found.map_err(|status| refused(&status))?;
    let named = |agent: &Agent| match (&asked.agent_id, &asked.character_id) {
        (Some(id), None) => agent.agent_id == *id,
        (None, Some(id)) => agent.character_id == *id,
        (Some(agent_id), Some(id)) => agent.agent_id == *agent_id && agent.character_id == *id,
        (None, None) => false,
    };
    if asked.agent_id.is_none() && asked.character_id.is_none() {
        let why = "name the character, or the agent that it is";
        return Err(Problem::invalid("/characterId", why));
    }
    found.into_iter().find(named).ok_or_else(|| {
        let why = "There is no such agent of yours; POST /api/agents makes a character one.";
        Problem::of(Code::NotFound, why)
    })
}

async fn create(
    Call { app, caller }: Call,
    Body(asked): Body<TokenFor>,
) -> Result<Secret<Success<NewCredential>>, Problem> {
    let agent = meant(&app, &caller, &asked).await?;
    let good = Good {
        account_id: &caller.account_id,
        scope: Scope::Agent,
        character_id: Some(&agent.character_id),
        ends_by_ms: None,
    };
    let not_ready = || {
        let why = "Tokens cannot be made right now; try again in a moment.";
        Problem::of(Code::NotReady, why)
    };
    let issued = app.auth.tokens.issue_for(good).ok_or_else(not_ready)?;
    let claims = app
        .auth
        .tokens
        .verify(&issued.token)
        .map_err(|_| not_ready())?;
    let ask = AddCredentialRequest {
        account_id: caller.account_id.clone(),
        agent_id: agent.agent_id.clone(),
        token_id: claims.jti,
        expires_at_ms: issued.expires_at_ms,
    };
    // The gateway gives only a token that it can revoke.
    let noted = app.agents.add_credential(ask).await;
    let noted = noted.map_err(|status| refused(&status))?;
    Ok(Secret(Success::of(NewCredential {
        credential: CredentialShown::from(&noted),
        auth_token: issued.token,
        server_url: app.config.public.ws_url.clone(),
        message: "Keep the token: it is shown this once.",
    })))
}

/// All tokens of an account's agents that are still good.
#[derive(Debug, Serialize, JsonSchema)]
struct Credentials {
    credentials: Vec<CredentialShown>,
}

async fn list(Call { app, caller }: Call) -> Answer<Success<Credentials>> {
    let found = app.agents.credentials(&caller.account_id, "").await;
    let found = found.map_err(|status| refused(&status))?;
    let credentials = found.iter().map(CredentialShown::from).collect();
    Ok(success(Credentials { credentials }))
}

async fn revoke(Call { app, caller }: Call, id: Id) -> Answer<Success<Message>> {
    let ended = app.agents.revoke(&caller.account_id, &id.0).await;
    ended.map_err(|status| refused(&status))?;
    Ok(success(Message {
        message: "The token is good for nothing any more.".to_owned(),
    }))
}
