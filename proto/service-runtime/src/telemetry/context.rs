//! W3C trace context as text, because a stream sends its metadata only once.

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

/// Maximum number of trace contexts that one message carries.
pub const CONTEXTS_MAX: usize = 32;

/// Returns the `traceparent` of a span; empty if the span is not valid.
pub fn traceparent(cx: &SpanContext) -> String {
    if !cx.is_valid() {
        return String::new();
    }
    let flags = cx.trace_flags() & TraceFlags::SAMPLED;
    format!(
        "00-{}-{}-{:02x}",
        cx.trace_id(),
        cx.span_id(),
        flags.to_u8()
    )
}

/// Returns the trace id of a span as logs carry it; empty if the span is not valid.
pub fn trace_id(cx: &SpanContext) -> String {
    if cx.is_valid() {
        cx.trace_id().to_string()
    } else {
        String::new()
    }
}

/// Reads a `traceparent` from elsewhere. Returns `None` for a text that does not fit the W3C
/// format.
pub fn parse_traceparent(text: &str) -> Option<SpanContext> {
    let mut parts = text.split('-');
    let (version, trace) = (parts.next()?, parts.next()?);
    let (span, flags) = (parts.next()?, parts.next()?);
    hex(version, 2)?;
    // Version 00 has four parts; later ones may have more, ff is none.
    if version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let trace = TraceId::from_hex(hex(trace, 32)?).ok()?;
    let span = SpanId::from_hex(hex(span, 16)?).ok()?;
    let flags = u8::from_str_radix(hex(flags, 2)?, 16).ok()?;
    let flags = TraceFlags::new(flags) & TraceFlags::SAMPLED;
    let cx = SpanContext::new(trace, span, flags, true, TraceState::default());
    cx.is_valid().then_some(cx)
}

fn hex(text: &str, length: usize) -> Option<&str> {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (text.len() == length && text.bytes().all(digit)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_trace_context_survives_the_round_trip() {
        let cx = parse_traceparent(TEXT).unwrap();
        assert!(cx.is_sampled() && cx.is_remote());
        assert_eq!(traceparent(&cx), TEXT);
        assert_eq!(trace_id(&cx), "0af7651916cd43dd8448eb211c80319c");
        let quiet = TEXT.replace("-01", "-00");
        assert_eq!(traceparent(&parse_traceparent(&quiet).unwrap()), quiet);
    }

    #[test]
    fn what_is_no_trace_context_is_none() {
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-ßaf7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        ] {
            assert!(parse_traceparent(text).is_none(), "{text}");
        }
        assert_eq!(traceparent(&SpanContext::empty_context()), "");
    }
}
