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
    ("layout.css", CSS, include_str!("../../page/layout.css")),
    ("pane.css", CSS, include_str!("../../page/pane.css")),
    ("phone.css", CSS, include_str!("../../page/phone.css")),
    ("side.css", CSS, include_str!("../../page/side.css")),
    ("style.css", CSS, include_str!("../../page/style.css")),
    ("main.js", SCRIPT, include_str!("../../page/main.js")),
    ("amount.js", SCRIPT, include_str!("../../page/amount.js")),
    ("armour.js", SCRIPT, include_str!("../../page/armour.js")),
    ("asking.js", SCRIPT, include_str!("../../page/asking.js")),
    ("bank.js", SCRIPT, include_str!("../../page/bank.js")),
    ("beings.js", SCRIPT, include_str!("../../page/beings.js")),
    ("combat.js", SCRIPT, include_str!("../../page/combat.js")),
    (
        "daylight.js",
        SCRIPT,
        include_str!("../../page/daylight.js"),
    ),
    ("death.js", SCRIPT, include_str!("../../page/death.js")),
    ("deeds.js", SCRIPT, include_str!("../../page/deeds.js")),
    (
        "dialogue.js",
        SCRIPT,
        include_str!("../../page/dialogue.js"),
    ),
    ("dom.js", SCRIPT, include_str!("../../page/dom.js")),
    ("draw.js", SCRIPT, include_str!("../../page/draw.js")),
    ("duel.js", SCRIPT, include_str!("../../page/duel.js")),
    ("errand.js", SCRIPT, include_str!("../../page/errand.js")),
    (
        "fixtures.js",
        SCRIPT,
        include_str!("../../page/fixtures.js"),
    ),
    ("friends.js", SCRIPT, include_str!("../../page/friends.js")),
    ("gear.js", SCRIPT, include_str!("../../page/gear.js")),
    ("goods.js", SCRIPT, include_str!("../../page/goods.js")),
    ("ground.js", SCRIPT, include_str!("../../page/ground.js")),
    ("hands.js", SCRIPT, include_str!("../../page/hands.js")),
    ("help.js", SCRIPT, include_str!("../../page/help.js")),
    ("hits.js", SCRIPT, include_str!("../../page/hits.js")),
    ("icons.js", SCRIPT, include_str!("../../page/icons.js")),
    ("labels.js", SCRIPT, include_str!("../../page/labels.js")),
    ("line.js", SCRIPT, include_str!("../../page/line.js")),
    ("litter.js", SCRIPT, include_str!("../../page/litter.js")),
    ("lore.js", SCRIPT, include_str!("../../page/lore.js")),
    ("make.js", SCRIPT, include_str!("../../page/make.js")),
    ("menu.js", SCRIPT, include_str!("../../page/menu.js")),
    ("minimap.js", SCRIPT, include_str!("../../page/minimap.js")),
    (
        "monsters.js",
        SCRIPT,
        include_str!("../../page/monsters.js"),
    ),
    ("net.js", SCRIPT, include_str!("../../page/net.js")),
    ("pack.js", SCRIPT, include_str!("../../page/pack.js")),
    ("pane.js", SCRIPT, include_str!("../../page/pane.js")),
    ("pen.js", SCRIPT, include_str!("../../page/pen.js")),
    ("prayer.js", SCRIPT, include_str!("../../page/prayer.js")),
    ("probe.js", SCRIPT, include_str!("../../page/probe.js")),
    ("quests.js", SCRIPT, include_str!("../../page/quests.js")),
    (
        "reconnect.js",
        SCRIPT,
        include_str!("../../page/reconnect.js"),
    ),
    ("roofs.js", SCRIPT, include_str!("../../page/roofs.js")),
    ("shop.js", SCRIPT, include_str!("../../page/shop.js")),
    ("side.js", SCRIPT, include_str!("../../page/side.js")),
    ("sight.js", SCRIPT, include_str!("../../page/sight.js")),
    ("skills.js", SCRIPT, include_str!("../../page/skills.js")),
    ("things.js", SCRIPT, include_str!("../../page/things.js")),
    ("tip.js", SCRIPT, include_str!("../../page/tip.js")),
    ("traces.js", SCRIPT, include_str!("../../page/traces.js")),
    ("trade.js", SCRIPT, include_str!("../../page/trade.js")),
    ("ui.js", SCRIPT, include_str!("../../page/ui.js")),
    ("walk.js", SCRIPT, include_str!("../../page/walk.js")),
    ("wares.js", SCRIPT, include_str!("../../page/wares.js")),
    ("words.js", SCRIPT, include_str!("../../page/words.js")),
    (
        "workplaces.js",
        SCRIPT,
        include_str!("../../page/workplaces.js"),
    ),
    ("world.js", SCRIPT, include_str!("../../page/world.js")),
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
