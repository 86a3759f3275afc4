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
    routing::{MethodRouter, get},
};
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};

use super::{cors, env_js, manifests, page, probes, problem::Problem, terrain, upgrade};
use crate::app::App;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Anybody, without a token.
    Public,
    /// Anybody may connect, from an allowed origin; what is said inside is authenticated there.
    Session,
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
async fn guarded(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let origins = &guard.app.config.origins;
    let allowed = match guard.policy {
        Policy::Public => true,
        // What a browser sends along would otherwise work for any page in the world.
        Policy::Session => origins.allows_upgrade(request.headers()),
    };
    let response = if allowed {
        next.run(request).await
    } else {
        let (why, uri) = ("This origin may not use this server.", request.uri());
        Problem::new(StatusCode::FORBIDDEN, "origin_refused", why, uri).into_response()
    };
    guard
        .app
        .metrics
        .request(guard.path, response.status().as_u16());
    response
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
