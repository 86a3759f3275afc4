//! The routes of players, characters, templates, the world, the hiscores and operators, each with
//! who may use it. Families are there in the singular and the plural, and answer the same.

use axum::routing::{MethodRouter, delete, get, patch, post};

use super::{
    admin::{self, OPERATORS},
    character::{self, ANYBODY},
    hiscores, moderation, openapi,
    player::{self, OWNERS, READERS},
    router::{Handler, Route, bearer, public},
    switches, template, world,
};

/// All of them.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        bearer("/api/v1/player", READERS, get(player::get)),
        bearer("/api/v1/player", OWNERS, post(player::put)),
        bearer("/api/v1/world", ANYBODY, get(world::get)),
        bearer("/api/v1/world/areas", ANYBODY, get(world::areas)),
        public("/hiscores", get(hiscores::total)),
        public("/hiscores/{skill}", get(hiscores::skill)),
        public("/openapi.json", get(openapi::document)),
        public("/docs", get(openapi::page)),
        public("/docs/docs.css", get(openapi::style)),
        public("/docs/docs.js", get(openapi::script)),
    ];
    routes.extend(characters());
    routes.extend(players());
    routes.extend(templates());
    routes.extend(operators());
    routes
}

/// A family under both its names.
macro_rules! both {
    ($routes:ident, $scopes:expr, $one:literal, $many:literal, $rest:literal, $handler:expr) => {
        let handler: Handler = $handler;
        $routes.push(bearer(concat!($one, $rest), $scopes, handler.clone()));
        $routes.push(bearer(concat!($many, $rest), $scopes, handler));
    };
}

fn characters() -> Vec<Route> {
    let mut routes = Vec::new();
    macro_rules! add {
        ($scopes:expr, $rest:literal, $handler:expr) => {
            both!(
                routes,
                $scopes,
                "/api/character",
                "/api/characters",
                $rest,
                $handler
            );
        };
    }
    add!(READERS, "", get(character::list));
    add!(OWNERS, "", post(character::create));
    add!(READERS, "/{id}", get(character::get));
    add!(
        OWNERS,
        "/{id}",
        patch(character::patch).delete(character::delete)
    );
    add!(ANYBODY, "/{id}/skills", get(character::skills));
    add!(ANYBODY, "/{id}/position", get(character::position));
    routes
}

fn players() -> Vec<Route> {
    let mut routes = Vec::new();
    macro_rules! add {
        ($rest:literal, $handler:expr) => {
            both!(
                routes,
                READERS,
                "/api/player",
                "/api/players",
                $rest,
                $handler
            );
        };
    }
    add!("", get(player::list));
    add!("/inventory", get(player::inventory));
    add!("/equipment", get(player::equipment));
    add!("/bank", get(player::bank));
    add!("/statistics", get(player::statistics));
    add!("/sessions", get(player::sessions));
    routes
}

fn templates() -> Vec<Route> {
    let mut routes = Vec::new();
    macro_rules! add {
        ($rest:literal, $handler:expr) => {
            both!(
                routes,
                ANYBODY,
                "/api/template",
                "/api/templates",
                $rest,
                $handler
            );
        };
    }
    add!("", get(template::list));
    add!("/{id}", get(template::get));
    add!("/{id}/config", get(template::config));
    routes
}

fn operators() -> Vec<Route> {
    let route = |path, handler: MethodRouter<_>| bearer(path, OPERATORS, handler);
    vec![
        route("/admin/stats", get(admin::stats)),
        route("/admin/users", get(admin::users)),
        route("/admin/users/{id}", get(admin::user)),
        route("/admin/players/{id}", get(admin::player)),
        route("/admin/sessions", get(admin::sessions)),
        route("/admin/audit", get(admin::audit)),
        route(
            "/admin/moderation",
            get(moderation::list).post(moderation::act),
        ),
        route("/admin/moderation/log", get(moderation::log)),
        route(
            "/admin/freeze",
            get(switches::is_frozen)
                .post(switches::freeze)
                .delete(switches::unfreeze),
        ),
        route("/admin/zones", get(switches::zones)),
        route("/admin/zones/{id}/drain", post(switches::drain)),
        route("/admin/regions/resume", post(switches::resume)),
        route("/admin/quarantine", get(switches::quarantine)),
        route("/admin/quarantine/{id}", delete(switches::lift)),
    ]
}
