//! The page that ships, a small client, and the operators' console; both are embedded.
//!
//! Always: its index asks for one script and one style sheet, which `build.rs` makes of the
//! modules and the sheets. The gateway serves these by their own names as well.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};

use super::{
    problem::{Code, Problem},
    route::{Policy, Route},
    stored::{ASK, Stored},
};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    let first = "The page: the frontend where there is one, else a small client";
    vec![
        Policy::Public
            .get("/", first, index)
            .uncounted()
            .text("text/html")
            .tagged(),
        Policy::Public
            .get("/page/{*name}", "A file of the small client", get)
            .uncounted()
            .path("The file.", "main.js")
            .text("text/*")
            .tagged()
            .problems(&[Code::NotFound]),
        Policy::Public
            .get("/console", "The operators' console", console)
            .uncounted()
            .text("text/html")
            .tagged(),
    ]
}

/// A file's name, its text, and the text by gzip and by brotli.
type Packed = (&'static str, &'static [u8], &'static [u8], &'static [u8]);

/// The files that `build.rs` packed.
const FILES: &[Packed] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

static STORED: LazyLock<BTreeMap<&str, Stored>> = LazyLock::new(|| {
    let stored = FILES.iter().map(|(name, text, gzip, brotli)| {
        let stored = Stored::new(*text, kind(name), ASK).built(gzip, brotli);
        (*name, stored)
    });
    stored.collect()
});

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        _ => "text/html; charset=utf-8",
    }
}

/// Returns the frontend's index where there is one, else the page that ships.
async fn index(State(app): State<Arc<App>>, headers: HeaderMap, uri: Uri) -> Response {
    let frontend = app.served.frontend.index(&headers);
    frontend.unwrap_or_else(|| file(&app, "index.html", &headers, &uri))
}

/// Returns the console, which asks for a login and then for what the account's role may read.
async fn console(State(app): State<Arc<App>>, headers: HeaderMap, uri: Uri) -> Response {
    match STORED.get("console/index.html") {
        Some(stored) => app.served.frontend.console_page(stored.answer(&headers)),
        None => Problem::not_found(&uri).into_response(),
    }
}

async fn get(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    match path {
        Ok(Path(name)) => file(&app, &name, &headers, &uri),
        Err(_) => Problem::not_found(&uri).into_response(),
    }
}

fn file(app: &App, name: &str, headers: &HeaderMap, uri: &Uri) -> Response {
    match STORED.get(name) {
        Some(stored) => app.served.frontend.own_page(stored.answer(headers)),
        None => Problem::not_found(uri).into_response(),
    }
}
