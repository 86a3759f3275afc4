//! Calls within traces: a call carries the span from which it was made as `traceparent`, and the
//! server's part of it is a span below that one.
//!
//! Always: only processes of ours are believed, because only those reach a server. Streams that live
//! for long carry nothing here: their messages have the contexts inside.

use std::future::Future;

use axum::http::{HeaderMap, HeaderValue, Request as HttpRequest, Response};
use futures::future::BoxFuture;
use opentelemetry::{
    Context, KeyValue,
    trace::{FutureExt, SpanKind, Status as SpanStatus, TraceContextExt, Tracer as _},
};
use tonic::{Code, Request, Status, metadata::MetadataMap};

use crate::telemetry::{Tracer, parse_traceparent, traceparent};

const HEADER: &str = "traceparent";

/// Returns the request of a call that is made from the active span, if there is one.
pub fn traced<M>(message: M) -> Request<M> {
    let mut headers = HeaderMap::new();
    name_span(&mut headers);
    let mut request = Request::new(message);
    *request.metadata_mut() = MetadataMap::from_headers(headers);
    request
}

/// Writes the active span into the headers of a call.
pub(super) fn name_span(headers: &mut HeaderMap) {
    let text = Context::map_current(|here| traceparent(here.span().span_context()));
    // Our own text is a valid header; an empty one stands for no span.
    if let (false, Ok(value)) = (text.is_empty(), HeaderValue::try_from(text)) {
        headers.insert(HEADER, value);
    }
}

/// Starts the server's span of a call. Returns its context; `None`: nobody follows the call.
pub(super) fn begin<B>(tracer: Option<&Tracer>, request: &HttpRequest<B>) -> Option<Context> {
    let tracer = tracer?;
    let text = request.headers().get(HEADER)?.to_str().ok()?;
    let parent = parse_traceparent(text)?;
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let (service, method) = path.split_once('/')?;
    let attributes = [
        KeyValue::new("rpc.system", "grpc"),
        KeyValue::new("rpc.service", service.to_owned()),
        KeyValue::new("rpc.method", method.to_owned()),
    ];
    let span = tracer
        .span_builder(path)
        .with_kind(SpanKind::Server)
        .with_attributes(attributes)
        .start_with_context(tracer, &Context::new().with_remote_span_context(parent));
    Some(Context::new().with_span(span))
}

/// Answers a call within its span, and ends the span.
pub(super) fn within<F, B, E>(context: Context, answer: F) -> BoxFuture<'static, F::Output>
where
    F: Future<Output = Result<Response<B>, E>> + Send + 'static,
{
    let span = context.clone();
    Box::pin(async move {
        let answered = answer.with_context(context).await;
        let span = span.span();
        // The status of a call that succeeds comes behind its answer.
        let code = match &answered {
            Ok(answer) => Status::from_header_map(answer.headers()).map_or(Code::Ok, |s| s.code()),
            Err(_) => Code::Unknown,
        };
        span.set_attribute(KeyValue::new(
            "rpc.grpc.status_code",
            i64::from(i32::from(code)),
        ));
        if faulty(code) {
            span.set_status(SpanStatus::error(code.description()));
        }
        span.end();
        answered
    })
}

/// Returns whether a status is the server's own fault, by OpenTelemetry's rules for gRPC.
fn faulty(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_call_carries_the_span_from_which_it_is_made() {
        assert!(traced(()).metadata().get(HEADER).is_none());
        let span = parse_traceparent(TEXT).unwrap();
        let _here = Context::new().with_remote_span_context(span).attach();
        assert_eq!(traced(()).metadata().get(HEADER).unwrap(), TEXT);
    }
}
