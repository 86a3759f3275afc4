//! The goal of an agent: which it is, setting one, stopping and going on.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use proto::rpc::agents::v1::{self as wire, Agent, LookReply, order_request::Order};
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Content, Goal, agent::templates};

use super::{orders, owned, refused_more};
use crate::{
    agents::runtime::{Event, Word},
    app::App,
    auth::caller::Caller,
    clock,
    http::{
        ask::{Body, Id},
        problem::Problem,
        shapes::time,
    },
};

/// `GET /api/agents/{agentId}/goal`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let seen = app.agents.look(&app.zones, &agent).await;
    let mut answer = answer(&app.content(), &agent, seen.as_ref());
    if let Some(message) = message(&agent, seen.as_ref()) {
        answer["message"] = message.into();
    }
    Ok(Json(answer).into_response())
}

/// Why it pursues nothing now, for people.
fn message(agent: &Agent, seen: Option<&LookReply>) -> Option<&'static str> {
    let orders = orders(agent);
    match seen {
        _ if orders.paused => Some("Goals are paused."),
        None if orders.active => Some("The agent is on its way into the world."),
        None if agent.resting => {
            Some("The agent rests: nobody needed it. An order or a message brings it back.")
        }
        None => Some("The agent is not in the world."),
        Some(seen) if seen.played => Some("Somebody plays the character; goals rest meanwhile."),
        Some(seen) if seen.goal.is_none() => Some("The agent is about to choose a goal."),
        Some(_) => None,
    }
}

/// What `POST /api/agents/{agentId}/goal` asks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Set {
    goal_id: String,
}

/// `POST /api/agents/{agentId}/goal`
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
    body: Result<Body<Set>, Problem>,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let Body(asked) = body?;
    let content = app.content();
    if Goal::parse(&asked.goal_id, &content).is_none() {
        let known: Vec<String> = templates(&content).iter().map(Goal::id).collect();
        let why = format!("there is no such goal; there are {}", known.join(", "));
        return Err(Problem::invalid("/goalId", why));
    }
    let order = Order::SetGoal(asked.goal_id);
    ordered(&app, &agent, order, Event::GoalSet).await
}

/// `POST /api/agents/{agentId}/goal/stop`
pub(crate) async fn stop(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    ordered(&app, &agent, Order::Stop(true), Event::GoalStopped).await
}

/// `POST /api/agents/{agentId}/goal/resume`
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    ordered(&app, &agent, Order::Resume(true), Event::GoalResumed).await
}

/// Durable first; then its zone is told, and its runtime.
async fn ordered(
    app: &App,
    agent: &Agent,
    order: Order,
    event: Event,
) -> Result<Response, Problem> {
    let now = app.agents.order(agent, order).await;
    let now = now.map_err(|status| refused_more(&status))?;
    app.agents.runtime.tell(Word::new(event, &now, None));
    app.agents.insist(&app.zones, &now).await;
    let seen = app.agents.look(&app.zones, &now).await;
    // Its zone takes it up at the next tick: until then it shows what was before.
    let seen = seen.map(|seen| LookReply { goal: None, ..seen });
    Ok(Json(answer(&app.content(), &now, seen.as_ref())).into_response())
}

/// The goal control response: what it is after, whether goals rest, and what may be set.
fn answer(content: &Content, agent: &Agent, seen: Option<&LookReply>) -> Value {
    let orders = orders(agent);
    let pursued = seen.and_then(|seen| seen.goal.as_ref());
    let goal = match pursued {
        // What it is told in chat it does also while goals are paused, but that is no goal.
        _ if orders.paused => None,
        Some(goal) => Some(pursued_goal(goal)),
        None => Goal::parse(&orders.goal_id, content).map(|goal| set_goal(&goal, content, agent)),
    };
    json!({
        "success": true,
        "goal": goal,
        "goalsPaused": orders.paused,
        "availableGoals": available(content, seen),
    })
}

/// A goal as its zone sees it.
fn pursued_goal(goal: &wire::Goal) -> Value {
    let done = (goal.progress, goal.target);
    shape(
        (&goal.id, &goal.sort, &goal.description),
        done,
        goal.since_ms,
        goal.automatic,
        goal.location,
    )
}

