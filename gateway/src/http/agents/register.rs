//! Makes, lists and ends agents, and maps agents to characters.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension, Json,
    extract::{FromRequestParts, State},
    http::request::Parts,
    response::{IntoResponse, Response},
};
use proto::rpc::agents::v1::{Agent, RegisterRequest, order_request::Order};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentShown, NOT_ORDERED, of_agent, owned, refused, refused_more};
use crate::{
    app::App,
    auth::caller::Caller,
    http::{
        address::Peer,
        ask::{Body, Id, Query},
        problem::{Code, Problem},
        route::{Answer, Call, Created, Input, OWNERS, Route, SPEAKERS},
        values::{Message, Success, success},
    },
    limits::{
        subject::Subject,
        window::{AGENTS, Rule},
    },
};

/// Codes with which the gateway refuses to make an agent.
const NOT_MADE: &[Code] = &[
    Code::NotYourCharacter,
    Code::NotFound,
    Code::Conflict,
    Code::TooManyAgents,
];
const ACCOUNT: &str = "0199c3a0-0000-7000-8000-000000000000";
const AGENT: &str = "0199c3a0-0000-7000-8000-00000000000a";

pub(super) fn routes() -> Vec<Route> {
    let no_more = "The character is an agent no more";
    let remove_mapping = OWNERS.delete("/api/agent/mappings/{id}", no_more, remove);
    let removed = [
        of_agent(OWNERS.delete("/api/agent/{agentId}", no_more, remove))
            .or("/api/agents/{agentId}"),
        remove_mapping
            .path("The agent.", AGENT)
            .or("/api/agents/mappings/{id}"),
    ];
    [registered(), mapped(), removed.concat()].concat()
}

fn registered() -> Vec<Route> {
    let starts = "The agent lives in the world while nobody plays it";
    [
        SPEAKERS
            .get("/api/agent", "The caller's agents", list)
            .problems(&[Code::NotYourCharacter])
            .or("/api/agents"),
        OWNERS
            .post(
                "/api/agent",
                "Makes a character of the caller's an agent",
                create,
            )
            .problems(NOT_MADE)
            .or("/api/agents"),
        of_agent(SPEAKERS.get("/api/agent/{agentId}", "One agent", get))
            .or("/api/agents/{agentId}"),
        of_agent(OWNERS.post("/api/agent/{agentId}/start", starts, start))
            .problems(NOT_ORDERED)
            .or("/api/agents/{agentId}/start"),
        of_agent(OWNERS.post(
            "/api/agent/{agentId}/stop",
            "The agent leaves the world",
            stop,
        ))
        .problems(NOT_ORDERED)
        .or("/api/agents/{agentId}/stop"),
    ]
    .concat()
}

fn mapped() -> Vec<Route> {
    [
        OWNERS
            .post(
                "/api/agent/mappings",
                "Makes a character an agent, or renames it",
                map,
            )
            .problems(NOT_MADE)
            .or("/api/agents/mappings"),
        SPEAKERS
            .get(
                "/api/agent/mappings/{id}",
                "The agents of the caller's account",
                mappings,
            )
            .path("The account.", ACCOUNT)
            .problems(&[Code::NotYourCharacter])
            .or("/api/agents/mappings/{id}"),
        of_agent(SPEAKERS.get(
            "/api/agent/mapping/{agentId}",
            "Which character an agent is",
            mapping,
        ))
        .or("/api/agents/mapping/{agentId}"),
    ]
    .concat()
}

/// Account whose agents the list shows: the caller's own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Of {
    /// The caller's own account.
    account_id: Option<String>,
}

/// Refuses a named account that is not the caller's own.
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

/// An answer as the agents' runtime reads it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Data<T> {
    data: T,
}

/// Agents of an account.
#[derive(Debug, Serialize, JsonSchema)]
struct Agents {
    agents: Vec<AgentShown>,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
struct OneAgent {
    agent: AgentShown,
}

type AgentData = Success<Data<OneAgent>>;

fn one(agent: &Agent) -> AgentData {
    let agent = agent.into();
    let data = OneAgent { agent };
    Success::of(Data { data })
}

async fn list(Call { app, caller }: Call, Query(of): Query<Of>) -> Answer<Success<Data<Agents>>> {
    own_account(&caller, of.account_id.as_deref())?;
    let agents = all(&app, &caller).await?;
    let agents = agents.iter().map(AgentShown::from).collect();
    let data = Agents { agents };
    Ok(success(Data { data }))
}

async fn get(Call { app, caller }: Call, id: Id) -> Answer<AgentData> {
    let agent = owned(&app, &caller, &id).await?;
    Ok(Json(one(&agent)))
}

/// Settings of a character, as the agents' runtime writes them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Settings {
    account_id: Option<String>,
    #[schemars(length(min = 1))]
    character_id: String,
}

