//! An agent's surroundings and pack, its one-click commands, and its past actions.

use std::collections::BTreeMap;

use proto::rpc::agents::v1::{AgentAction, Carried, LookReply, Place, Tally};
use schemars::JsonSchema;
use serde::Serialize;
use world::Content;

use super::{
    goals::{self, AvailableGoal},
    of_agent, orders, owned,
};
use crate::http::{
    ask::Id,
    route::{Answer, Call, Route, SPEAKERS},
    shapes::points,
    values::{Success, Time, success},
};

pub(super) fn routes() -> Vec<Route> {
    [
        of_agent(SPEAKERS.get(
            "/api/agent/{agentId}/quick-actions",
            "What the agent may be told with one click",
            quick_actions,
        ))
        .or("/api/agents/{agentId}/quick-actions"),
        of_agent(SPEAKERS.get(
            "/api/agent/{agentId}/activity",
            "What the agent did lately",
            activity,
        ))
        .or("/api/agents/{agentId}/activity"),
    ]
    .concat()
}

/// Stacks of the pack in an answer, at most.
const CARRIED_MAX: usize = 20;
const NOT_THERE: &str = "The agent is not in the world.";

/// A place near an agent.
#[derive(Debug, Serialize, JsonSchema)]
struct NearbyLocation {
    #[schemars(example = &"bank-1")]
    id: String,
    #[schemars(example = &"Bank")]
    name: String,
    #[serde(rename = "type")]
    #[schemars(example = &"bank")]
    kind: String,
    /// In tiles.
    distance: u32,
}

impl From<&Place> for NearbyLocation {
    fn from(place: &Place) -> Self {
        Self {
            id: place.id.clone(),
            name: place.name.clone(),
            kind: place.sort.clone(),
            distance: place.distance,
        }
    }
}

/// An order of one click.
#[derive(Debug, Serialize, JsonSchema)]
struct QuickCommand {
    #[schemars(example = &"explore")]
    id: &'static str,
    #[schemars(example = &"Explore")]
    label: &'static str,
    /// The `content` that `POST …/message` takes.
    #[schemars(example = &"explore")]
    command: &'static str,
    #[schemars(example = &"🧭")]
    icon: &'static str,
    available: bool,
    /// Reason why it is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"Nothing lies about.")]
    reason: Option<&'static str>,
}

/// A stack in an agent's pack.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CarriedItem {
    #[schemars(example = &"bronze_hatchet")]
    id: String,
    #[schemars(example = &"Bronze hatchet")]
    name: String,
    slot: u32,
    #[schemars(example = 1)]
    quantity: u32,
    can_equip: bool,
    can_use: bool,
    can_drop: bool,
}

impl From<&Carried> for CarriedItem {
    fn from(carried: &Carried) -> Self {
        Self {
            id: carried.item_id.clone(),
            name: carried.name.clone(),
            slot: carried.slot,
            quantity: carried.quantity,
            can_equip: carried.can_equip,
            can_use: carried.can_use,
            can_drop: true,
        }
    }
}

/// Menu of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct QuickActions {
    nearby_locations: Vec<NearbyLocation>,
    available_goals: Vec<AvailableGoal>,
    quick_commands: Vec<QuickCommand>,
    inventory: Vec<CarriedItem>,
    /// `[x, y, z]`; null: it is not in the world.
    #[schemars(with = "Option<[f64; 3]>", example = (7, 0.0, -3))]
    player_position: Option<(i32, f64, i32)>,
    goals_paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = NOT_THERE)]
    message: Option<&'static str>,
}

async fn quick_actions(Call { app, caller }: Call, id: Id) -> Answer<Success<QuickActions>> {
    let agent = owned(&app, &caller, &id).await?;
    let seen = app.agents.look(&app.zones, &agent).await;
    let seen = seen.as_ref();
    let content = app.content();
    let nearby = seen.iter().flat_map(|seen| &seen.nearby);
    let carried = seen.iter().flat_map(|seen| &seen.inventory);
    let carried = carried.take(CARRIED_MAX);
    Ok(success(QuickActions {
        nearby_locations: nearby.map(NearbyLocation::from).collect(),
        available_goals: goals::available(&content, seen),
        quick_commands: commands(&content, seen),
        inventory: carried.map(CarriedItem::from).collect(),
        player_position: seen.and_then(|seen| {
            let at = seen.position?;
            Some((at.x, seen.y.into(), at.z))
        }),
        goals_paused: orders(&agent).paused,
        message: seen.is_none().then_some(NOT_THERE),
    }))
}

