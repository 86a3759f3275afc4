//! The list of routes, and the guard that each has by its policy.
//!
//! Always: each refusal is a problem document.

use std::sync::{Arc, LazyLock};

use axum::{
    Router,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header::RETRY_AFTER,
        request::Parts,
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use service_runtime::telemetry::sampled;
use tokio::sync::OwnedSemaphorePermit;
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};

use super::{
    account,
    address::Peer,
    admin, agents, asyncapi, auth,
    body::Asker,
    chaos, character, cors, docs, env_js, hiscores, host,
    limited::{self, Counted, Over},
    manifests, moderation, observed, openapi, page, password, player, probes,
    problem::{self, Problem},
    processes, profile, recording,
    route::{Family, Policy, Route},
    settings, skill_unlocks,
    stored::Stored,
    switches, teleport, template, terrain, upgrade, voice, world,
};
use crate::{
    app::App,
    auth::{
        admission,
        caller::{self, Caller, Denied},
        roles,
    },
};

/// Every route, by family.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "probes",
        about: "How it is with this gateway.",
        routes: &[probes::routes],
    },
    Family {
        name: "content",
        about: "What clients load before they play.",
        routes: &[
            page::routes,
            env_js::routes,
            manifests::routes,
            skill_unlocks::routes,
            terrain::routes,
            description,
            asyncapi::routes,
            docs::routes,
            upgrade::routes,
        ],
    },
    Family {
        name: "accounts",
        about: "Tokens: how they are got, renewed and given up; the account's data, and its end.",
        routes: &[
            auth::routes,
            password::routes,
            account::routes,
            voice::routes,
        ],
    },
    Family {
        name: "players",
        about: "The caller's own account and what its characters have.",
        routes: &[player::routes],
    },
    Family {
        name: "characters",
        about: "The caller's characters, and templates to begin from.",
        routes: &[character::routes, template::routes],
    },
    Family {
        name: "world",
        about: "The world, its areas, and who is best at what.",
        routes: &[world::routes, hiscores::routes],
    },
    Family {
        name: "agents",
        about: "Characters that act of their own accord.",
        routes: &[agents::routes],
    },
    Family {
        name: "operators",
        about: "What operators look at and switch; with the token of a player whose account has \
                the role that it takes.",
        routes: &[
            admin::routes,
            moderation::routes,
            switches::routes,
            processes::routes,
            recording::routes,
            profile::routes,
            teleport::routes,
            settings::routes,
            chaos::routes,
        ],
    },
];

/// Returns the route that describes all others.
fn description() -> Vec<Route> {
    vec![
        Policy::Public
            .get("/openapi.json", "This document", document)
            .json::<serde_json::Value>()
            .tagged(),
    ]
}

static DOCUMENT: LazyLock<Stored> = LazyLock::new(|| openapi::document(FAMILIES));

async fn document(headers: HeaderMap) -> Response {
    DOCUMENT.answer(&headers)
}

/// Returns every route of the main port.
pub(crate) fn routes(metrics_here: bool) -> Vec<Route> {
    let files = FAMILIES.iter().flat_map(|family| family.routes);
    let routes = files.flat_map(|routes| routes());
    routes
        .filter(|route| metrics_here || route.path != "/metrics")
        .collect()
}

/// Routes by which a platform looks after the process.
pub(super) const PROBES: [&str; 5] = ["/health", "/status", "/livez", "/readyz", "/metrics"];

/// Makes the router for a time when all places are taken. It has only the probes, so that a monitor
/// does not take a crowd for the end of the server.
pub(crate) fn crowded(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    for route in routes(false) {
        if PROBES.contains(&route.path) {
            router = router.route(route.path, route.handler);
        }
    }
    router
        .fallback(full)
        .method_not_allowed_fallback(full)
        .layer(middleware::from_fn(host::layer))
        .with_state(Arc::clone(app))
}

async fn full(uri: Uri) -> Response {
    let why = "All places of this server are taken; try again in a moment.";
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let problem = Problem::new(status, "not_ready", why, &uri).into_response();
    ([(RETRY_AFTER, "5")], problem).into_response()
}

/// Makes the router of all routes, with the layers that they share.
pub(crate) fn router(app: &Arc<App>) -> Router {
    // In production, metrics are never on the port of the clients.
    let metrics_here = app.config.metrics_port == 0 && !app.config.production;
    let mut router = Router::new();
    for route in routes(metrics_here) {
        let guard = Guard {
            app: Arc::clone(app),
            path: route.path,
            policy: route.policy,
            counted: route.counted,
        };
        let guard = middleware::from_fn_with_state(guard, guarded);
        router = router.route(route.path, route.handler.layer(guard));
    }
    let no_sniff = (
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    router
        .method_not_allowed_fallback(wrong_method)
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(
            app.config.origins.clone(),
            cors::layer,
        ))
        .layer(SetResponseHeaderLayer::overriding(no_sniff.0, no_sniff.1))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(host::layer))
        .layer(middleware::from_fn(problem::layer))
        .layer(middleware::from_fn_with_state(
            Arc::clone(app),
            observed::layer,
        ))
        .with_state(Arc::clone(app))
}

