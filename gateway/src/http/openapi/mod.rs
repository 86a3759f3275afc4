//! The OpenAPI 3.1 document of this gateway's routes, and the page that shows it.
//!
//! A route is added in `router.rs` or `families.rs`, and described in the file of its family
//! here, which [`operations`] lists. Tests hold both against each other, method by method, and
//! each example against its schema; `tests` hold real answers against it.
//!
//! Always: who may use a route, and what that leads to (401, 403, 429, 503), is said by the
//! route's own policy and never by its description.

#![allow(clippy::too_many_lines, reason = "descriptions, one after the other")]

mod accounts;
mod agents;
mod characters;
mod content;
mod describe;
mod operators;
mod places;
mod players;
mod probes;
pub(super) mod schema;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, HeaderValue, header::CONTENT_SECURITY_POLICY},
    response::Response,
};
use serde_json::{Map, Value, json};

use self::describe::Operation;
use super::{
    limited,
    problem::Code,
    router::{self, Policy},
    stored::{ASK, Stored},
};
use crate::limits::window::{AUTH, REST, REST_ADDRESS};

/// What the page may load: itself and the document.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
);

/// Every operation that is described.
fn operations() -> Vec<Operation> {
    [
        probes::operations(),
        content::operations(),
        accounts::operations(),
        players::operations(),
        characters::operations(),
        places::operations(),
        agents::operations(),
        operators::operations(),
    ]
    .concat()
}

/// The families, with what is said of each.
const TAGS: [(&str, &str); 8] = [
    ("probes", "How it is with this gateway."),
    ("content", "What clients load before they play."),
    (
        "accounts",
        "Tokens: how they are got, renewed and given up.",
    ),
    (
        "players",
        "The caller's own account and what its characters have.",
    ),
    (
        "characters",
        "The caller's characters, and templates to begin from.",
    ),
    ("world", "The world, its areas, and who is best at what."),
    ("agents", "Characters that act of their own accord."),
    (
        "operators",
        "What operators look at and switch; with an operator's token, or the role that it takes.",
    ),
];

static DOCUMENT: LazyLock<Stored> = LazyLock::new(|| {
    let text = built(&operations()).to_string();
    Stored::new(text, "application/json", ASK).packed()
});

static PAGE: LazyLock<Stored> = LazyLock::new(|| {
    let html = include_str!("../../../docs/index.html");
    Stored::new(html, "text/html; charset=utf-8", ASK).packed()
});

static STYLE: LazyLock<Stored> = LazyLock::new(|| {
    let css = include_str!("../../../docs/docs.css");
    Stored::new(css, "text/css; charset=utf-8", ASK).packed()
});

static SCRIPT: LazyLock<Stored> =
    LazyLock::new(|| script_of(include_str!("../../../docs/docs.js")));

static EVENTS_SCRIPT: LazyLock<Stored> =
    LazyLock::new(|| script_of(include_str!("../../../docs/events.js")));

fn script_of(text: &'static str) -> Stored {
    Stored::new(text, "text/javascript; charset=utf-8", ASK).packed()
}

/// Path as OpenAPI writes it: a parameter has no `*`.
fn template(path: &str) -> String {
    path.replace("{*", "{")
}

fn about() -> String {
    format!(
        "The HTTP interface of a Tilestead gateway. In any minute {} requests pass of an account, \
         or of an address that names none, and {} of all accounts at an address together; attempts \
         to say who one is, {} of an address. `RateLimit` tells how a client stands.",
        REST.most, REST_ADDRESS.most, AUTH.most
    )
}

/// The whole document.
fn built(operations: &[Operation]) -> Value {
    let routes = router::routes(true);
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let entry = paths
            .entry(template(operation.path))
            .or_insert_with(|| json!({}));
        let policy = routes
            .iter()
            .find(|route| route.path == operation.path)
            .map_or(Policy::Public, |route| route.policy);
        let counted = limited::counts(operation.path);
        let mut written = operation.written(policy, counted);
        show_real_answers(&mut written, operation);
        entry[operation.method] = written;
    }
    let tags = TAGS.map(|(name, description)| json!({"name": name, "description": description}));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tilestead",
            "version": env!("CARGO_PKG_VERSION"),
            "description": about(),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": problem()},
            "responses": describe::shared(),
        },
    })
}

/// Answers of a real gateway, by method, path and status. Nobody writes them by hand: the test
/// `the_examples_of_the_document_are_real_answers` records them, and holds them to what is
/// answered. What a description says as its example is shown where none is recorded.
static ANSWERS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let text = include_str!("answers.json");
    serde_json::from_str(text).unwrap_or_default()
});

/// Puts the recorded answers in the place of the examples.
fn show_real_answers(written: &mut Value, operation: &Operation) {
    let path = singular(&template(operation.path));
    let responses = written["responses"].as_object_mut();
    for (status, response) in responses.into_iter().flatten() {
        let key = format!("{} {path} {status}", operation.method);
        if let Some(answer) = ANSWERS.get(&key) {
            response["content"]["application/json"]["example"] = answer.clone();
        }
    }
}

/// The first name of a family that has two, with the same answers.
fn singular(path: &str) -> String {
    for family in [
        "/api/agent",
        "/api/character",
        "/api/player",
        "/api/template",
    ] {
        let rest = path
            .strip_prefix(family)
            .and_then(|rest| rest.strip_prefix('s'));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            return format!("{family}{rest}");
        }
    }
    path.to_owned()
}

/// The shape of every error.
fn problem() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "instance", "code", "error"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "instance": {"type": "string"},
            "code": {"type": "string", "enum": codes},
            "error": {"type": "string", "description": "The detail again."},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["pointer", "detail"],
                    "properties": {
                        "pointer": {"type": "string"},
                        "detail": {"type": "string"},
                    },
                },
            },
        },
    })
}

/// `GET /openapi.json`
pub(super) async fn document(headers: HeaderMap) -> Response {
    DOCUMENT.answer(&headers)
}

/// `GET /docs`
pub(super) async fn page(headers: HeaderMap) -> Response {
    let mut response = PAGE.answer(&headers);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    response
}

/// `GET /docs/docs.css`
pub(super) async fn style(headers: HeaderMap) -> Response {
    STYLE.answer(&headers)
}

/// `GET /docs/docs.js`
pub(super) async fn script(headers: HeaderMap) -> Response {
    SCRIPT.answer(&headers)
}

/// `GET /docs/events.js`
pub(super) async fn events_script(headers: HeaderMap) -> Response {
    EVENTS_SCRIPT.answer(&headers)
}
