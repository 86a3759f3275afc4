//! Making, listing and ending agents, and which character an agent is.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension, Json,
    extract::{FromRequestParts, State},
    http::{StatusCode, header::LOCATION, request::Parts},
    response::{IntoResponse, Response},
};
use proto::rpc::agents::v1::{Agent, RegisterRequest, order_request::Order};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{owned, refused, refused_more, shape};
use crate::{
    app::App,
    auth::caller::Caller,
    http::{
        address::Peer,
        ask::{Body, Id, Query},
        problem::{Code, Problem},
    },
    limits::{
        subject::Subject,
        window::{AGENTS, Rule},
    },
};

/// Whose agents are asked for; one's own.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Of {
    account_id: Option<String>,
}

/// Nobody names another account than its own.
fn own_account(caller: &Caller, named: Option<&str>) -> Result<(), Problem> {
    match named {
        Some(named) if named != caller.account_id => {
            let why = "The agents of another account are not yours to see or make.";
            Err(Problem::of(Code::NotYourCharacter, why))
        }
        _ => Ok(()),
    }
}

async fn all(app: &App, caller: &Caller) -> Result<Vec<Agent>, Problem> {
    let found = app.agents.list(&caller.account_id).await;
    let mut found = found.map_err(|status| refused(&status))?;
    found.retain(|agent| caller.may_name(&agent.character_id));
    Ok(found)
}

/// `GET /api/agents`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Query(of): Query<Of>,
) -> Result<Response, Problem> {
    own_account(&caller, of.account_id.as_deref())?;
    let agents: Vec<Value> = all(&app, &caller).await?.iter().map(shape).collect();
    let answer = json!({"success": true, "data": {"agents": agents}});
    Ok(Json(answer).into_response())
}

/// `GET /api/agents/{agentId}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let answer = json!({"success": true, "data": {"agent": shape(&agent)}});
    Ok(Json(answer).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    account_id: Option<String>,
    character_id: String,
}

#[derive(Debug, Deserialize)]
struct CharacterJson {
    name: Option<String>,
    settings: Settings,
}

/// What `POST /api/agents` asks: plainly, or as the agents' runtime describes its characters.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Make {
    agent_id: Option<String>,
    agent_name: Option<String>,
    account_id: Option<String>,
    character_id: Option<String>,
    character_json: Option<CharacterJson>,
}

/// Whom a client's agents count for.
pub(crate) struct Maker {
    caller: Caller,
    address: IpAddr,
}

impl FromRequestParts<Arc<App>> for Maker {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let Extension(caller) = Extension::<Caller>::from_request_parts(parts, app)
            .await
            .map_err(IntoResponse::into_response)?;
        let Extension(peer) = Extension::<Peer>::from_request_parts(parts, app)
            .await
            .map_err(IntoResponse::into_response)?;
        let address = app.config.proxies.client(peer.address, &parts.headers);
        Ok(Self { caller, address })
    }
}

/// Counts an agent that is made from an address.
async fn count(app: &App, address: IpAddr) -> Result<(), Problem> {
    let rule = Rule {
        most: app.config.agents_per_address,
        ..AGENTS
    };
    let passed = app.limits.pass(rule, &Subject::address(address)).await;
    passed.map(|_| ()).map_err(|refusal| {
        let most = rule.most;
        let why = format!("From one address {most} agents may be made in an hour.");
        Problem {
            retry_after: Some(u32::try_from(refusal.wait.as_secs()).unwrap_or(u32::MAX) + 1),
            ..Problem::of(Code::RateLimited, why)
        }
    })
}

