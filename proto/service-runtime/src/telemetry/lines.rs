//! Log lines that name the trace in whose span they were written.
//!
//! Always: a line has `trace_id` exactly if a span is active where it is written. Only
//! OpenTelemetry's context counts: who starts a span attaches it to the work that the span is of.

use std::fmt;

use opentelemetry::{Context, trace::TraceContextExt};
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Format, Full, Json, Writer},
    },
    registry::LookupSpan,
};

use super::trace_id;

/// Lines of one of the formats, with the trace's id.
pub(super) enum Lines {
    /// One JSON object a line; `trace_id` is its first key.
    Json(Format<Json>),
    /// For people; `trace_id=…` stands last.
    Text(Format<Full>),
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let trace = Context::map_current(|here| trace_id(here.span().span_context()));
        if trace.is_empty() {
            return match self {
                Self::Json(format) => format.format_event(context, writer, event),
                Self::Text(format) => format.format_event(context, writer, event),
            };
        }
        let mut line = String::new();
        match self {
            Self::Json(format) => {
                format.format_event(context, Writer::new(&mut line), event)?;
                let fields = line.strip_prefix('{').unwrap_or(&line);
                write!(writer, "{{\"trace_id\":\"{trace}\",{fields}")
            }
            Self::Text(format) => {
                format.format_event(context, Writer::new(&mut line), event)?;
                writeln!(writer, "{} trace_id={trace}", line.trim_end_matches('\n'))
            }
        }
    }
}
