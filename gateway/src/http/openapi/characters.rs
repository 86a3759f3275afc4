//! `/api/character/*` and `/api/template/*`.

use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    players::{ann, name},
    schema::{
        flag, list, object, or_null, position, record, skills, summary, text, time, with, yes,
    },
};

const TAG: &str = "characters";
const ID: &str = "0199c3a0-0000-7000-8000-000000000001";

pub(super) fn operations() -> Vec<Operation> {
    [all(), one(), shown(), templates()].concat()
}

fn all() -> Vec<Operation> {
    let made = object([("success", yes()), ("character", summary())]);
    let list_all = op("get", "/api/character", TAG, "The caller's characters")
        .answers(
            200,
            object([("success", yes()), ("characters", list(summary()))]),
            json!({"success": true, "characters": [ann()]}),
        )
        .or("/api/characters");
    let create = op("post", "/api/character", TAG, "Makes a character")
        .body(object([("name", name())]), json!({"name": "Ann"}))
        .answers(201, made, json!({"success": true, "character": ann()}))
        .problems(&[404, 409])
        .or("/api/characters");
    [list_all, create].concat()
}

/// An operation on one character, under both names of the family.
fn of_one(
    method: &'static str,
    paths: [&'static str; 2],
    summary: &'static str,
    describe: impl Fn(Operation) -> Operation,
) -> Vec<Operation> {
    let operation = op(method, paths[0], TAG, summary)
        .path("id", "The character.", ID)
        .problems(&[404]);
    describe(operation).or(paths[1])
}

fn one() -> Vec<Operation> {
    let paths = ["/api/character/{id}", "/api/characters/{id}"];
    let get = of_one(
        "get",
        paths,
        "One of the caller's characters",
        |operation| {
            operation.gives(
                200,
                "application/json",
                object([
                    ("success", yes()),
                    ("character", record()),
                    ("skills", skills()),
                ]),
            )
        },
    );
    let mut wish = with(
        [],
        [("name", or_null(name())), ("isAgent", or_null(flag()))],
    );
    wish["minProperties"] = 1.into();
    let patch = of_one(
        "patch",
        paths,
        "Changes a character that is not in the world",
        |operation| {
            operation
                .body(wish.clone(), json!({"name": "Anna"}))
                .answers(
                    200,
                    object([("success", yes()), ("character", summary())]),
                    json!({"success": true, "character": ann()}),
                )
                .problems(&[409])
        },
    );
    let delete = of_one(
        "delete",
        paths,
        "Removes a character that is not in the world",
        |operation| {
            operation
                .answers(
                    200,
                    object([("success", yes()), ("message", text())]),
                    json!({"success": true, "message": "The character is gone."}),
                )
                .problems(&[409])
        },
    );
    [get, patch, delete].concat()
}

fn shown() -> Vec<Operation> {
    let paths = ["/api/character/{id}/skills", "/api/characters/{id}/skills"];
    let levels = of_one(
        "get",
        paths,
        "Levels and experience of any character",
        |operation| {
            operation.answers(
                200,
                object([("success", yes()), ("skills", skills())]),
                json!({"success": true, "skills": {"attack": {"level": 1, "xp": 0.0}}}),
            )
        },
    );
    let paths = [
        "/api/character/{id}/position",
        "/api/characters/{id}/position",
    ];
    let place = of_one(
        "get",
        paths,
        "Where one of the caller's characters is",
        |operation| {
            operation
            .about("Where it stood last while it is not in the world; null: it never was.")
            .answers(
                200,
                object([
                    ("success", yes()),
                    ("online", flag()),
                    ("position", or_null(position())),
                ]),
                json!({"success": true, "online": true, "position": {"x": 7, "y": 0.0, "z": -3}}),
            )
        },
    );
    [levels, place].concat()
}

fn template() -> [(&'static str, Value); 6] {
    [
        ("id", text()),
        ("name", text()),
        ("description", text()),
        ("emoji", text()),
        ("createdAt", or_null(time())),
        ("templateUrl", text()),
    ]
}

fn templates() -> Vec<Operation> {
    let any = json!({"type": "object"});
    let shown = json!({
        "id": "wayfarer",
        "name": "Wayfarer",
        "description": "Walks the roads from end to end.",
        "emoji": "🥾",
        "createdAt": "2026-01-05T00:00:00.000Z",
        "templateUrl": "/api/templates/wayfarer/config",
    });
    let list_all = op("get", "/api/template", TAG, "Templates to begin from")
        .answers(
            200,
            object([("success", yes()), ("templates", list(object(template())))]),
            json!({"success": true, "templates": [shown.clone()]}),
        )
        .or("/api/templates");
    let full = with(template(), [("templateConfig", any.clone())]);
    let get = op("get", "/api/template/{id}", TAG, "One template")
        .path("id", "The template.", "wayfarer")
        .answers(
            200,
            object([("success", yes()), ("template", full)]),
            json!({"success": true, "template": shown}),
        )
        .problems(&[404])
        .or("/api/templates/{id}");
    let config = op(
        "get",
        "/api/template/{id}/config",
        TAG,
        "A template's configuration itself",
    )
    .path("id", "The template.", "wayfarer")
    .answers(200, any, json!({"name": "Wayfarer"}))
    .problems(&[404])
    .or("/api/templates/{id}/config");
    [list_all, get, config].concat()
}
