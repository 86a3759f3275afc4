//! Spans of what takes many ticks: the handover of a player, the move of a region, and the load of one
//! whose owner is gone. The calls to peers and to the store that belong to it are in its trace; the
//! batch that carries it is so too, or links to it.

use opentelemetry::{
    Context, ContextGuard, KeyValue,
    trace::{SpanContext, SpanKind, TraceContextExt, Tracer as _},
};
use service_runtime::telemetry::Tracer;
use world::Region;

/// A span that is open. It ends when its outcome is told, or when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Ongoing(Option<Context>);

impl Ongoing {
    /// Starts the span of something in `region` in a trace of its own; nothing without a tracer.
    pub(crate) fn begin(
        tracer: Option<&Tracer>,
        name: &'static str,
        run_id: u64,
        region: Region,
    ) -> Ongoing {
        let span = tracer.map(|tracer| {
            tracer
                .span_builder(name)
                .with_kind(SpanKind::Internal)
                .with_attributes([
                    KeyValue::new("tilestead.run", number(run_id)),
                    KeyValue::new("tilestead.region", format!("{},{}", region.x, region.z)),
                ])
                .start_with_context(tracer, &Context::new())
        });
        Ongoing(span.map(|span| Context::new().with_span(span)))
    }

    /// Returns whether it is open.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Makes it the active span of this thread for as long as the caller keeps the result.
    pub(crate) fn enter(&self) -> Option<ContextGuard> {
        self.0.clone().map(Context::attach)
    }

    /// Returns its context for the batch that carries it; `None`: nobody follows it.
    pub(crate) fn sampled(&self) -> Option<SpanContext> {
        let context = self.0.as_ref()?.span().span_context().clone();
        context.is_sampled().then_some(context)
    }

    /// Notes the run to which the player or the region goes.
    pub(crate) fn goes_to(&self, run_id: u64) {
        if let Some(context) = &self.0 {
            let to = KeyValue::new("tilestead.to_run", number(run_id));
            context.span().set_attribute(to);
        }
    }

    /// Ends the span.
    pub(crate) fn end(&mut self, outcome: &'static str) {
        if let Some(context) = self.0.take() {
            let span = context.span();
            span.set_attribute(KeyValue::new("outcome", outcome));
            span.end();
        }
    }
}

fn number(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}
