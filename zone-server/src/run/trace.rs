//! Spans of traced inputs and of the tick that played them. A tick that plays no traced input makes
//! no span.

use opentelemetry::{
    Context, KeyValue,
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
    /// when the input is not traced.
    pub(super) fn input(&mut self, input: &Input) -> String {
        if input.traceparent.is_empty() {
            return String::new();
        }
        let Some(parent) = parse_traceparent(&input.traceparent) else {
            return String::new();
        };
        let (Some(tracer), true) = (self.tracer.clone(), parent.is_sampled()) else {
            return input.traceparent.clone();
        };
        let tick = self.tick(&tracer);
        let span = tracer
            .span_builder(format!("zone.input {}", input.event))
            .with_kind(SpanKind::Server)
            .with_links(vec![Link::new(tick, Vec::new(), 0)])
            .start_with_context(&tracer, &Context::new().with_remote_span_context(parent));
        let shown = traceparent(span.span_context());
        self.inputs.push(span);
        shown
    }

    fn tick(&mut self, tracer: &Tracer) -> SpanContext {
        let number = self.number;
        let span = self.tick.get_or_insert_with(|| {
            tracer
                .span_builder("zone.tick")
                .with_kind(SpanKind::Internal)
                .with_attributes([KeyValue::new("tick", number as i64)])
                .start_with_context(tracer, &Context::new())
        });
        span.span_context().clone()
    }

    /// Ends the spans of the tick. Returns its trace context, for its commit; empty when it is not
    /// traced.
    pub(super) fn end(mut self) -> String {
        for span in &mut self.inputs {
            span.end();
        }
        let Some(mut tick) = self.tick else {
            return String::new();
        };
        tick.set_attribute(KeyValue::new("inputs", self.inputs.len() as i64));
        tick.end();
        traceparent(tick.span_context())
    }
}
