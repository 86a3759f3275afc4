//! Tokens that speak for one agent's character and for nothing else.
//!
//! Always: made for the owner alone; shown once; good for as long as any token, and ended at once.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use proto::rpc::agents::v1::{AddCredentialRequest, Agent, Credential};
use serde::Deserialize;
use serde_json::{Value, json};

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
        shapes::time,
    },
};

/// What `POST /api/agents/credentials` asks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct For {
    character_id: Option<String>,
    agent_id: Option<String>,
    account_id: Option<String>,
}

async fn meant(app: &App, caller: &Caller, asked: &For) -> Result<Agent, Problem> {
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

/// `POST /api/agents/credentials`
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(asked): Body<For>,
) -> Result<Response, Problem> {
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
    let issued = app.tokens.issue_for(good).ok_or_else(not_ready)?;
    let claims = app.tokens.verify(&issued.token).map_err(|_| not_ready())?;
    let ask = AddCredentialRequest {
        account_id: caller.account_id.clone(),
        agent_id: agent.agent_id.clone(),
        token_id: claims.jti,
        expires_at_ms: issued.expires_at_ms,
    };
    // Only a token that can be ended is handed out.
    let noted = app.agents.add_credential(ask).await;
    let noted = noted.map_err(|status| refused(&status))?;
    let mut answer = shape(&noted);
    answer["success"] = true.into();
    answer["authToken"] = issued.token.into();
    answer["serverUrl"] = app.config.public.ws_url.clone().into();
    answer["message"] = "Keep the token: it is shown this once.".into();
    let secret = [(header::CACHE_CONTROL, "no-store")];
    Ok((StatusCode::CREATED, secret, Json(answer)).into_response())
}

/// `GET /api/agents/credentials`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let found = app.agents.credentials(&caller.account_id, "").await;
    let found = found.map_err(|status| refused(&status))?;
    let credentials: Vec<Value> = found.iter().map(shape).collect();
    let answer = json!({"success": true, "credentials": credentials});
    Ok(Json(answer).into_response())
}

/// `DELETE /api/agents/credentials/{credentialId}`
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let ended = app.agents.revoke(&caller.account_id, &id.0).await;
    ended.map_err(|status| refused(&status))?;
    let answer = json!({"success": true, "message": "The token is good for nothing any more."});
    Ok(Json(answer).into_response())
}

/// A token as its owner's list shows it.
fn shape(credential: &Credential) -> Value {
    json!({
        "credentialId": credential.token_id,
        "agentId": credential.agent_id,
        "characterId": credential.character_id,
        "createdAt": time(credential.created_at_ms),
        "expiresAt": time(credential.expires_at_ms),
    })
}
