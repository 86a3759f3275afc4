//! `/api/agent` and `/api/agents`: characters that act of their own accord.
//!
//! Always: only the owner makes, ends and gives tokens to an agent; what it does is seen and
//! ordered by the owner and by the agent's own token. Somebody else's agent is not there (404).

mod around;
mod credentials;
mod goals;
mod message;
mod register;
mod routes;

use proto::rpc::agents::v1::{Agent, Orders};
use serde_json::{Value, json};
use tonic::{Code as Grpc, Status};

pub(super) use routes::routes;

use super::{
    ask::Id,
    problem::{Code, Problem},
    shapes::time,
};
use crate::{
    app::App,
    auth::{caller::Caller, tokens::Scope},
};

/// Who may make and end agents and their tokens.
const OWNERS: &[Scope] = &[Scope::Player];
/// Who may see and order one.
const SPEAKERS: &[Scope] = &[Scope::Player, Scope::Agent];

/// The agent with this id, if it is the caller's.
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

/// What the store refused, as a client sees it.
fn refused(status: &Status) -> Problem {
    match status.code() {
        Grpc::AlreadyExists | Grpc::ResourceExhausted => {
            Problem::of(Code::Conflict, status.message())
        }
        _ => super::shapes::refused(status),
    }
}

/// The same for what makes an agent or brings one back.
fn refused_more(status: &Status) -> Problem {
    match status.code() {
        Grpc::ResourceExhausted => Problem::of(Code::TooManyAgents, status.message()),
        _ => refused(status),
    }
}

/// What an agent is to do.
fn orders(agent: &Agent) -> Orders {
    agent.orders.clone().unwrap_or_default()
}

/// An agent, as lists show it.
fn shape(agent: &Agent) -> Value {
    let orders = orders(agent);
    json!({
        "id": agent.agent_id,
        "name": agent.agent_name,
        "status": if orders.active { "active" } else { "inactive" },
        "character": {
            "name": agent.character_name,
            "settings": {"accountId": agent.account_id, "characterId": agent.character_id},
        },
        "characterId": agent.character_id,
        "online": agent.online,
        "resting": agent.resting,
        "goalsPaused": orders.paused,
        "createdAt": time(agent.created_at_ms),
        "updatedAt": time(agent.updated_at_ms),
    })
}
