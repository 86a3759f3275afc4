//! The trace contexts that the next batch carries: those of the traced ticks since the batch before.
//!
//! Always: the number of contexts is bounded, and those left out are counted.

use opentelemetry::trace::SpanContext;
use service_runtime::telemetry::CONTEXTS_MAX;

/// Trace contexts of ticks. Those of ticks with something of value come first, because a batch goes
/// out for its value: the first one becomes the parent of the commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Traces {
    contexts: Vec<SpanContext>,
    /// Number of contexts at the beginning whose ticks left something of value to write.
    valued: usize,
    left_out: u32,
}

impl Traces {
    /// Notes the context of a tick. `value` says whether something of value waited after it.
    pub(crate) fn note(&mut self, tick: SpanContext, value: bool) {
        let at = if value {
            self.valued
        } else {
            self.contexts.len()
        };
        self.contexts.insert(at, tick);
        self.valued += usize::from(value);
        if self.contexts.len() > CONTEXTS_MAX {
            self.contexts.pop();
            self.valued = self.valued.min(CONTEXTS_MAX);
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Returns the parent of the commit, and the contexts to which the commit links.
    pub(crate) fn split(&self) -> Option<(&SpanContext, &[SpanContext])> {
        self.contexts.split_first()
    }

    /// Returns the number of contexts that did not fit.
    pub(crate) fn left_out(&self) -> u32 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceFlags, TraceId, TraceState};

    use super::*;

    fn tick(number: u64) -> SpanContext {
        let (trace, span) = (TraceId::from(u128::from(number)), SpanId::from(number));
        SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
    }

    fn numbers(traces: &Traces) -> Vec<u64> {
        let number = |cx: &SpanContext| u64::from_be_bytes(cx.span_id().to_bytes());
        traces.contexts.iter().map(number).collect()
    }

    #[test]
    fn ticks_of_value_come_first_and_each_kind_in_its_order() {
        let mut traces = Traces::default();
        assert!(traces.split().is_none());
        for (number, value) in [(1, false), (2, true), (3, false), (4, true)] {
            traces.note(tick(number), value);
        }
        assert_eq!(numbers(&traces), [2, 4, 1, 3]);
        let (parent, others) = traces.split().unwrap();
        assert_eq!((parent, others.len()), (&tick(2), 3));
        assert_eq!(traces.left_out(), 0);
    }

    #[test]
    fn contexts_are_bounded_and_those_left_out_are_counted() {
        let mut traces = Traces::default();
        let most = CONTEXTS_MAX as u64;
        for number in 1..=most {
            traces.note(tick(number), false);
        }
        traces.note(tick(most + 1), false);
        assert_eq!(numbers(&traces), (1..=most).collect::<Vec<_>>());
        assert_eq!(traces.left_out(), 1);
        // One of value takes the place of the last that is not.
        traces.note(tick(most + 2), true);
        assert_eq!(numbers(&traces)[..2], [most + 2, 1]);
        assert_eq!(
            (numbers(&traces).len(), traces.left_out()),
            (CONTEXTS_MAX, 2)
        );
        for number in 100..100 + 2 * most {
            traces.note(tick(number), true);
        }
        assert_eq!(numbers(&traces)[..2], [most + 2, 100]);
        assert_eq!(numbers(&traces).len(), CONTEXTS_MAX);
        assert_eq!(traces.left_out(), 2 + 2 * CONTEXTS_MAX as u32);
    }
}
