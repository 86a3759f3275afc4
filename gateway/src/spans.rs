//! Spans at the gateway's border: a message in for a zone, and the resulting message out. One
//! player's action is one trace.

use std::time::SystemTime;

use opentelemetry::{
    Context, KeyValue,
    trace::{Span, SpanKind, TraceContextExt, Tracer as _},
};
use service_runtime::telemetry::{Telemetry, Tracer, parse_traceparent, traceparent};

/// Maker of the gateway's spans; does nothing while tracing is off.
#[derive(Clone)]
pub(crate) struct Spans(Option<Tracer>);

/// A message on its way to a zone; a drop ends its span.
pub(crate) struct Receiving(Option<<Tracer as opentelemetry::trace::Tracer>::Span>);

impl Spans {
    pub(crate) fn new(telemetry: &Telemetry) -> Self {
        Self(telemetry.tracing_enabled().then(|| telemetry.tracer()))
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

impl Receiving {
    /// Returns the context that travels with the message; empty while tracing is off.
    pub(crate) fn traceparent(&self) -> String {
        let context = self.0.as_ref().map(Span::span_context);
        context.map(traceparent).unwrap_or_default()
    }
}
