//! The goal of an agent: shows, sets, stops and resumes it.

use proto::rpc::{
    agents::v1::{self as wire, Agent, LookReply, order_request::Order},
    common::v1::Tile,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::{Content, Goal, agents::templates};

use super::{NOT_ORDERED, of_agent, orders, owned, refused_more};
use crate::{
    agents::runtime::{Event, Word},
    app::App,
    clock,
    http::{
        ask::{Body, Id},
        problem::Problem,
        route::{Answer, Call, Route, SPEAKERS},
        values::{Success, Time, success},
    },
};

pub(super) fn routes() -> Vec<Route> {
    [
        of_agent(SPEAKERS.get("/api/agent/{agentId}/goal", "What the agent is after", get))
            .or("/api/agents/{agentId}/goal"),
        of_agent(SPEAKERS.post(
            "/api/agent/{agentId}/goal",
            "Sets a goal, and ends a pause",
            set,
        ))
        .problems(NOT_ORDERED)
        .or("/api/agents/{agentId}/goal"),
        of_agent(SPEAKERS.post(
            "/api/agent/{agentId}/goal/stop",
            "Stops, and pauses goals",
            stop,
        ))
        .problems(NOT_ORDERED)
        .or("/api/agents/{agentId}/goal/stop"),
        of_agent(SPEAKERS.post("/api/agent/{agentId}/goal/resume", "Goals go on", resume))
            .problems(NOT_ORDERED)
            .or("/api/agents/{agentId}/goal/resume"),
    ]
    .concat()
}

/// The goal control response: the agent's goal, whether its goals rest, and the goals that its
/// owner may set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GoalControl {
    goal: Option<AgentGoal>,
    goals_paused: bool,
    available_goals: Vec<AvailableGoal>,
    /// Reason why it pursues no goal now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"Goals are paused.")]
    message: Option<&'static str>,
}

/// A goal that an agent pursues, or that was set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentGoal {
    #[schemars(example = &"explore")]
    id: String,
    #[serde(rename = "type")]
    #[schemars(example = &"exploration")]
    kind: String,
    #[schemars(example = &"See what is over there.")]
    description: String,
    progress: u32,
    target: u32,
    progress_percent: u64,
    started_at: Option<Time>,
    elapsed_ms: u64,
    locked: bool,
    locked_by: LockedBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Location")]
    location: Option<Location>,
}

/// Origin of a goal: the agent itself, or its owner.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LockedBy {
    Autonomous,
    Manual,
}

/// A tile as `[x, 0, z]`.
type Location = [i32; 3];

fn location(tile: Tile) -> Location {
    [tile.x, 0, tile.z]
}

/// A goal that may be set.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AvailableGoal {
    #[schemars(example = &"explore")]
    id: String,
    #[serde(rename = "type")]
    #[schemars(example = &"exploration")]
    kind: String,
    #[schemars(example = &"See what is over there.")]
    description: String,
    #[schemars(example = 10)]
    priority: u32,
    #[schemars(example = &"It can be done in this world")]
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Location")]
    location: Option<Location>,
}

async fn get(Call { app, caller }: Call, id: Id) -> Answer<Success<GoalControl>> {
    let agent = owned(&app, &caller, &id).await?;
    let seen = app.agents.look(&app.zones, &agent).await;
    Ok(success(GoalControl {
        message: message(&agent, seen.as_ref()),
        ..answer(&app.content(), &agent, seen.as_ref())
    }))
}

/// Returns why the agent pursues nothing now, for people.
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

/// A goal for an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SetGoal {
    #[schemars(example = &"explore")]
    goal_id: String,
}

