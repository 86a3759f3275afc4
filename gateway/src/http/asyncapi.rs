//! The protocol reference of `/ws`: an AsyncAPI 3.0 document, made in `proto` of the types that
//! are read and written; `docs/events.js` shows it.

use std::sync::LazyLock;

use axum::{http::HeaderMap, response::Response};
use proto::client::asyncapi;

use super::stored::{ASK, Stored};

static DOCUMENT: LazyLock<Stored> = LazyLock::new(|| {
    let text = asyncapi::document(env!("CARGO_PKG_VERSION")).to_string();
    Stored::new(text, "application/json", ASK).packed()
});

/// `GET /asyncapi.json`
pub(super) async fn document(headers: HeaderMap) -> Response {
    DOCUMENT.answer(&headers)
}
