//! `/docs`: the page that shows both documents of this server.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, HeaderValue, header::CONTENT_SECURITY_POLICY},
    response::Response,
};

use super::{
    route::{Policy, Route},
    stored::{ASK, Stored},
};

/// Sources that the page may load: itself and the documents.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
);

pub(super) fn routes() -> Vec<Route> {
    let public = Policy::Public;
    vec![
        public
            .get("/docs", "Both documents, to be read", page)
            .text("text/html")
            .tagged(),
        public
            .get("/docs/docs.css", "How it looks", style)
            .text("text/css")
            .tagged(),
        public
            .get("/docs/docs.js", "What shows it", script)
            .text("text/javascript")
            .tagged(),
        public
            .get("/docs/events.js", "What shows the events", events_script)
            .text("text/javascript")
            .tagged(),
    ]
}

static PAGE: LazyLock<Stored> = LazyLock::new(|| {
    let html = include_str!("../../docs/index.html");
    Stored::new(html, "text/html; charset=utf-8", ASK).packed()
});

static STYLE: LazyLock<Stored> = LazyLock::new(|| {
    let css = include_str!("../../docs/docs.css");
    Stored::new(css, "text/css; charset=utf-8", ASK).packed()
});

static SCRIPT: LazyLock<Stored> = LazyLock::new(|| script_of(include_str!("../../docs/docs.js")));

static EVENTS_SCRIPT: LazyLock<Stored> =
    LazyLock::new(|| script_of(include_str!("../../docs/events.js")));

fn script_of(text: &'static str) -> Stored {
    Stored::new(text, "text/javascript; charset=utf-8", ASK).packed()
}

async fn page(headers: HeaderMap) -> Response {
    let mut response = PAGE.answer(&headers);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    response
}

async fn style(headers: HeaderMap) -> Response {
    STYLE.answer(&headers)
}

async fn script(headers: HeaderMap) -> Response {
    SCRIPT.answer(&headers)
}

async fn events_script(headers: HeaderMap) -> Response {
    EVENTS_SCRIPT.answer(&headers)
}
