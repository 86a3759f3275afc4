//! `/api/agent/*` and `/api/agents/*`: both names of the family, with the same answers.

use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    schema::{
        count, flag, integer, list, number, object, one_of, open, or_null, text, time, with, word,
        yes,
    },
};

const TAG: &str = "agents";
const AGENT: &str = "0199c3a0-0000-7000-8000-00000000000a";
const ID: &str = "0199c3a0-0000-7000-8000-000000000001";
const ACCOUNT: &str = "0199c3a0-0000-7000-8000-000000000000";

pub(super) fn operations() -> Vec<Operation> {
    [
        registered(),
        mappings(),
        credentials(),
        lives(),
        goals(),
        around(),
    ]
    .concat()
}

/// One operation under both names. `rest` is what follows the family's name.
macro_rules! both {
    ($method:literal, $rest:literal, $summary:literal, $describe:expr) => {{
        let describe: fn(Operation) -> Operation = $describe;
        let one = op($method, concat!("/api/agent", $rest), TAG, $summary);
        describe(one).or(concat!("/api/agents", $rest))
    }};
}

/// The agent that is meant.
fn of_agent(operation: Operation) -> Operation {
    operation
        .path("agentId", "The agent.", AGENT)
        .problems(&[404])
}

fn agent() -> Value {
    object([
        ("id", text()),
        ("name", text()),
        ("status", one_of(&["active", "inactive"])),
        (
            "character",
            object([
                ("name", text()),
                (
                    "settings",
                    object([("accountId", text()), ("characterId", text())]),
                ),
            ]),
        ),
        ("characterId", text()),
        ("online", flag()),
        ("resting", flag()),
        ("goalsPaused", flag()),
        ("createdAt", or_null(time())),
        ("updatedAt", or_null(time())),
    ])
}

fn wren() -> Value {
    json!({
        "id": AGENT,
        "name": "Wren",
        "status": "active",
        "character": {"name": "Ann", "settings": {"accountId": ACCOUNT, "characterId": ID}},
        "characterId": ID,
        "online": true,
        "resting": false,
        "goalsPaused": false,
        "createdAt": "2026-11-21T16:00:00.000Z",
        "updatedAt": "2026-11-21T16:00:00.000Z",
    })
}

/// `{success, data: {agent}}`
fn one() -> (Value, Value) {
    let data = object([("agent", agent())]);
    let shape = object([("success", yes()), ("data", data)]);
    (shape, json!({"success": true, "data": {"agent": wren()}}))
}

/// `{success, message}`
fn told() -> (Value, Value) {
    let shape = object([("success", yes()), ("message", text())]);
    (shape, json!({"success": true, "message": "Done."}))
}

/// What makes an agent.
fn make() -> Value {
    let settings = open(with(
        [("characterId", word())],
        [("accountId", or_null(text()))],
    ));
    let character = open(with([("settings", settings)], [("name", or_null(text()))]));
    let mut shape = open(with(
        [],
        [
            ("characterId", or_null(word())),
            ("agentId", or_null(text())),
            ("agentName", or_null(text())),
            ("accountId", or_null(text())),
            ("characterJson", or_null(character)),
        ],
    ));
    shape["anyOf"] = json!([{"required": ["characterId"]}, {"required": ["characterJson"]}]);
    shape
}

fn registered() -> Vec<Operation> {
    let all = both!("get", "", "The caller's agents", |operation| {
        let data = object([("agents", list(agent()))]);
        operation
            .query("accountId", "The caller's own account.", text())
            .answers(
                200,
                object([("success", yes()), ("data", data)]),
                json!({"success": true, "data": {"agents": [wren()]}}),
            )
    });
    let create = both!(
        "post",
        "",
        "Makes a character of the caller's an agent",
        |operation| {
            let (shape, example) = one();
            operation
                .body(make(), json!({"characterId": ID, "agentName": "Wren"}))
                .answers(201, shape, example)
                .problems(&[404, 409])
        }
    );
    let get = both!("get", "/{agentId}", "One agent", |operation| {
        let (shape, example) = one();
        of_agent(operation).answers(200, shape, example)
    });
    let remove = both!(
        "delete",
        "/{agentId}",
        "The character is an agent no more",
        |operation| {
            let (shape, example) = told();
            of_agent(operation).answers(200, shape, example)
        }
    );
    [all, create, get, remove].concat()
}

