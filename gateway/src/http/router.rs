//! The list of routes, each with its policy.
//!
//! Always: a route that does not say who may use it cannot be written down; whatever is refused
//! is refused with a problem document.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header::RETRY_AFTER,
        request::Parts,
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get, post},
};
use chassis::telemetry::sampled;
use tokio::sync::OwnedSemaphorePermit;
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};

use super::{
    address::Peer,
    agents, auth,
    body::Asker,
    cors, env_js, families, host,
    limited::{self, Counted, Over},
    manifests, page, probes,
    problem::{self, Problem},
    skill_unlocks, terrain, upgrade, voice,
};
use crate::{
    app::App,
    auth::{
        admission,
        caller::{self, Caller, Denied},
        roles::{self, Role},
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
    /// Whoever has an operator's token, or a player's whose account has at least this role now.
    Staff(Role),
}

/// One route.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) policy: Policy,
    handler: Handler,
}

/// What answers at a path, method by method.
pub(super) type Handler = MethodRouter<Arc<App>>;

pub(super) fn public(path: &'static str, handler: Handler) -> Route {
    Route {
        path,
        policy: Policy::Public,
        handler,
    }
}

pub(super) fn staff(path: &'static str, least: Role, handler: Handler) -> Route {
    Route {
        path,
        policy: Policy::Staff(least),
        handler,
    }
}

pub(super) fn bearer(path: &'static str, scopes: &'static [Scope], handler: Handler) -> Route {
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
        public("/api/data/skill-unlocks", get(skill_unlocks::get)),
        public("/world/terrain.json", get(terrain::get_overview)),
        public("/world/terrain/{x}/{z}", get(terrain::get_region)),
        public("/", get(page::index)),
        public("/page/{*name}", get(page::get)),
        bearer("/api/voice/token", voice::MAY_SPEAK, post(voice::token)),
        public("/api/auth/anonymous", post(auth::anonymous)),
        public("/api/auth/login", post(auth::login)),
        public("/api/auth/operator", post(auth::operator)),
        bearer("/api/auth/refresh", auth::MAY_REFRESH, post(auth::refresh)),
        bearer("/api/auth/spectator", auth::MAY_SHOW, post(auth::spectator)),
        bearer("/api/auth/logout", auth::MAY_LOGOUT, post(auth::logout)),
        Route {
            path: "/ws",
            policy: Policy::Session,
            handler: get(upgrade::ws),
        },
    ];
    routes.extend(families::routes());
    routes.extend(agents::routes());
    if metrics_here {
        routes.push(public("/metrics", get(probes::metrics)));
    }
    routes
}

