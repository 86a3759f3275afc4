//! The page that ships: a small client, embedded.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};

use super::{
    problem::Problem,
    stored::{ASK, Stored},
};
use crate::app::App;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of the page: name, type, text. The first one is `/`.
const FILES: &[(&str, &str, &str)] = &[
    ("index.html", HTML, include_str!("../../page/index.html")),
    ("style.css", CSS, include_str!("../../page/style.css")),
    ("pack.css", CSS, include_str!("../../page/pack.css")),
    ("gear.css", CSS, include_str!("../../page/gear.css")),
    ("main.js", SCRIPT, include_str!("../../page/main.js")),
    ("net.js", SCRIPT, include_str!("../../page/net.js")),
    ("line.js", SCRIPT, include_str!("../../page/line.js")),
    (
        "reconnect.js",
        SCRIPT,
        include_str!("../../page/reconnect.js"),
    ),
    ("hands.js", SCRIPT, include_str!("../../page/hands.js")),
    ("words.js", SCRIPT, include_str!("../../page/words.js")),
    ("pack.js", SCRIPT, include_str!("../../page/pack.js")),
    ("gear.js", SCRIPT, include_str!("../../page/gear.js")),
    ("bank.js", SCRIPT, include_str!("../../page/bank.js")),
    ("things.js", SCRIPT, include_str!("../../page/things.js")),
    ("world.js", SCRIPT, include_str!("../../page/world.js")),
    ("draw.js", SCRIPT, include_str!("../../page/draw.js")),
    ("ground.js", SCRIPT, include_str!("../../page/ground.js")),
    ("litter.js", SCRIPT, include_str!("../../page/litter.js")),
    ("pen.js", SCRIPT, include_str!("../../page/pen.js")),
    ("beings.js", SCRIPT, include_str!("../../page/beings.js")),
    (
        "fixtures.js",
        SCRIPT,
        include_str!("../../page/fixtures.js"),
    ),
    ("ui.js", SCRIPT, include_str!("../../page/ui.js")),
    ("walk.js", SCRIPT, include_str!("../../page/walk.js")),
    ("minimap.js", SCRIPT, include_str!("../../page/minimap.js")),
];

/// The frontend's index where there is one, else the page that ships.
pub(super) async fn index(State(app): State<Arc<App>>, headers: HeaderMap, uri: Uri) -> Response {
    let frontend = app.frontend.index(&headers);
    frontend.unwrap_or_else(|| file(&app, "index.html", &headers, &uri))
}

pub(super) async fn get(
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
    let Some((_, kind, text)) = FILES.iter().find(|(known, _, _)| *known == name) else {
        return Problem::not_found(uri).into_response();
    };
    let answer = Stored::new(*text, kind, ASK).answer(headers);
    app.frontend.own_page(answer)
}