fn mappings() -> Vec<Operation> {
    let map = both!(
        "post",
        "/mappings",
        "Makes a character an agent, or renames it",
        |operation| {
            let shape = object([("success", yes()), ("agentId", text()), ("message", text())]);
            let example =
                json!({"success": true, "agentId": AGENT, "message": "Ann is an agent now."});
            operation
                .body(make(), json!({"characterId": ID, "agentName": "Wren"}))
                .answers(200, shape, example)
                .problems(&[404, 409])
        }
    );
    let all = both!(
        "get",
        "/mappings/{id}",
        "The agents of the caller's account",
        |operation| {
            let ids = object([
                ("success", yes()),
                ("agentIds", list(text())),
                ("count", count()),
            ]);
            operation
                .path("id", "The account.", ACCOUNT)
                .answers(
                    200,
                    ids,
                    json!({"success": true, "agentIds": [AGENT], "count": 1}),
                )
                .problems(&[404])
        }
    );
    let remove = both!(
        "delete",
        "/mappings/{id}",
        "The character is an agent no more",
        |operation| {
            let (shape, example) = told();
            operation
                .path("id", "The agent.", AGENT)
                .answers(200, shape, example)
                .problems(&[404])
        }
    );
    let mapping = both!(
        "get",
        "/mapping/{agentId}",
        "Which character an agent is",
        |operation| {
            let shape = object([
                ("success", yes()),
                ("agentId", text()),
                ("characterId", text()),
                ("accountId", text()),
                ("agentName", text()),
            ]);
            let example = json!({
                "success": true, "agentId": AGENT, "characterId": ID, "accountId": ACCOUNT,
                "agentName": "Wren",
            });
            of_agent(operation).answers(200, shape, example)
        }
    );
    [map, all, remove, mapping].concat()
}