/// Returns the one-click commands of an agent. `POST …/message` takes each `command`.
#[allow(clippy::too_many_lines, reason = "a table")]
fn commands(content: &Content, seen: Option<&LookReply>) -> Vec<QuickCommand> {
    let bank = world::agents::templates(content).contains(&world::Goal::Bank);
    let items = seen.is_some_and(|seen| seen.takeable > 0);
    let always = None;
    let open = |goal: &str| seen.is_some_and(|seen| seen.available.iter().any(|g| g.id == goal));
    let work = |goal: &str| (!open(goal)).then_some("It has no tool for it, or finds nothing.");
    let table = [
        (
            "chop_tree",
            "Cut wood",
            "cut wood",
            "🪓",
            work("woodcutting"),
        ),
        ("mine_ore", "Mine ore", "mine ore", "⛏️", work("mining")),
        (
            "catch_fish",
            "Catch fish",
            "catch fish",
            "🎣",
            work("fishing"),
        ),
        (
            "attack_nearest",
            "Fight",
            "fight",
            "⚔️",
            (!open("fight")).then_some("There is no beast about that it is a match for."),
        ),
        (
            "pickup_items",
            "Pick up items",
            "pick up items",
            "🎒",
            (!items).then_some("Nothing lies about."),
        ),
        (
            "go_to_bank",
            "Go to the bank",
            "go to bank",
            "🏦",
            (!bank).then_some("There is no bank in this world."),
        ),
        ("explore", "Explore", "explore", "🧭", always),
        ("follow", "Follow me", "follow me", "👣", always),
        ("stop", "Stop", "stop", "🛑", always),
        ("idle", "Stand still", "idle", "💤", always),
    ];
    let rows = table
        .into_iter()
        .map(|(id, label, command, icon, why_not)| {
            let why_not = match seen {
                None => Some(NOT_THERE),
                Some(seen) if seen.played => Some("Somebody plays the character."),
                Some(_) => why_not,
            };
            QuickCommand {
                id,
                label,
                command,
                icon,
                available: why_not.is_none(),
                reason: why_not,
            }
        });
    rows.collect()
}

/// Something that an agent did.
#[derive(Debug, Serialize, JsonSchema)]
struct RecentAction {
    #[serde(rename = "type")]
    #[schemars(example = &"goal_started")]
    kind: String,
    #[schemars(example = &"See what is over there.")]
    description: String,
    timestamp: Option<Time>,
}

impl From<&AgentAction> for RecentAction {
    fn from(action: &AgentAction) -> Self {
        Self {
            kind: action.sort.clone(),
            description: action.description.clone(),
            timestamp: Time::unless_never(action.at_ms),
        }
    }
}

/// Sums over an agent's time in the world.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionStats {
    kills: u32,
    deaths: u32,
    total_xp_gained: f64,
    gold_earned: u64,
    /// By item.
    #[schemars(example = serde_json::json!({"logs": 3}))]
    resources_gathered: BTreeMap<String, u32>,
}

impl From<Tally> for SessionStats {
    fn from(tally: Tally) -> Self {
        Self {
            kills: tally.kills,
            deaths: tally.deaths,
            total_xp_gained: points(tally.xp_tenths),
            gold_earned: tally.gold,
            resources_gathered: tally.gathered.into_iter().collect(),
        }
    }
}

/// The past of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Activity {
    recent_actions: Vec<RecentAction>,
    session_stats: SessionStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = NOT_THERE)]
    message: Option<&'static str>,
}

async fn activity(Call { app, caller }: Call, id: Id) -> Answer<Success<Activity>> {
    let agent = owned(&app, &caller, &id).await?;
    let seen = app.agents.look(&app.zones, &agent).await;
    let actions = seen.iter().flat_map(|seen| &seen.recent_actions);
    let recent_actions = actions.map(RecentAction::from).collect();
    let message = seen.is_none().then_some(NOT_THERE);
    let tally = seen.and_then(|seen| seen.tally).unwrap_or_default();
    Ok(success(Activity {
        recent_actions,
        session_stats: tally.into(),
        message,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_done_now_is_offered() {
        let content = Content::embedded();
        let open = |seen: Option<&LookReply>| -> Vec<String> {
            let rows = commands(&content, seen).into_iter();
            let rows = rows.filter(|row| row.available);
            rows.map(|row| row.id.to_owned()).collect()
        };
        assert!(open(None).is_empty());
        let mut seen = LookReply::default();
        assert_eq!(
            open(Some(&seen)),
            ["go_to_bank", "explore", "follow", "stop", "idle"]
        );
        seen.takeable = 2;
        assert_eq!(open(Some(&seen))[0], "pickup_items");
        seen.available = vec![proto::rpc::agents::v1::AvailableGoal {
            id: "mining".to_owned(),
            ..Default::default()
        }];
        assert_eq!(open(Some(&seen))[0], "mine_ore");
        seen.available[0].id = "fight".to_owned();
        assert_eq!(open(Some(&seen))[0], "attack_nearest");
        seen.played = true;
        assert!(open(Some(&seen)).is_empty());
        let why = commands(&content, Some(&seen));
        assert!(why.iter().all(|row| row.reason.is_some()));
    }
}
