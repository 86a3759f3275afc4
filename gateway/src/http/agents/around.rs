//! What an agent sees and has, what it may be told to do with one click, and what it did.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use proto::rpc::agents::v1::{Carried, LookReply, Tally};
use serde_json::{Value, json};
use world::Content;

use super::{goals, orders, owned};
use crate::{
    app::App,
    auth::caller::Caller,
    http::{
        ask::Id,
        problem::Problem,
        shapes::{points, time},
    },
};

/// Things of the pack that are shown.
const CARRIED_MAX: usize = 20;
const NOT_THERE: &str = "The agent is not in the world.";

/// `GET /api/agents/{agentId}/quick-actions`
pub(crate) async fn quick_actions(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let seen = app.agents.look(&app.zones, &agent).await;
    let content = app.content();
    let mut answer = json!({
        "success": true,
        "nearbyLocations": seen.iter().flat_map(|seen| &seen.nearby).map(|place| json!({
            "id": place.id,
            "name": place.name,
            "type": place.sort,
            "distance": place.distance,
        })).collect::<Value>(),
        "availableGoals": goals::available(&content, seen.as_ref()),
        "quickCommands": commands(&content, seen.as_ref()),
        "inventory": seen.iter().flat_map(|seen| &seen.inventory).take(CARRIED_MAX)
            .map(carried).collect::<Value>(),
        "playerPosition": seen.as_ref().and_then(|seen| {
            let at = seen.position?;
            Some(json!([at.x, seen.y, at.z]))
        }),
        "goalsPaused": orders(&agent).paused,
    });
    if seen.is_none() {
        answer["message"] = NOT_THERE.into();
    }
    Ok(Json(answer).into_response())
}

/// What may be said to it with one click: `command` is what `POST …/message` takes.
#[allow(clippy::too_many_lines, reason = "a table")]
fn commands(content: &Content, seen: Option<&LookReply>) -> Vec<Value> {
    let bank = world::agent::templates(content).contains(&world::Goal::Bank);
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
            let mut row = json!({
                "id": id,
                "label": label,
                "command": command,
                "icon": icon,
                "available": why_not.is_none(),
            });
            if let Some(why) = why_not {
                row["reason"] = why.into();
            }
            row
        });
    rows.collect()
}

fn carried(carried: &Carried) -> Value {
    json!({
        "id": carried.item_id,
        "name": carried.name,
        "slot": carried.slot,
        "quantity": carried.quantity,
        "canEquip": carried.can_equip,
        "canUse": carried.can_use,
        "canDrop": true,
    })
}

/// `GET /api/agents/{agentId}/activity`
pub(crate) async fn activity(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, Problem> {
    let agent = owned(&app, &caller, &id).await?;
    let seen = app.agents.look(&app.zones, &agent).await;
    let deeds = seen.iter().flat_map(|seen| &seen.deeds).map(|deed| {
        json!({
            "type": deed.sort,
            "description": deed.description,
            "timestamp": time(deed.at_ms),
        })
    });
    let tally = seen.as_ref().and_then(|seen| seen.tally.clone());
    let mut answer = json!({
        "success": true,
        "recentActions": deeds.collect::<Value>(),
        "sessionStats": stats(&tally.unwrap_or_default()),
    });
    if seen.is_none() {
        answer["message"] = NOT_THERE.into();
    }
    Ok(Json(answer).into_response())
}

fn stats(tally: &Tally) -> Value {
    json!({
        "kills": tally.kills,
        "deaths": tally.deaths,
        "totalXpGained": points(tally.xp_tenths),
        "goldEarned": tally.gold,
        "resourcesGathered": tally.gathered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_done_now_is_offered() {
        let content = Content::embedded();
        let open = |seen: Option<&LookReply>| -> Vec<String> {
            let rows = commands(&content, seen).into_iter();
            let rows = rows.filter(|row| row["available"] == true);
            rows.map(|row| row["id"].as_str().unwrap().to_owned())
                .collect()
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
        assert!(why.iter().all(|row| row["reason"].is_string()));
    }
}
