//! Messages of an owner to its agent.

use proto::{
    client::limits::CHAT_CHARS_MAX,
    rpc::agents::v1::{Agent, SayRequest, order_request::Order},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tonic::Code as Grpc;

use super::{NOT_ORDERED, of_agent, owned, refused_more};
use crate::{
    agents::{
        answer::Answer as Heard,
        runtime::{Event, Word},
    },
    app::App,
    clock,
    http::{
        ask::{Body, Id},
        problem::{Code, Problem},
        route::{Answer, Call, Route, SPEAKERS},
        values::{Success, success},
    },
    social::chat,
};

pub(super) fn routes() -> Vec<Route> {
    let summary = "Says something to the agent";
    of_agent(SPEAKERS.post("/api/agent/{agentId}/message", summary, post))
        .problems(NOT_ORDERED)
        .or("/api/agents/{agentId}/message")
        .to_vec()
}

/// A line of chat for an agent.
#[derive(Debug, Deserialize, JsonSchema)]
struct AgentLine {
    #[schemars(example = &"explore")]
    content: String,
}

/// Answer to a line of the owner.
#[derive(Debug, Serialize, JsonSchema)]
struct Said {
    #[schemars(example = &"The agent does so.")]
    message: String,
    delivered: bool,
    /// The order that the agent follows now.
    #[schemars(example = &"explore")]
    understood: Option<String>,
    /// All commands, if the line is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
}

async fn post(
    Call { app, caller }: Call,
    id: Id,
    body: Result<Body<AgentLine>, Problem>,
) -> Answer<Success<Said>> {
    let agent = owned(&app, &caller, &id).await?;
    let Body(asked) = body?;
    let text = chat::clean(&asked.content);
    let text = text.filter(|text| text.chars().count() <= CHAT_CHARS_MAX);
    let Some(text) = text else {
        let why = format!("1 to {CHAT_CHARS_MAX} characters that can be seen");
        return Err(Problem::invalid("/content", why));
    };
    if app.config.rate_limits
        && let Err(wait) = app.agents.line(&caller.account_id, clock::instant())
    {
        let seconds = wait.as_secs() as u32 + 1;
        return Err(Problem {
            retry_after: Some(seconds),
            ..Problem::of(Code::RateLimited, "An agent hears 5 lines in 5 seconds.")
        });
    }
    let agent = heed(&app, agent).await?;
    let line = SayRequest {
        character_id: agent.character_id.clone(),
        text: text.clone(),
        message_id: uuid::Uuid::new_v4().simple().to_string(),
        from_account_id: caller.account_id.clone(),
        from_name: "Dashboard".to_owned(),
        at: clock::now_iso(),
        ..SayRequest::default()
    };
    app.agents
        .runtime
        .tell(Word::new(Event::Message, &agent, Some(text)));
    let heard = app.agents.say(&app.zones, &agent, line).await;
    let told = Heard::of(heard);
    Ok(success(Said {
        message: told.message,
        delivered: told.delivered,
        understood: told.understood,
        commands: told.known,
    }))
}

/// Notes in the store that its owner speaks to an agent; a resting agent comes back.
async fn heed(app: &App, agent: Agent) -> Result<Agent, Problem> {
    let now = match app.agents.order(&agent, Order::Spoken(true)).await {
        Ok(now) => now,
        Err(status) if status.code() == Grpc::ResourceExhausted => {
            return Err(refused_more(&status));
        }
        Err(status) => {
            // The zone may hear the line all the same.
            tracing::debug!(%status, "the store does not note a line to an agent");
            return Ok(agent);
        }
    };
    if !agent.resting {
        return Ok(now);
    }
    app.agents.insist(&app.zones, &now).await;
    Ok(app.agents.get(&now.agent_id).await.unwrap_or(now))
}