#[derive(Clone)]
struct Guard {
    app: Arc<App>,
    path: &'static str,
    policy: Policy,
    counted: bool,
}

/// Lets in requests that the limits and the route's policy allow, and counts them.
async fn guarded(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut counted = Counted::default();
    let mut response = match admitted(&guard, request, &mut counted).await {
        Ok((request, _place)) => next.run(request).await,
        Err(refusal) => refusal,
    };
    counted.tell(&mut response);
    response
}

/// Returns the request for the route, and its place among all; the error is the refusal.
async fn admitted(
    guard: &Guard,
    request: Request,
    counted: &mut Counted,
) -> Result<(Request, Option<OwnedSemaphorePermit>), Response> {
    let (mut parts, body) = request.into_parts();
    let (app, uri) = (&guard.app, parts.uri.clone());
    let counts = guard.counted;
    // The count comes first, so that too frequent requests do not reach the store. Only a token of
    // the identity provider's needs its account before the count.
    let known = match limited::names_somebody_elsewhere(app, &parts.headers) {
        true => Some(let_in(guard, &parts.headers).await),
        false => None,
    };
    if counts {
        let caller = known
            .as_ref()
            .and_then(|known| known.as_ref().ok()?.as_ref());
        let count = count(guard, &parts, caller).await;
        *counted = count.map_err(|over| over.answer(&uri))?;
    }
    let asking = match known {
        Some(known) => known,
        None => let_in(guard, &parts.headers).await,
    };
    if matches!(asking, Err(No::Denied(Denied::InvalidToken))) {
        let peer = parts.extensions.get::<Peer>();
        let so_far = std::mem::take(counted);
        let count = limited::attempt(app, so_far, peer, &parts.headers).await;
        *counted = count.map_err(|over| over.answer(&uri))?;
    }
    if let Some(caller) = asking.map_err(|no| no.answer(&uri))? {
        parts.extensions.insert(caller);
    }
    let request = Request::from_parts(parts, body);
    if !counts {
        return Ok((request, None));
    }
    let place = app.bounds.load.place(&uri)?;
    let asker = asker(app, &request);
    let whole = app
        .bounds
        .load
        .whole(request, &asker, app.config.times.body);
    Ok((whole.await?, Some(place)))
}

/// Returns the address and the account whose body the request has.
fn asker(app: &App, request: &Request) -> Asker {
    let peer = request.extensions().get::<Peer>();
    Asker {
        address: limited::address(app, peer, request.headers()),
        account: request.extensions().get::<Caller>().map(Caller::subject),
    }
}

/// Counts a request, and a login as an attempt to authenticate. A bad token is an attempt as well;
/// [`admitted`] counts that one, after it has checked the token.
async fn count(guard: &Guard, parts: &Parts, caller: Option<&Caller>) -> Result<Counted, Over> {
    let (app, headers) = (&guard.app, &parts.headers);
    let peer = parts.extensions.get::<Peer>();
    let who = match caller {
        Some(caller) => caller.subject(),
        None => limited::subject(app, peer, headers),
    };
    let counted = limited::request(app, &who, peer, headers).await?;
    let nobody = matches!(caller::bearer(headers), Ok(None));
    let login = parts.method == Method::POST && guard.path.starts_with("/api/auth/");
    if login && (guard.policy == Policy::Public || nobody) {
        return limited::attempt(app, counted, peer, headers).await;
    }
    Ok(counted)
}

/// Reason why the guard does not let a request in.
enum No {
    Origin,
    Denied(Denied),
}

impl No {
    fn answer(self, uri: &Uri) -> Response {
        match self {
            Self::Origin => {
                let why = "This origin may not use this server.";
                Problem::new(StatusCode::FORBIDDEN, "origin_refused", why, uri).into_response()
            }
            Self::Denied(denied) => denied.answer(uri),
        }
    }
}

/// Returns the caller, where the policy asks for one.
async fn let_in(guard: &Guard, headers: &HeaderMap) -> Result<Option<Caller>, No> {
    let app = &guard.app;
    match guard.policy {
        Policy::Public => Ok(None),
        // Without this check, any page in the world could use the browser's credentials.
        Policy::Session if app.config.origins.allows_upgrade(headers) => Ok(None),
        Policy::Session => Err(No::Origin),
        Policy::Bearer(scopes) => {
            let caller = named(app, headers).await.map_err(No::Denied)?;
            caller::authorise(&caller, scopes).map_err(No::Denied)?;
            Ok(Some(caller))
        }
        Policy::Staff(least) => {
            let mut caller = named(app, headers).await.map_err(No::Denied)?;
            let may = roles::authorise(&app.auth.identity, &mut caller, least).await;
            may.map_err(No::Denied)?;
            Ok(Some(caller))
        }
    }
}

/// Returns the caller that the request's token names.
async fn named(app: &App, headers: &HeaderMap) -> Result<Caller, Denied> {
    let token = caller::bearer(headers)?.ok_or(Denied::NoToken)?;
    admission::admit(app, &token).await
}

