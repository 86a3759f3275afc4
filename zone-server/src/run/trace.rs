//! Spans of traced inputs and of the tick that played them. The tick belongs to the trace of its first
//! sampled input; the spans of the others link to it, and it links to them. A tick that plays no
//! sampled input makes no span.

use opentelemetry::{
    Context, ContextGuard, KeyValue,
    trace::{Link, Span as _, SpanContext, SpanKind, TraceContextExt, Tracer as _},
};
use proto::rpc::zone::v1::Input;
use service_runtime::telemetry::{Tracer, parse_traceparent, traceparent};

type Span = <Tracer as opentelemetry::trace::Tracer>::Span;

/// The spans of one tick.
pub(super) struct TickTrace {
    tracer: Option<Tracer>,
    number: u64,
    tick: Option<Span>,
    inputs: Vec<Span>,
}

impl TickTrace {
    /// Returns a trace without spans. `tracer` receives the spans, if it is there.
    pub(super) fn new(tracer: Option<Tracer>, number: u64) -> Self {
        Self {
            tracer,
            number,
            tick: None,
            inputs: Vec::new(),
        }
    }

    /// Notes that the tick plays an input. Returns the trace context that shows its effect; empty
    /// when the input is not sampled.
    pub(super) fn input(&mut self, input: &Input) -> String {
        if input.traceparent.is_empty() {
            return String::new();
        }
        let Some(parent) = parse_traceparent(&input.traceparent) else {
            return String::new();
        };
        if !parent.is_sampled() {
            return String::new();
        }
        let Some(tracer) = &self.tracer else {
            return input.traceparent.clone();
        };
        let builder = tracer
            .span_builder(format!("zone.input {}", input.event))
            .with_kind(SpanKind::Server);
        let parent = Context::new().with_remote_span_context(parent);
        let span = if let Some(tick) = &mut self.tick {
            let link = Link::new(tick.span_context().clone(), Vec::new(), 0);
            let span = builder
                .with_links(vec![link])
                .start_with_context(tracer, &parent);
            tick.add_link(span.span_context().clone(), Vec::new());
            span
        } else {
            let span = builder.start_with_context(tracer, &parent);
            self.tick = Some(tick(tracer, self.number, span.span_context().clone()));
            span
        };
        let shown = traceparent(span.span_context());
        self.inputs.push(span);
        shown
    }

    /// Makes the tick's span the active one of this thread, for as long as the caller keeps the result:
    /// log lines name its trace.
    pub(super) fn enter(&self) -> Option<ContextGuard> {
        Some(within(self.tick.as_ref()?.span_context()))
    }

    /// Ends the spans of the tick. Returns its trace context, for its commit; `None` when it is not
    /// traced.
    pub(super) fn end(mut self) -> Option<SpanContext> {
        let mut tick = self.tick.take()?;
        tick.set_attribute(KeyValue::new("inputs", self.inputs.len() as i64));
        tick.end();
        for span in &mut self.inputs {
            span.end();
        }
        Some(tick.span_context().clone())
    }
}

/// Makes a tick's span the active one of this thread, for as long as the caller keeps the result.
pub(super) fn within(tick: &SpanContext) -> ContextGuard {
    let context = Context::new().with_remote_span_context(tick.clone());
    context.attach()
}

/// Starts the span of tick `number` within the trace of an input.
fn tick(tracer: &Tracer, number: u64, input: SpanContext) -> Span {
    tracer
        .span_builder("zone.tick")
        .with_kind(SpanKind::Internal)
        .with_attributes([KeyValue::new("tick", number as i64)])
        .start_with_context(tracer, &Context::new().with_remote_span_context(input))
}