/// A character, as the agents' runtime describes it.
#[derive(Debug, Deserialize, JsonSchema)]
struct CharacterJson {
    name: Option<String>,
    settings: Settings,
}

/// A character that is to be an agent: named plainly, or as the agents' runtime describes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    example = serde_json::json!({
        "characterId": "0199c3a0-0000-7000-8000-000000000001",
        "agentName": "Wren",
    }),
    extend("anyOf" = [{"required": ["characterId"]}, {"required": ["characterJson"]}])
)]
struct MakeAgent {
    agent_id: Option<String>,
    agent_name: Option<String>,
    account_id: Option<String>,
    #[schemars(length(min = 1))]
    character_id: Option<String>,
    character_json: Option<CharacterJson>,
}

/// The caller who makes an agent, and the address that the agent counts for.
struct Maker {
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

impl Input for Maker {}

/// Counts a new agent of an address.
async fn count(app: &App, address: IpAddr) -> Result<(), Problem> {
    let rule = Rule {
        most: app.config.agents_per_address,
        ..AGENTS
    };
    let passed = app
        .bounds
        .requests
        .pass(rule, &Subject::address(address))
        .await;
    passed.map(|_| ()).map_err(|refusal| {
        let most = rule.most;
        let why = format!("From one address {most} agents may be made in an hour.");
        Problem {
            retry_after: Some(u32::try_from(refusal.wait.as_secs()).unwrap_or(u32::MAX) + 1),
            ..Problem::of(Code::RateLimited, why)
        }
    })
}

async fn make(app: &App, maker: &Maker, asked: MakeAgent) -> Result<Agent, Problem> {
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

async fn create(
    State(app): State<Arc<App>>,
    maker: Maker,
    Body(asked): Body<MakeAgent>,
) -> Result<Created<AgentData>, Problem> {
    let agent = make(&app, &maker, asked).await?;
    let place = format!("/api/agents/{}", agent.agent_id);
    Ok(Created(place, one(&agent)))
}

/// The agent that a character is now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Mapped {
    agent_id: String,
    #[schemars(example = &"Ann is an agent now.")]
    message: String,
}

async fn map(
    State(app): State<Arc<App>>,
    maker: Maker,
    Body(asked): Body<MakeAgent>,
) -> Answer<Success<Mapped>> {
    let agent = make(&app, &maker, asked).await?;
    let message = format!("{} is an agent now.", agent.character_name);
    Ok(success(Mapped {
        agent_id: agent.agent_id,
        message,
    }))
}

/// An agent, and the character that it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Mapping {
    agent_id: String,
    character_id: String,
    account_id: String,
    #[schemars(example = &"Wren")]
    agent_name: String,
}

async fn mapping(Call { app, caller }: Call, id: Id) -> Answer<Success<Mapping>> {
    let agent = owned(&app, &caller, &id).await?;
    Ok(success(Mapping {
        agent_id: agent.agent_id,
        character_id: agent.character_id,
        account_id: agent.account_id,
        agent_name: agent.agent_name,
    }))
}

/// Agents of an account, by their ids.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Mappings {
    #[schemars(example = [AGENT])]
    agent_ids: Vec<String>,
    #[schemars(example = 1)]
    count: usize,
}

async fn mappings(Call { app, caller }: Call, account: Id) -> Answer<Success<Mappings>> {
    own_account(&caller, Some(&account.0))?;
    let agents = all(&app, &caller).await?.into_iter();
    let agent_ids: Vec<String> = agents.map(|agent| agent.agent_id).collect();
    Ok(success(Mappings {
        count: agent_ids.len(),
        agent_ids,
    }))
}

async fn remove(Call { app, caller }: Call, id: Id) -> Answer<Success<Message>> {
    let agent = owned(&app, &caller, &id).await?;
    let gone = app.agents.remove(&agent).await;
    let gone = gone.map_err(|status| refused(&status))?;
    if let (Some(orders), Some(region)) = (&gone.orders, gone.region) {
        app.agents.tell(&app.zones, orders, region).await;
    }
    let message = format!("{} is an agent no more.", agent.character_name);
    Ok(success(Message { message }))
}

/// Sets whether an agent lives in the world while nobody plays it.
async fn activate(call: &Call, id: &Id, active: bool) -> Answer<AgentData> {
    let Call { app, caller } = call;
    let agent = owned(app, caller, id).await?;
    let now = app.agents.order(&agent, Order::Active(active)).await;
    let now = now.map_err(|status| refused_more(&status))?;
    app.agents.insist(&app.zones, &now).await;
    Ok(Json(one(&now)))
}

async fn start(call: Call, id: Id) -> Answer<AgentData> {
    activate(&call, &id, true).await
}

async fn stop(call: Call, id: Id) -> Answer<AgentData> {
    activate(&call, &id, false).await
}