fn credential() -> [(&'static str, Value); 5] {
    [
        ("credentialId", text()),
        ("agentId", text()),
        ("characterId", text()),
        ("createdAt", or_null(time())),
        ("expiresAt", or_null(time())),
    ]
}

fn key() -> Value {
    json!({
        "credentialId": "5f3a",
        "agentId": AGENT,
        "characterId": ID,
        "createdAt": "2026-11-21T16:00:00.000Z",
        "expiresAt": "2026-11-22T04:00:00.000Z",
    })
}

fn credentials() -> Vec<Operation> {
    let create = both!(
        "post",
        "/credentials",
        "A token for one agent",
        |operation| {
            let asked = with(
                [],
                [
                    ("characterId", or_null(text())),
                    ("agentId", or_null(text())),
                    ("accountId", or_null(text())),
                ],
            );
            let mut asked = open(asked);
            asked["anyOf"] = json!([{"required": ["characterId"]}, {"required": ["agentId"]}]);
            let mut shape = object(credential());
            shape["properties"]["success"] = yes();
            shape["properties"]["authToken"] = text();
            shape["properties"]["serverUrl"] = or_null(text());
            shape["properties"]["message"] = text();
            let mut example = key();
            example["success"] = true.into();
            example["authToken"] = "eyJ…".into();
            example["serverUrl"] = "ws://localhost:5555/ws".into();
            example["message"] = "Keep the token: it is shown this once.".into();
            operation
                .body(asked, json!({"agentId": AGENT}))
                .answers(201, shape, example)
                .problems(&[404, 409])
        }
    );
    let all = both!(
        "get",
        "/credentials",
        "Tokens that are still good",
        |operation| {
            let shape = object([
                ("success", yes()),
                ("credentials", list(object(credential()))),
            ]);
            operation.answers(200, shape, json!({"success": true, "credentials": [key()]}))
        }
    );
    let revoke = both!(
        "delete",
        "/credentials/{id}",
        "Ends a token at once",
        |operation| {
            let (shape, example) = told();
            operation
                .path("id", "The token's id.", "5f3a")
                .answers(200, shape, example)
                .problems(&[404])
        }
    );
    [create, all, revoke].concat()
}

fn lives() -> Vec<Operation> {
    let live = |operation: Operation| {
        let (shape, example) = one();
        of_agent(operation)
            .answers(200, shape, example)
            .problems(&[409])
    };
    let summary = "The agent lives in the world while nobody plays it";
    let start = live(op("post", "/api/agent/{agentId}/start", TAG, summary));
    let summary = "The agent leaves the world";
    let stop = live(op("post", "/api/agent/{agentId}/stop", TAG, summary));
    let start = start.or("/api/agents/{agentId}/start");
    [start, stop.or("/api/agents/{agentId}/stop")].concat()
}

fn place() -> Value {
    list(integer())
}

fn goal() -> Value {
    with(
        [
            ("id", text()),
            ("type", text()),
            ("description", text()),
            ("progress", count()),
            ("target", count()),
            ("progressPercent", count()),
            ("startedAt", or_null(time())),
            ("elapsedMs", count()),
            ("locked", flag()),
            ("lockedBy", one_of(&["autonomous", "manual"])),
        ],
        [("location", place())],
    )
}

fn available() -> Value {
    let goal = with(
        [
            ("id", text()),
            ("type", text()),
            ("description", text()),
            ("priority", number()),
            ("reason", text()),
        ],
        [("location", place())],
    );
    list(goal)
}

/// The goal control response of the specification.
fn control() -> (Value, Value) {
    let shape = with(
        [
            ("success", yes()),
            ("goal", or_null(goal())),
            ("goalsPaused", flag()),
            ("availableGoals", available()),
        ],
        [("message", text())],
    );
    let example = json!({
        "success": true,
        "goal": null,
        "goalsPaused": true,
        "availableGoals": [{
            "id": "explore", "type": "exploration", "description": "See what is over there.",
            "priority": 10, "reason": "It can be done in this world",
        }],
    });
    (shape, example)
}

fn goals() -> Vec<Operation> {
    let get = both!(
        "get",
        "/{agentId}/goal",
        "What the agent is after",
        |operation| {
            let (shape, example) = control();
            of_agent(operation).answers(200, shape, example)
        }
    );
    let set = both!(
        "post",
        "/{agentId}/goal",
        "Sets a goal, and ends a pause",
        |operation| {
            let (shape, example) = control();
            let body = open(object([("goalId", text())]));
            of_agent(operation)
                .body(body, json!({"goalId": "explore"}))
                .answers(200, shape, example)
                .problems(&[409])
        }
    );
    let stop = both!(
        "post",
        "/{agentId}/goal/stop",
        "Stops, and pauses goals",
        |operation| {
            let (shape, example) = control();
            of_agent(operation)
                .answers(200, shape, example)
                .problems(&[409])
        }
    );
    let resume = both!(
        "post",
        "/{agentId}/goal/resume",
        "Goals go on",
        |operation| {
            let (shape, example) = control();
            of_agent(operation)
                .answers(200, shape, example)
                .problems(&[409])
        }
    );
    [get, set, stop, resume].concat()
}

fn around() -> Vec<Operation> {
    let say = both!(
        "post",
        "/{agentId}/message",
        "Says something to the agent",
        |operation| {
            let shape = with(
                [
                    ("success", yes()),
                    ("message", text()),
                    ("delivered", flag()),
                    ("understood", or_null(text())),
                ],
                [("commands", list(text()))],
            );
            let example = json!({
                "success": true, "message": "The agent does so.", "delivered": true,
                "understood": "explore",
            });
            of_agent(operation)
                .body(
                    open(object([("content", text())])),
                    json!({"content": "explore"}),
                )
                .answers(200, shape, example)
                .problems(&[409])
        }
    );
    let activity = both!(
        "get",
        "/{agentId}/activity",
        "What the agent did lately",
        |operation| {
            let deed = object([
                ("type", text()),
                ("description", text()),
                ("timestamp", or_null(time())),
            ]);
            let stats = object([
                ("kills", count()),
                ("deaths", count()),
                ("totalXpGained", number()),
                ("goldEarned", number()),
                ("resourcesGathered", json!({"type": "object"})),
            ]);
            let shape = with(
                [
                    ("success", yes()),
                    ("recentActions", list(deed)),
                    ("sessionStats", stats),
                ],
                [("message", text())],
            );
            let example = json!({
                "success": true,
                "recentActions": [],
                "sessionStats": {
                    "kills": 0, "deaths": 0, "totalXpGained": 0.0, "goldEarned": 0,
                    "resourcesGathered": {},
                },
            });
            of_agent(operation).answers(200, shape, example)
        }
    );
    [say, activity, quick_actions()].concat()
}

fn quick_actions() -> Vec<Operation> {
    both!(
        "get",
        "/{agentId}/quick-actions",
        "What the agent may be told with one click",
        |operation| {
            let nearby = object([
                ("id", text()),
                ("name", text()),
                ("type", text()),
                ("distance", number()),
            ]);
            let command = with(
                [
                    ("id", text()),
                    ("label", text()),
                    ("command", text()),
                    ("icon", text()),
                    ("available", flag()),
                ],
                [("reason", text())],
            );
            let carried = object([
                ("id", text()),
                ("name", text()),
                ("slot", count()),
                ("quantity", count()),
                ("canEquip", flag()),
                ("canUse", flag()),
                ("canDrop", flag()),
            ]);
            let shape = with(
                [
                    ("success", yes()),
                    ("nearbyLocations", list(nearby)),
                    ("availableGoals", available()),
                    ("quickCommands", list(command)),
                    ("inventory", list(carried)),
                    ("playerPosition", or_null(list(number()))),
                    ("goalsPaused", flag()),
                ],
                [("message", text())],
            );
            let example = json!({
                "success": true, "nearbyLocations": [], "availableGoals": [],
                "quickCommands": [{
                    "id": "explore", "label": "Explore", "command": "explore", "icon": "🧭",
                    "available": true,
                }],
                "inventory": [], "playerPosition": [7, 0.0, -3], "goalsPaused": false,
            });
            of_agent(operation).answers(200, shape, example)
        }
    )
}