/// A goal that was set, of which no zone has spoken yet.
fn set_goal(goal: &Goal, content: &Content, agent: &Agent) -> Value {
    let from = content.spawn();
    let location = goal.location(content, from);
    let location = location.map(|tile| proto::rpc::common::v1::Tile {
        x: tile.x,
        z: tile.z,
    });
    let (id, words) = (goal.id(), goal.description(content));
    let done = (orders(agent).progress, goal.target());
    shape(
        (&id, goal.sort(), &words),
        done,
        agent.goal_since_ms,
        false,
        location,
    )
}

fn shape(
    (id, sort, description): (&str, &str, &str),
    (progress, target): (u32, u32),
    since_ms: u64,
    automatic: bool,
    location: Option<proto::rpc::common::v1::Tile>,
) -> Value {
    let percent = u64::from(progress) * 100 / u64::from(target.max(1));
    let mut goal = json!({
        "id": id,
        "type": sort,
        "description": description,
        "progress": progress,
        "target": target,
        "progressPercent": percent.min(100),
        "startedAt": time(since_ms),
        "elapsedMs": clock::unix_ms().saturating_sub(since_ms),
        "locked": !automatic,
        "lockedBy": if automatic { "autonomous" } else { "manual" },
    });
    if let Some(at) = location {
        goal["location"] = json!([at.x, 0, at.z]);
    }
    goal
}

/// What may be set: as its zone sees it now, else what the world knows of at all.
pub(super) fn available(content: &Content, seen: Option<&LookReply>) -> Vec<Value> {
    if let Some(seen) = seen {
        let goals = seen.available.iter().map(|goal| {
            let mut shape = json!({
                "id": goal.id,
                "type": goal.sort,
                "description": goal.description,
                "priority": goal.priority,
                "reason": goal.reason,
            });
            if let Some(at) = goal.location {
                shape["location"] = json!([at.x, 0, at.z]);
            }
            shape
        });
        return goals.collect();
    }
    let goals = templates(content);
    let goals = goals.iter().map(|goal| {
        json!({
            "id": goal.id(),
            "type": goal.sort(),
            "description": goal.description(content),
            "priority": goal.priority(),
            "reason": "It can be done in this world",
        })
    });
    goals.collect()
}

#[cfg(test)]
mod tests {
    use proto::rpc::agents::v1::Orders;

    use super::*;

    fn agent(paused: bool, goal: &str) -> Agent {
        Agent {
            orders: Some(Orders {
                agent: true,
                active: true,
                paused,
                goal_id: goal.to_owned(),
                progress: 2,
                ..Orders::default()
            }),
            goal_since_ms: 1_700_000_000_000,
            ..Agent::default()
        }
    }

    fn seen(automatic: bool) -> LookReply {
        LookReply {
            goal: Some(wire::Goal {
                id: "explore".to_owned(),
                progress: 4,
                target: 5,
                automatic,
                ..wire::Goal::default()
            }),
            ..LookReply::default()
        }
    }

    #[test]
    fn the_answer_is_the_goal_control_response() {
        let content = Content::embedded();
        let stopped = answer(&content, &agent(true, ""), Some(&seen(true)));
        assert_eq!(stopped["goal"], Value::Null);
        assert_eq!(stopped["goalsPaused"], true);
        assert_eq!(stopped["success"], true);
        assert!(stopped["availableGoals"].is_array());
        let set = answer(&content, &agent(false, "explore"), None);
        assert_eq!(
            (&set["goal"]["id"], &set["goal"]["progress"]),
            (&"explore".into(), &2.into())
        );
        assert_eq!(set["goal"]["progressPercent"], 40);
        assert_eq!(set["goal"]["lockedBy"], "manual");
        assert_eq!(set["goal"]["startedAt"], "2023-11-14T22:13:20.000Z");
        assert!(set["availableGoals"].as_array().unwrap().len() > 3);
        let own = answer(&content, &agent(false, ""), Some(&seen(true)));
        assert_eq!(
            (&own["goal"]["progressPercent"], &own["goal"]["locked"]),
            (&80.into(), &false.into())
        );
        let none = answer(&content, &agent(false, ""), None);
        assert_eq!(
            (&none["goal"], &none["goalsPaused"]),
            (&Value::Null, &false.into())
        );
    }
}