async fn set(
    Call { app, caller }: Call,
    id: Id,
    body: Result<Body<SetGoal>, Problem>,
) -> Answer<Success<GoalControl>> {
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

async fn stop(Call { app, caller }: Call, id: Id) -> Answer<Success<GoalControl>> {
    let agent = owned(&app, &caller, &id).await?;
    ordered(&app, &agent, Order::Stop(true), Event::GoalStopped).await
}

async fn resume(Call { app, caller }: Call, id: Id) -> Answer<Success<GoalControl>> {
    let agent = owned(&app, &caller, &id).await?;
    ordered(&app, &agent, Order::Resume(true), Event::GoalResumed).await
}

/// Stores an order first, then tells the agent's runtime and its zone.
async fn ordered(
    app: &App,
    agent: &Agent,
    order: Order,
    event: Event,
) -> Answer<Success<GoalControl>> {
    let now = app.agents.order(agent, order).await;
    let now = now.map_err(|status| refused_more(&status))?;
    app.agents.runtime.tell(Word::new(event, &now, None));
    app.agents.insist(&app.zones, &now).await;
    let seen = app.agents.look(&app.zones, &now).await;
    // The zone takes the order up at the next tick, and shows the old goal until then.
    let seen = seen.map(|seen| LookReply { goal: None, ..seen });
    Ok(success(answer(&app.content(), &now, seen.as_ref())))
}

/// Makes the goal control response, without a message.
fn answer(content: &Content, agent: &Agent, seen: Option<&LookReply>) -> GoalControl {
    let orders = orders(agent);
    let pursued = seen.and_then(|seen| seen.goal.as_ref());
    let goal = match pursued {
        // A paused agent still follows orders from chat, but these are no goals.
        _ if orders.paused => None,
        Some(goal) => Some(pursued_goal(goal)),
        None => Goal::parse(&orders.goal_id, content).map(|goal| set_goal(&goal, content, agent)),
    };
    GoalControl {
        goal,
        goals_paused: orders.paused,
        available_goals: available(content, seen),
        message: None,
    }
}

/// Converts a goal that its zone shows.
fn pursued_goal(goal: &wire::Goal) -> AgentGoal {
    AgentGoal {
        id: goal.id.clone(),
        kind: goal.sort.clone(),
        description: goal.description.clone(),
        location: goal.location.map(location),
        ..begun(goal.progress, goal.target, goal.since_ms, goal.automatic)
    }
}

/// Converts a stored goal that no zone shows yet.
fn set_goal(goal: &Goal, content: &Content, agent: &Agent) -> AgentGoal {
    let place = goal.location(content, content.spawn());
    let progress = orders(agent).progress;
    AgentGoal {
        id: goal.id(),
        kind: goal.sort().to_owned(),
        description: goal.description(content),
        location: place.map(|tile| [tile.x, 0, tile.z]),
        ..begun(progress, goal.target(), agent.goal_since_ms, false)
    }
}

/// Makes a goal that began at `since_ms`, with its progress but without a name.
fn begun(progress: u32, target: u32, since_ms: u64, automatic: bool) -> AgentGoal {
    let percent = u64::from(progress) * 100 / u64::from(target.max(1));
    AgentGoal {
        id: String::new(),
        kind: String::new(),
        description: String::new(),
        progress,
        target,
        progress_percent: percent.min(100),
        started_at: Time::unless_never(since_ms),
        elapsed_ms: clock::unix_ms().saturating_sub(since_ms),
        locked: !automatic,
        locked_by: match automatic {
            true => LockedBy::Autonomous,
            false => LockedBy::Manual,
        },
        location: None,
    }
}

/// Lists the goals that an owner may set: as the agent's zone sees them now, else all that the
/// content has.
pub(super) fn available(content: &Content, seen: Option<&LookReply>) -> Vec<AvailableGoal> {
    if let Some(seen) = seen {
        let goals = seen.available.iter().map(|goal| AvailableGoal {
            id: goal.id.clone(),
            kind: goal.sort.clone(),
            description: goal.description.clone(),
            priority: goal.priority,
            reason: goal.reason.clone(),
            location: goal.location.map(location),
        });
        return goals.collect();
    }
    let goals = templates(content);
    let goals = goals.iter().map(|goal| AvailableGoal {
        id: goal.id(),
        kind: goal.sort().to_owned(),
        description: goal.description(content),
        priority: goal.priority(),
        reason: "It can be done in this world".to_owned(),
        location: None,
    });
    goals.collect()
}

#[cfg(test)]
mod tests {
    use proto::rpc::agents::v1::Orders;
    use serde_json::Value;

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
        let answer = |content: &Content, agent: &Agent, seen: Option<&LookReply>| {
            serde_json::to_value(Success::of(super::answer(content, agent, seen))).unwrap()
        };
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
