//! Times each request, by its method and route, and follows it in a span.
//!
//! Always: a method and a route have the names of our own lists. A client that makes up methods and
//! paths gets no series of its own. Nobody follows probes: they would be most of all spans.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};

use super::router::PROBES;
use crate::app::App;

/// Route of a request for a path that no route has.
const NO_ROUTE: &str = "none";

/// Counts, times and follows each request.
pub(crate) async fn layer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = method(request.method());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map(MatchedPath::as_str);
    let probe = route.is_some_and(|route| PROBES.contains(&route));
    let span = (!probe).then(|| app.reports.spans.request(method, route, request.headers()));
    let answer = async {
        let response = next.run(request).await;
        let (route, status) = (route.unwrap_or(NO_ROUTE), response.status().as_u16());
        app.metrics.request(method, route, status, begun.elapsed());
        response
    };
    let Some(span) = span else {
        return answer.await;
    };
    let response = span.within(answer).await;
    span.answered(response.status().as_u16());
    response
}

/// Returns the name of a known method; `_OTHER` for any that a client makes up.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let known = KNOWN.into_iter().find(|known| *known == method.as_str());
    known.unwrap_or("_OTHER")
}
