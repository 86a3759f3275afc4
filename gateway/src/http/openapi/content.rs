//! What clients load before they play.

use delivery::Source;
use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    schema::{by_name, from_to, list, object, one_of, text},
};

/// The version of the content, as `/status` says it.
pub(super) fn version() -> Value {
    object([
        ("version", text()),
        ("source", one_of(&Source::ALL.map(Source::name))),
        ("zones", list(text())),
    ])
}

/// What levels bring, by skill.
fn unlocks() -> Value {
    let kinds = ["item", "ability", "area", "quest", "activity"];
    by_name(list(object([
        ("level", from_to(1, 99)),
        ("description", text()),
        ("type", one_of(&kinds)),
    ])))
}

pub(super) fn operations() -> Vec<Operation> {
    let any = || json!({});
    vec![
        op(
            "get",
            "/",
            "content",
            "The page: the frontend where there is one, else a small client",
        )
        .gives(200, "text/html", text())
        .tagged(),
        op(
            "get",
            "/page/{*name}",
            "content",
            "A file of the small client",
        )
        .path("name", "The file.", "main.js")
        .gives(200, "text/*", text())
        .tagged()
        .problems(&[404]),
        op(
            "get",
            "/env.js",
            "content",
            "What a page may know of the configuration",
        )
        .gives(200, "text/javascript", text())
        .tagged(),
        op(
            "get",
            "/manifests/{*path}",
            "content",
            "A manifest of the content",
        )
        .path("path", "Its path, with folders.", "npcs.json")
        .gives(200, "application/json", any())
        .tagged()
        .problems(&[404]),
        op(
            "get",
            "/api/data/skill-unlocks",
            "content",
            "What levels bring, for every skill",
        )
        .about("Since 1.0. By level within a skill.")
        .answers(
            200,
            unlocks(),
            json!({"mining": [
                {"level": 1, "description": "Copper and tin", "type": "item"},
            ]}),
        )
        .tagged(),
        op(
            "get",
            "/world/terrain.json",
            "content",
            "The land as a whole",
        )
        .gives(200, "application/json", any())
        .tagged(),
        op(
            "get",
            "/world/terrain/{x}/{z}",
            "content",
            "The land of a region",
        )
        .path("x", "East, in regions.", "0")
        .path("z", "North, in regions.", "0")
        .gives(200, "application/octet-stream", json!({}))
        .tagged()
        .problems(&[404]),
        op("get", "/openapi.json", "content", "This document")
            .gives(200, "application/json", any())
            .tagged(),
        op(
            "get",
            "/asyncapi.json",
            "content",
            "The events of the WebSocket",
        )
        .about("An AsyncAPI 3.0 document: every event in both directions, and every code.")
        .gives(200, "application/json", any())
        .tagged(),
        op("get", "/docs", "content", "Both documents, to be read")
            .gives(200, "text/html", text())
            .tagged(),
        op("get", "/docs/docs.css", "content", "How it looks")
            .gives(200, "text/css", text())
            .tagged(),
        op("get", "/docs/docs.js", "content", "What shows it")
            .gives(200, "text/javascript", text())
            .tagged(),
        op("get", "/docs/events.js", "content", "What shows the events")
            .gives(200, "text/javascript", text())
            .tagged(),
        op("get", "/ws", "content", "The WebSocket of the game")
            .about(
                "`tilestead.json` (default) or `tilestead.msgpack` as the subprotocol; the events \
                 are described in /asyncapi.json.",
            )
            .empty(101, "The connection is a WebSocket from here on.")
            .empty(426, "A problem document: this is a WebSocket.")
            .problems(&[400, 429, 503]),
    ]
}
