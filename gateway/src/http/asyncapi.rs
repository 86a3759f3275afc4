//! The protocol reference of `/ws`: an AsyncAPI 3.0 document, which `proto` makes of the messages'
//! types; `docs/events.js` shows it.

use std::sync::LazyLock;

use axum::{http::HeaderMap, response::Response};
use proto::client::asyncapi;

use super::{
    route::{Policy, Route},
    stored::{ASK, Stored},
};

pub(super) fn routes() -> Vec<Route> {
    let summary = "The events of the WebSocket";
    vec![
        Policy::Public
            .get("/asyncapi.json", summary, document)
            .about("An AsyncAPI 3.0 document: every event in both directions, and every code.")
            .json::<serde_json::Value>()
            .tagged(),
    ]
}

static DOCUMENT: LazyLock<Stored> = LazyLock::new(|| {
    let text = asyncapi::document(env!("CARGO_PKG_VERSION")).to_string();
    Stored::new(text, "application/json", ASK).packed()
});

async fn document(headers: HeaderMap) -> Response {
    DOCUMENT.answer(&headers)
}
