//! The routes of players, characters, templates, the world, the hiscores and operators, each with
//! who may use it. Families are there in the singular and the plural, and answer the same.

use axum::routing::{MethodRouter, delete, get, patch, post, put};

use super::{
    admin, asyncapi,
    character::{self, ANYBODY},
    hiscores, moderation, openapi,
    player::{self, OWNERS, READERS},
    router::{Handler, Route, bearer, public, staff},
    switches, template, world,
};
use crate::auth::roles::Role;

/// All of them.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        bearer("/api/v1/player", READERS, get(player::whole)),
        bearer("/api/v1/player", OWNERS, post(player::put)),
        bearer("/api/v1/world", ANYBODY, get(world::get)),
        bearer("/api/v1/world/areas", ANYBODY, get(world::areas)),
        public("/hiscores", get(hiscores::total)),
        public("/hiscores/{skill}", get(hiscores::skill)),
        public("/openapi.json", get(openapi::document)),
        public("/asyncapi.json", get(asyncapi::document)),
        public("/docs", get(openapi::page)),
        public("/docs/docs.css", get(openapi::style)),
        public("/docs/docs.js", get(openapi::script)),
        public("/docs/events.js", get(openapi::events_script)),
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
    add!("/inventory", player::shows(player::inventory));
    add!("/equipment", player::shows(player::equipment));
    add!("/bank", player::shows(player::bank));
    add!("/statistics", player::shows(player::statistics));
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
    let admins = |path, handler: MethodRouter<_>| staff(path, Role::Admin, handler);
    let moderators = |path, handler: MethodRouter<_>| staff(path, Role::Moderator, handler);
    vec![
        admins("/admin/stats", get(admin::stats)),
        admins("/admin/users", get(admin::users)),
        admins("/admin/users/{id}", get(admin::user)),
        admins("/admin/users/{id}/roles", put(admin::give_roles)),
        admins("/admin/players/{id}", get(admin::player)),
        admins("/admin/sessions", get(admin::sessions)),
        admins("/admin/audit", get(admin::audit)),
        moderators(
            "/admin/moderation",
            get(moderation::list).post(moderation::act),
        ),
        moderators("/admin/moderation/log", get(moderation::log)),
        admins(
            "/admin/freeze",
            get(switches::is_frozen)
                .post(switches::freeze)
                .delete(switches::unfreeze),
        ),
        admins("/admin/zones", get(switches::zones)),
        admins("/admin/zones/{id}/drain", post(switches::drain)),
        admins("/admin/regions/resume", post(switches::resume)),
        admins("/admin/quarantine", get(switches::quarantine)),
        admins("/admin/quarantine/{id}", delete(switches::lift)),
    ]
}
