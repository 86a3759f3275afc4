//! The routes of agents, each with who may use it; in the singular and the plural, with the same
//! answers.

use axum::routing::{delete, get, post};

use super::{
    OWNERS, SPEAKERS, around, credentials, goals, message,
    register::{self, create, list, map, mapping, mappings, remove},
};
use crate::http::router::{Handler, Route, bearer};

/// All of them.
pub(in crate::http) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    macro_rules! add {
        ($scopes:expr, $rest:literal, $handler:expr) => {
            let handler: Handler = $handler;
            routes.push(bearer(
                concat!("/api/agent", $rest),
                $scopes,
                handler.clone(),
            ));
            routes.push(bearer(concat!("/api/agents", $rest), $scopes, handler));
        };
    }
    add!(SPEAKERS, "", get(list));
    add!(OWNERS, "", post(create));
    add!(
        OWNERS,
        "/credentials",
        get(credentials::list).post(credentials::create)
    );
    add!(OWNERS, "/credentials/{id}", delete(credentials::revoke));
    add!(OWNERS, "/mappings", post(map));
    add!(SPEAKERS, "/mappings/{id}", get(mappings));
    add!(OWNERS, "/mappings/{id}", delete(remove));
    add!(SPEAKERS, "/mapping/{agentId}", get(mapping));
    add!(SPEAKERS, "/{agentId}", get(register::get));
    add!(OWNERS, "/{agentId}", delete(remove));
    add!(OWNERS, "/{agentId}/start", post(register::start));
    add!(OWNERS, "/{agentId}/stop", post(register::stop));
    add!(
        SPEAKERS,
        "/{agentId}/goal",
        get(goals::get).post(goals::set)
    );
    add!(SPEAKERS, "/{agentId}/goal/stop", post(goals::stop));
    add!(SPEAKERS, "/{agentId}/goal/resume", post(goals::resume));
    add!(SPEAKERS, "/{agentId}/message", post(message::post));
    add!(
        SPEAKERS,
        "/{agentId}/quick-actions",
        get(around::quick_actions)
    );
    add!(SPEAKERS, "/{agentId}/activity", get(around::activity));
    routes
}