/// Answers a path without a route: with a file of the frontend, or with 404.
async fn not_found(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (method, uri) = (&parts.method, &parts.uri);
    if let Some(file) = app.served.frontend.get(method, uri.path(), &parts.headers) {
        return file;
    }
    counted(&app, &parts, Problem::not_found(uri).into_response()).await
}

async fn wrong_method(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (method, uri) = (&parts.method, &parts.uri);
    if method == Method::OPTIONS {
        // `Allow` names the methods; every answer to a wrong method gets it.
        return counted(&app, &parts, StatusCode::NO_CONTENT.into_response()).await;
    }
    let detail = format!("{method} is not possible here.");
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let problem = Problem::new(status, "method_not_allowed", detail, uri);
    counted(&app, &parts, problem.into_response()).await
}

/// Counts a request for a path or method without a route like any other, and answers it.
async fn counted(app: &App, parts: &Parts, mut response: Response) -> Response {
    let (peer, headers) = (parts.extensions.get::<Peer>(), &parts.headers);
    let who = limited::subject(app, peer, headers);
    match limited::request(app, &who, peer, headers).await {
        Ok(counted) => {
            counted.tell(&mut response);
            response
        }
        Err(over) => over.answer(&parts.uri),
    }
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    if let Some(left_out) = sampled("a route panicked", "") {
        tracing::error!(left_out, "a route panicked");
    }
    let detail = "Something went wrong on our side.";
    let uri = Uri::from_static("/");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail, &uri).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{roles::Role, tokens::Scope};

    /// Returns the milliseconds of the database that a request may cost.
    fn may_cost(path: &str) -> f64 {
        if path.starts_with("/hiscores") {
            2.0
        } else {
            5.0
        }
    }

    #[test]
    fn what_anybody_may_ask_has_a_measured_cost_that_is_small() {
        let open = routes(true).into_iter();
        let open = open.filter(|route| !matches!(route.policy, Policy::Staff(_)));
        let mut open: Vec<String> = open
            .map(|route| format!("{} {}", route.method, route.path.replace("{*", "{")))
            .collect();
        let mut measured = Vec::new();
        for row in include_str!("../../../docs/route-costs.md").lines() {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, method, path, _, cost, _, _] = cells.as_slice() else {
                continue;
            };
            let Some(path) = path.strip_prefix('`') else {
                continue;
            };
            let path = path.trim_end_matches('`');
            let cost: f64 = cost.parse().unwrap();
            assert!(cost <= may_cost(path), "{method} {path} costs {cost} ms");
            measured.push(format!("{method} {path}"));
        }
        open.sort();
        measured.sort();
        assert_eq!(
            open, measured,
            "left: the routes, right: docs/route-costs.md"
        );
    }

    #[test]
    fn probes_and_the_page_cost_nothing_and_data_does() {
        let free = routes(true).into_iter().filter(|route| !route.counted);
        let mut free: Vec<&str> = free.map(|route| route.path).collect();
        free.sort_unstable();
        let expected = [
            "/",
            "/console",
            "/health",
            "/livez",
            "/metrics",
            "/page/{*name}",
            "/readyz",
            "/status",
            "/ws",
        ];
        assert_eq!(free, expected);
    }

    #[test]
    fn staff_alone_runs_the_place_and_who_only_looks_on_changes_nothing() {
        for route in routes(true) {
            let (method, path) = (&route.method, route.path);
            let least = match route.policy {
                Policy::Staff(least) => Some(least),
                Policy::Public | Policy::Session => None,
                Policy::Bearer(scopes) => {
                    let looks_on = scopes.contains(&Scope::Spectator);
                    assert!(method == Method::GET || !looks_on, "{method} {path}");
                    None
                }
            };
            let (of_staff, moderates) = (
                path.starts_with("/admin/"),
                path.starts_with("/admin/moderation"),
            );
            let expected = match (method == Method::GET, moderates) {
                (true, _) => Role::Viewer,
                (false, true) => Role::Moderator,
                (false, false) => Role::Admin,
            };
            assert_eq!(least, of_staff.then_some(expected), "{method} {path}");
        }
    }

    #[test]
    fn only_what_is_meant_for_everybody_needs_no_token() {
        let mut public: Vec<&str> = routes(true)
            .iter()
            .filter(|route| route.policy == Policy::Public)
            .map(|route| route.path)
            .collect();
        public.sort_unstable();
        assert_eq!(
            public,
            [
                "/",
                "/api/auth/anonymous",
                "/api/auth/login",
                "/api/auth/password",
                "/api/auth/recover",
                "/api/auth/renew",
                "/api/data/skill-unlocks",
                "/asyncapi.json",
                "/console",
                "/docs",
                "/docs/docs.css",
                "/docs/docs.js",
                "/docs/events.js",
                "/env.js",
                "/health",
                "/hiscores",
                "/hiscores/{skill}",
                "/livez",
                "/manifests/{*path}",
                "/metrics",
                "/openapi.json",
                "/page/{*name}",
                "/readyz",
                "/status",
                "/world/map",
                "/world/terrain.json",
                "/world/terrain/{x}/{z}",
            ]
        );
        assert!(!routes(false).iter().any(|route| route.path == "/metrics"));
    }
}
