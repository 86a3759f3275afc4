//! The unlocks of levels, in words, for the skills panel.

use std::sync::Arc;

use axum::{extract::State, http::HeaderMap, response::Response};

use super::route::{Policy, Route};
use crate::{app::App, content::unlocks::Unlocks};

pub(super) fn routes() -> Vec<Route> {
    let summary = "What levels bring, for every skill";
    vec![
        Policy::Public
            .get("/api/data/skill-unlocks", summary, get)
            .about("Since 1.0. By level within a skill.")
            .json::<Unlocks>()
            .tagged(),
    ]
}

async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.served.shown.version().unlocks.answer(&headers)
}