async fn make(app: &App, maker: &Maker, asked: Make) -> Result<Agent, Problem> {
    let caller = &maker.caller;
    let settings = asked.character_json.as_ref().map(|json| &json.settings);
    let account = settings.and_then(|settings| settings.account_id.as_deref());
    own_account(caller, asked.account_id.as_deref().or(account))?;
    let character_id = asked
        .character_id
        .clone()
        .or_else(|| settings.map(|settings| settings.character_id.clone()))
        .filter(|id| !id.is_empty());
    let Some(character_id) = character_id else {
        let why = "name one of your characters";
        return Err(Problem::invalid("/characterId", why));
    };
    let known = all(app, caller).await?;
    if !known.iter().any(|agent| agent.character_id == character_id) {
        count(app, maker.address).await?;
    }
    let named = asked.character_json.and_then(|json| json.name);
    let agent_name = asked.agent_name.or(named);
    let ask = RegisterRequest {
        agent_id: asked.agent_id.unwrap_or_default(),
        account_id: caller.account_id.clone(),
        agent_name: agent_name.unwrap_or_else(|| "Agent".to_owned()),
        character_id,
    };
    let made = app.agents.register(ask).await;
    let made = made.map_err(|status| refused_more(&status))?;
    app.agents.insist(&app.zones, &made).await;
    Ok(made)
}

/// `POST /api/agents`
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    maker: Maker,
    Body(asked): Body<Make>,
) -> Result<Response, Problem> {
    let agent = make(&app, &maker, asked).await?;
    let place = format!("/api/agents/{}", agent.agent_id);
    let body = Json(json!({"success": true, "data": {"agent": shape(&agent)}}));
    Ok((StatusCode::CREATED, [(LOCATION, place)], body).into_response())
}

/// `POST /api/agents/mappings`
pub(crate) async fn map(
    State(app): State<Arc<App>>,
    maker: Maker,
    Body(asked): Body<Make>,
) -> Result<Response, Problem> {
    let agent = make(&app, &maker, asked).await?;
    let message = format!("{} is an agent now.", agent.character_name);
    let answer = json!({"success": true, "agentId": agent.agent_id, "message": message});
    Ok(Json(answer).into_response())
}

/// `GET /api/agents/mapping/{agentId}`
pub(crate) async fn mapping(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let answer = json!({
        "success": true,
        "agentId": agent.agent_id,
        "characterId": agent.character_id,
        "accountId": agent.account_id,
        "agentName": agent.agent_name,
    });
    Ok(Json(answer).into_response())
}

/// `GET /api/agents/mappings/{accountId}`
pub(crate) async fn mappings(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    account: Id,
) -> Result<Response, Problem> {
    own_account(&caller, Some(&account.0))?;
    let agents = all(&app, &caller).await?;
    let ids: Vec<&str> = agents.iter().map(|agent| agent.agent_id.as_str()).collect();
    let answer = json!({"success": true, "agentIds": ids, "count": ids.len()});
    Ok(Json(answer).into_response())
}

/// `DELETE /api/agents/{agentId}` and `/api/agents/mappings/{agentId}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let gone = app.agents.remove(&agent).await;
    let gone = gone.map_err(|status| refused(&status))?;
    if let (Some(orders), Some(region)) = (&gone.orders, gone.region) {
        app.agents.tell(&app.zones, orders, region).await;
    }
    let message = format!("{} is an agent no more.", agent.character_name);
    Ok(Json(json!({"success": true, "message": message})).into_response())
}

/// Whether an agent lives in the world when nobody plays it.
async fn activate(
    (State(app), Extension(caller), id): (State<Arc<App>>, Extension<Caller>, Id),
    active: bool,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let now = app.agents.order(&agent, Order::Active(active)).await;
    let now = now.map_err(|status| refused_more(&status))?;
    app.agents.insist(&app.zones, &now).await;
    let answer = json!({"success": true, "data": {"agent": shape(&now)}});
    Ok(Json(answer).into_response())
}

/// `POST /api/agents/{agentId}/start`
pub(crate) async fn start(
    app: State<Arc<App>>,
    caller: Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    activate((app, caller, id), true).await
}

/// `POST /api/agents/{agentId}/stop`
pub(crate) async fn stop(
    app: State<Arc<App>>,
    caller: Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    activate((app, caller, id), false).await
}
