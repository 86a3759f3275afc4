//! Spans at the gateway's border: HTTP requests, logins, entries into the world, a message in for a
//! zone, and the resulting message out. One player's action is one trace.
//!
//! Always: nobody outside decides about our traces. A trace context that a client names becomes a
//! link, and no parent.

use std::time::SystemTime;

use axum::http::HeaderMap;
use opentelemetry::{
    Context, ContextGuard, KeyValue,
    trace::{FutureExt, Link, Span, SpanKind, Status, TraceContextExt, Tracer as _},
};
use service_runtime::telemetry::{Telemetry, Tracer, parse_traceparent, traceparent};

/// Maker of the gateway's spans; does nothing while tracing is off.
#[derive(Clone)]
pub(crate) struct Spans(Option<Tracer>);

/// Work that a span follows; nothing while tracing is off.
pub(crate) struct Following(Option<Context>);

/// A message on its way to a zone; a drop ends its span.
pub(crate) struct Receiving(Option<<Tracer as opentelemetry::trace::Tracer>::Span>);

impl Spans {
    pub(crate) fn new(telemetry: &Telemetry) -> Self {
        Self(telemetry.tracing_enabled().then(|| telemetry.tracer()))
    }

    /// Starts the span of an HTTP request; `route` is `None` for a path without one.
    pub(crate) fn request(
        &self,
        method: &'static str,
        route: Option<&str>,
        headers: &HeaderMap,
    ) -> Following {
        Following(self.0.as_ref().map(|tracer| {
            let named = headers
                .get("traceparent")
                .and_then(|text| text.to_str().ok());
            let elsewhere = named.and_then(parse_traceparent);
            let name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}"));
            let route = route.map(|route| KeyValue::new("http.route", route.to_owned()));
            let attributes = [
                KeyValue::new("http.request.method", method),
                KeyValue::new("url.scheme", "http"),
            ];
            let span = tracer
                .span_builder(name)
                .with_kind(SpanKind::Server)
                .with_attributes(attributes.into_iter().chain(route))
                .with_links(elsewhere.map(Link::with_context).into_iter().collect())
                .start_with_context(tracer, &Context::new());
            Context::new().with_span(span)
        }))
    }

    /// Starts the span of a session's login or of its way into the world.
    pub(crate) fn session(&self, name: &'static str, session: &str) -> Following {
        Following(self.0.as_ref().map(|tracer| {
            let session = KeyValue::new("tilestead.session", session.to_owned());
            let span = tracer
                .span_builder(name)
                .with_kind(SpanKind::Server)
                .with_attributes([session])
                .start_with_context(tracer, &Context::new());
            Context::new().with_span(span)
        }))
    }

    /// Starts the span of a message for a zone.
    pub(crate) fn receive(&self, event: &'static str, session: &str) -> Receiving {
        Receiving(self.0.as_ref().map(|tracer| {
            tracer
                .span_builder(format!("ws.receive {event}"))
                .with_kind(SpanKind::Server)
                .with_attributes([
                    KeyValue::new("messaging.operation.name", "receive"),
                    KeyValue::new("tilestead.event", event),
                    KeyValue::new("tilestead.session", session.to_owned()),
                ])
                .start_with_context(tracer, &Context::new())
        }))
    }

    /// Records, in each of these traces, that the gateway has written an event to the client.
    pub(crate) fn sent(
        &self,
        traceparents: &[String],
        event: &str,
        tick: Option<u64>,
        began: SystemTime,
    ) {
        let Some(tracer) = &self.0 else {
            return;
        };
        let number = |tick| i64::try_from(tick).unwrap_or(i64::MAX);
        let tick = tick.map(|tick| KeyValue::new("tilestead.tick", number(tick)));
        for parent in traceparents
            .iter()
            .filter_map(|text| parse_traceparent(text))
        {
            let event = KeyValue::new("tilestead.event", event.to_owned());
            tracer
                .span_builder("ws.send")
                .with_kind(SpanKind::Producer)
                .with_start_time(began)
                .with_attributes([event].into_iter().chain(tick.clone()))
                .start_with_context(tracer, &Context::new().with_remote_span_context(parent))
                .end();
        }
    }
}

impl Following {
    /// Does the work within the span: its log lines and its calls belong to the trace.
    pub(crate) async fn within<F: Future>(&self, work: F) -> F::Output {
        match &self.0 {
            Some(context) => work.with_context(context.clone()).await,
            None => work.await,
        }
    }

    /// Ends the span of an HTTP request.
    pub(crate) fn answered(self, status: u16) {
        let Some(context) = self.0 else {
            return;
        };
        let span = context.span();
        let status = i64::from(status);
        span.set_attribute(KeyValue::new("http.response.status_code", status));
        if status >= 500 {
            span.set_attribute(KeyValue::new("error.type", status.to_string()));
            span.set_status(Status::error(""));
        }
        span.end();
    }

    /// Ends the span with the outcome of its work.
    pub(crate) fn end(self, outcome: &'static str) {
        if let Some(context) = self.0 {
            let span = context.span();
            span.set_attribute(KeyValue::new("outcome", outcome));
            span.end();
        }
    }
}

impl Receiving {
    /// Makes the span the active one of this thread, for as long as the caller keeps the result.
    pub(crate) fn enter(&self) -> Option<ContextGuard> {
        let context = self.0.as_ref()?.span_context().clone();
        Some(Context::new().with_remote_span_context(context).attach())
    }

    /// Returns the context that travels with the message; empty while tracing is off.
    pub(crate) fn traceparent(&self) -> String {
        let context = self.0.as_ref().map(Span::span_context);
        context.map(traceparent).unwrap_or_default()
    }
}