/// What answers when all places are taken: the probes, so that whoever watches this server does
/// not take a crowd for its end.
pub(crate) fn crowded(app: &Arc<App>) -> Router {
    let probes = ["/health", "/status", "/livez", "/readyz"];
    let mut router = Router::new();
    for route in routes(false) {
        if probes.contains(&route.path) {
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
        .layer(middleware::from_fn(host::layer))
        .layer(middleware::from_fn(problem::layer))
        .with_state(Arc::clone(app))
}

#[derive(Clone)]
struct Guard {
    app: Arc<App>,
    path: &'static str,
    policy: Policy,
}

/// Lets in whom the limits and the route's policy let in, and counts.
async fn guarded(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut counted = Counted::default();
    let mut response = match admitted(&guard, request, &mut counted).await {
        Ok((request, _place)) => next.run(request).await,
        Err(refusal) => refusal,
    };
    counted.tell(&mut response);
    guard
        .app
        .metrics
        .request(guard.path, response.status().as_u16());
    response
}

/// The request as the route gets it, and its place among all; refused, the answer is there.
async fn admitted(
    guard: &Guard,
    request: Request,
    counted: &mut Counted,
) -> Result<(Request, Option<OwnedSemaphorePermit>), Response> {
    let (mut parts, body) = request.into_parts();
    let (app, uri) = (&guard.app, parts.uri.clone());
    let counts = limited::counts(guard.path);
    // Counted first: who asks too often does not get as far as the store. Only whom a token of
    // the identity provider's names must be asked before.
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
    let place = app.load.place(&uri)?;
    let asker = asker(app, &request);
    let whole = app.load.whole(request, &asker, app.config.times.body);
    Ok((whole.await?, Some(place)))
}

/// Whose body it is.
fn asker(app: &App, request: &Request) -> Asker {
    let peer = request.extensions().get::<Peer>();
    Asker {
        address: limited::address(app, peer, request.headers()),
        account: request.extensions().get::<Caller>().map(Caller::subject),
    }
}

/// Counts a request, and the attempt that a login is. A token that is refused is one as well,
/// which only shows when it is looked at; so a route that wants one counts that then.
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

/// Why somebody is not let in.
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

/// Who asks, where that matters.
async fn let_in(guard: &Guard, headers: &HeaderMap) -> Result<Option<Caller>, No> {
    let app = &guard.app;
    match guard.policy {
        Policy::Public => Ok(None),
        // What a browser sends along would otherwise work for any page in the world.
        Policy::Session if app.config.origins.allows_upgrade(headers) => Ok(None),
        Policy::Session => Err(No::Origin),
        Policy::Bearer(scopes) => {
            let caller = named(app, headers).await.map_err(No::Denied)?;
            caller::authorise(&caller, scopes).map_err(No::Denied)?;
            Ok(Some(caller))
        }
        Policy::Staff(least) => {
            let mut caller = named(app, headers).await.map_err(No::Denied)?;
            let may = roles::authorise(app, &mut caller, least).await;
            may.map_err(No::Denied)?;
            Ok(Some(caller))
        }
    }
}

/// Whom the request's token names.
async fn named(app: &App, headers: &HeaderMap) -> Result<Caller, Denied> {
    let token = caller::bearer(headers)?.ok_or(Denied::NoToken)?;
    admission::admit(app, &token).await
}

/// What no route has: a file of the frontend, or nothing.
async fn not_found(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (method, uri) = (&parts.method, &parts.uri);
    if let Some(file) = app.frontend.get(method, uri.path(), &parts.headers) {
        return file;
    }
    counted(&app, &parts, Problem::not_found(uri).into_response()).await
}

async fn wrong_method(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (method, uri) = (&parts.method, &parts.uri);
    if method == Method::OPTIONS {
        // What is possible stands in `Allow`, which every answer of a wrong method gets.
        return counted(&app, &parts, StatusCode::NO_CONTENT.into_response()).await;
    }
    let detail = format!("{method} is not possible here.");
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let problem = Problem::new(status, "method_not_allowed", detail, uri);
    counted(&app, &parts, problem.into_response()).await
}

/// What is not there counts like what is.
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

    /// As `tests/routes.txt` writes who may use a route.
    fn who(policy: Policy) -> String {
        let scopes = match policy {
            Policy::Public => return "public".to_owned(),
            Policy::Session => return "session".to_owned(),
            Policy::Staff(least) => {
                let roles = Role::ALL.into_iter().filter(|role| *role >= least);
                let roles: Vec<&str> = roles.map(Role::name).collect();
                return format!("operator+{}", roles.join("+"));
            }
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
        let line = |line: &str| {
            line.split(' ')
                .skip(1)
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut listed: Vec<String> = lines.map(line).collect();
        here.sort();
        listed.sort();
        assert_eq!(here, listed, "left: the router, right: tests/routes.txt");
    }

    /// Milliseconds of the database that a request may cost.
    fn may_cost(path: &str) -> f64 {
        if path.starts_with("/hiscores") {
            2.0
        } else {
            5.0
        }
    }

    #[test]
    fn what_anybody_may_ask_has_a_measured_cost_that_is_small() {
        let list = include_str!("../../tests/routes.txt").lines();
        let list = list.filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut open: Vec<String> = Vec::new();
        for line in list {
            let words: Vec<&str> = line.split(' ').collect();
            if !words[2].starts_with("operator+") {
                let each = words[0].split(',');
                open.extend(each.map(|method| format!("{method} {}", words[1])));
            }
        }
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
                "/api/data/skill-unlocks",
                "/asyncapi.json",
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
                "/world/terrain.json",
                "/world/terrain/{x}/{z}",
            ]
        );
        assert!(!routes(false).iter().any(|route| route.path == "/metrics"));
    }
}
