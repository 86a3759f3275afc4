//! The list of routes, each with its policy.
//!
//! Always: a route that does not say who may use it cannot be written down; whatever is refused
//! is refused with a problem document.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, Uri},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get, post},
};
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};

use super::{auth, cors, env_js, manifests, page, probes, problem::Problem, terrain, upgrade};
use crate::{
    app::App,
    auth::{
        admission,
        caller::{self, Caller, Denied},
        tokens::Scope,
    },
};

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Anybody, without a token.
    Public,
    /// Anybody may connect, from an allowed origin; what is said inside is authenticated there.
    Session,
    /// Whoever has a token of one of these scopes; its [`Caller`] is an extension of the request.
    Bearer(&'static [Scope]),
}

/// One route.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) policy: Policy,
    handler: MethodRouter<Arc<App>>,
}

fn public(path: &'static str, handler: MethodRouter<Arc<App>>) -> Route {
    Route {
        path,
        policy: Policy::Public,
        handler,
    }
}

fn bearer(path: &'static str, scopes: &'static [Scope], handler: MethodRouter<Arc<App>>) -> Route {
    Route {
        path,
        policy: Policy::Bearer(scopes),
        handler,
    }
}

/// Every route of the main port.
pub(crate) fn routes(metrics_here: bool) -> Vec<Route> {
    let mut routes = vec![
        public("/health", get(probes::health)),
        public("/status", get(probes::status)),
        public("/livez", get(probes::livez)),
        public("/readyz", get(probes::readyz)),
        public("/env.js", get(env_js::get)),
        public("/manifests/{*path}", get(manifests::get)),
        public("/world/terrain.json", get(terrain::get_overview)),
        public("/world/terrain/{x}/{z}", get(terrain::get_region)),
        public("/", get(page::index)),
        public("/page/{*name}", get(page::get)),
        public("/api/auth/anonymous", post(auth::anonymous)),
        public("/api/auth/login", post(auth::login)),
        public("/api/auth/operator", post(auth::operator)),
        bearer("/api/auth/refresh", auth::MAY_REFRESH, post(auth::refresh)),
        bearer("/api/auth/logout", auth::MAY_LOGOUT, post(auth::logout)),
        Route {
            path: "/ws",
            policy: Policy::Session,
            handler: get(upgrade::ws),
        },
    ];
    if metrics_here {
        routes.push(public("/metrics", get(probes::metrics)));
    }
    routes
}

/// The routes, with what goes for all of them.
pub(crate) fn router(app: &Arc<App>) -> Router {
    // In production never where every client may ask.
    let metrics_here = app.config.metrics_port == 0 && !app.config.production;
    let mut router = Router::new();
    for route in routes(metrics_here) {
        let guard = Guard {
            app: Arc::clone(app),
            path: route.path,
            policy: route.policy,
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
        .with_state(Arc::clone(app))
}

#[derive(Clone)]
struct Guard {
    app: Arc<App>,
    path: &'static str,
    policy: Policy,
}

/// Lets in whom the route's policy lets in, and counts.
async fn guarded(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let response = match let_in(&guard, &request) {
        Ok(caller) => {
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            next.run(request).await
        }
        Err(refusal) => refusal,
    };
    guard
        .app
        .metrics
        .request(guard.path, response.status().as_u16());
    response
}

/// Who asks, where that matters; refused, the answer is there.
fn let_in(guard: &Guard, request: &Request) -> Result<Option<Caller>, Response> {
    let (app, headers, uri) = (&guard.app, request.headers(), request.uri());
    match guard.policy {
        Policy::Public => Ok(None),
        // What a browser sends along would otherwise work for any page in the world.
        Policy::Session if app.config.origins.allows_upgrade(headers) => Ok(None),
        Policy::Session => {
            let why = "This origin may not use this server.";
            let problem = Problem::new(StatusCode::FORBIDDEN, "origin_refused", why, uri);
            Err(problem.into_response())
        }
        Policy::Bearer(scopes) => {
            let known = caller::authenticate(&app.tokens, headers);
            known
                .and_then(|caller| caller::authorise(&caller, scopes).map(|()| Some(caller)))
                .map_err(|denied: Denied| denied.answer(uri))
        }
    }
}

async fn not_found(uri: Uri) -> Problem {
    Problem::not_found(&uri)
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    let detail = format!("{method} is not possible here.");
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        detail,
        &uri,
    )
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a route panicked");
    let detail = "Something went wrong on our side.";
    let uri = Uri::from_static("/");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail, &uri).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `tests/routes.txt` writes who may use a route.
    fn who(policy: Policy) -> String {
        let scopes = match policy {
            Policy::Public => return "public".to_owned(),
            Policy::Session => return "session".to_owned(),
            Policy::Bearer(scopes) => scopes,
        };
        let name = |scope: &Scope| match scope {
            Scope::Player => "player",
            Scope::Agent => "agent",
            Scope::Spectator => "spectator",
            Scope::Operator => "operator",
        };
        scopes.iter().map(name).collect::<Vec<_>>().join("+")
    }

    #[test]
    fn every_route_stands_in_the_list_that_the_walk_goes_by() {
        let mut here: Vec<String> = routes(true)
            .iter()
            .map(|route| format!("{} {}", route.path, who(route.policy)))
            .collect();
        let lines = include_str!("../../tests/routes.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
        let line = |line: &str| line.split(' ').skip(1).take(2).collect::<Vec<_>>().join(" ");
        let mut listed: Vec<String> = lines.map(line).collect();
        here.sort();
        listed.sort();
        assert_eq!(here, listed, "left: the router, right: tests/routes.txt");
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
                "/api/auth/operator",
                "/env.js",
                "/health",
                "/livez",
                "/manifests/{*path}",
                "/metrics",
                "/page/{*name}",
                "/readyz",
                "/status",
                "/world/terrain.json",
                "/world/terrain/{x}/{z}",
            ]
        );
        assert!(!routes(false).iter().any(|route| route.path == "/metrics"));
    }
}
