//! `/api/agent` and `/api/agents`: characters that act of their own accord.
//!
//! Always: only the owner makes and ends an agent and its tokens; the owner and the agent's own
//! token see it and order it. For everybody else the agent does not exist (404).

mod around;
mod credentials;
mod goals;
mod message;
mod register;

use proto::rpc::agents::v1::{Agent, Orders};
use schemars::JsonSchema;
use serde::Serialize;
use tonic::{Code as Grpc, Status};

use super::{
    ask::Id,
    problem::{Code, Problem},
    route::Route,
    values::Time,
};
use crate::{app::App, auth::caller::Caller};

/// Returns all routes of agents.
pub(super) fn routes() -> Vec<Route> {
    [
        register::routes(),
        credentials::routes(),
        goals::routes(),
        message::routes(),
        around::routes(),
    ]
    .concat()
}

/// Describes the agent's id in the path of a route.
fn of_agent(route: Route) -> Route {
    route.path("The agent.", "0199c3a0-0000-7000-8000-00000000000a")
}

/// Codes with which the gateway refuses an order.
const NOT_ORDERED: &[Code] = &[Code::Conflict, Code::TooManyAgents];

/// Returns the agent with this id, if it is the caller's.
async fn owned(app: &App, caller: &Caller, id: &Id) -> Result<Agent, Problem> {
    let none = || Problem::of(Code::NotFound, "There is no agent with this id.");
    let found = app.agents.get(&id.0).await;
    let found = found.map_err(|status| match status.code() {
        Grpc::NotFound | Grpc::InvalidArgument => none(),
        _ => refused(&status),
    })?;
    let own = found.account_id == caller.account_id && caller.may_name(&found.character_id);
    if own { Ok(found) } else { Err(none()) }
}

/// Returns the client's problem document for a refusal by the store.
fn refused(status: &Status) -> Problem {
    match status.code() {
        Grpc::AlreadyExists | Grpc::ResourceExhausted => {
            Problem::of(Code::Conflict, status.message())
        }
        _ => super::shapes::refused(status),
    }
}

/// Returns the problem document for a refusal to make an agent or to bring one back.
fn refused_more(status: &Status) -> Problem {
    match status.code() {
        Grpc::ResourceExhausted => Problem::of(Code::TooManyAgents, status.message()),
        _ => refused(status),
    }
}

/// Returns the orders of an agent.
fn orders(agent: &Agent) -> Orders {
    agent.orders.clone().unwrap_or_default()
}

/// Whether an agent lives in the world while nobody plays it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AgentStatus {
    Active,
    Inactive,
}

/// An agent as lists show it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Agent")]
struct AgentShown {
    id: String,
    #[schemars(example = &"Wren")]
    name: String,
    status: AgentStatus,
    character: AgentCharacter,
    character_id: String,
    online: bool,
    resting: bool,
    goals_paused: bool,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// The character that an agent is, as the agents' runtime describes its characters.
#[derive(Debug, Serialize, JsonSchema)]
struct AgentCharacter {
    #[schemars(example = &"Ann")]
    name: String,
    settings: AgentSettings,
}

/// Account and character of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentSettings {
    account_id: String,
    character_id: String,
}

impl From<&Agent> for AgentShown {
    fn from(agent: &Agent) -> Self {
        let orders = orders(agent);
        Self {
            id: agent.agent_id.clone(),
            name: agent.agent_name.clone(),
            status: match orders.active {
                true => AgentStatus::Active,
                false => AgentStatus::Inactive,
            },
            character: AgentCharacter {
                name: agent.character_name.clone(),
                settings: AgentSettings {
                    account_id: agent.account_id.clone(),
                    character_id: agent.character_id.clone(),
                },
            },
            character_id: agent.character_id.clone(),
            online: agent.online,
            resting: agent.resting,
            goals_paused: orders.paused,
            created_at: Time::unless_never(agent.created_at_ms),
            updated_at: Time::unless_never(agent.updated_at_ms),
        }
    }
}
