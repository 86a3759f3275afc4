//! What an owner says to its agent.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use proto::{
    client::limits::CHAT_CHARS_MAX,
    rpc::agents::v1::{Agent, SayRequest, order_request::Order},
};
use serde::Deserialize;
use serde_json::json;
use tonic::Code as Grpc;

use super::{owned, refused_more};
use crate::{
    agents::{
        answer::Answer,
        runtime::{Event, Word},
    },
    app::App,
    auth::caller::Caller,
    clock,
    http::{
        ask::{Body, Id},
        problem::{Code, Problem},
    },
    social::chat,
};

/// What `POST /api/agents/{agentId}/message` asks.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    content: String,
}

/// `POST /api/agents/{agentId}/message`
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
    body: Result<Body<Line>, Problem>,
) -> Result<Response, Problem> {
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
    let told = Answer::of(heard);
    let mut answer = json!({
        "success": true,
        "message": told.message,
        "delivered": told.delivered,
        "understood": told.understood,
    });
    if !told.known.is_empty() {
        answer["commands"] = told.known.into();
    }
    Ok(Json(answer).into_response())
}

/// Notes that somebody speaks to an agent; one that rests comes back.
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
