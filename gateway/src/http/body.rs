//! The body of a request: read whole before the route sees it, so that nothing behind the door
//! waits for a client.
//!
//! Always: at most 1 MiB, which must be there within a time; what a client only promises takes no
//! memory; so many bodies are read at once and no more.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{
        HeaderValue, StatusCode, Uri,
        header::{CONNECTION, CONTENT_LENGTH, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::{sync::Semaphore, time::timeout};

use super::problem::Problem;

/// A body has at most this many bytes.
const BYTES_MAX: usize = 1024 * 1024;
/// Bodies that are read at the same time; with their greatest length, what they may take.
const BODIES_MAX: usize = 128;
/// Requests that are answered at the same time.
const REQUESTS_MAX: usize = 512;

/// What requests may take of this gateway, all together.
#[derive(Clone)]
pub(crate) struct Load {
    requests: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
}

impl Load {
    pub(crate) fn new() -> Self {
        Self {
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
            bodies: Arc::new(Semaphore::new(BODIES_MAX)),
        }
    }

    /// A place for a request; refused when there is none.
    pub(crate) fn place(&self, uri: &Uri) -> Result<tokio::sync::OwnedSemaphorePermit, Response> {
        let place = Arc::clone(&self.requests).try_acquire_owned();
        place.map_err(|_| busy(uri))
    }

    /// The request with its whole body, or why it is not taken.
    pub(crate) async fn whole(
        &self,
        request: Request,
        patience: Duration,
    ) -> Result<Request, Response> {
        if request.body().is_end_stream() {
            return Ok(request);
        }
        let (parts, body) = request.into_parts();
        let promised = parts.headers.get(CONTENT_LENGTH);
        let promised = promised.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if promised.is_some_and(|bytes| bytes > BYTES_MAX as u64) {
            return Err(too_large(&parts.uri));
        }
        let Ok(_place) = self.bodies.try_acquire() else {
            return Err(busy(&parts.uri));
        };
        match timeout(patience, Limited::new(body, BYTES_MAX).collect()).await {
            Ok(Ok(read)) => {
                let body = Body::from(read.to_bytes());
                Ok(Request::from_parts(parts, body))
            }
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(&parts.uri)),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a body broke off");
                let status = StatusCode::BAD_REQUEST;
                Err(ending(
                    status,
                    "bad_request",
                    "The body broke off.",
                    &parts.uri,
                ))
            }
            Err(_) => {
                let why = format!("The body must be there within {patience:?}.");
                let status = StatusCode::REQUEST_TIMEOUT;
                Err(ending(status, "request_timeout", &why, &parts.uri))
            }
        }
    }
}

fn too_large(uri: &Uri) -> Response {
    let why = "A body has at most 1 MiB.";
    ending(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", why, uri)
}

fn busy(uri: &Uri) -> Response {
    let why = "Too many requests at the same time; try again in a moment.";
    let mut response = ending(StatusCode::SERVICE_UNAVAILABLE, "not_ready", why, uri);
    let soon = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, soon);
    response
}

/// An answer behind which the connection ends: what is still to come of the body is not read.
fn ending(status: StatusCode, code: &'static str, why: &str, uri: &Uri) -> Response {
    let mut response = Problem::new(status, code, why, uri).into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures::{StreamExt, stream};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    async fn status(body: Body, length: Option<usize>) -> u16 {
        let mut request = Request::post("/api/x");
        if let Some(length) = length {
            request = request.header(CONTENT_LENGTH, length);
        }
        let request = request.body(body).unwrap();
        match Load::new().whole(request, PATIENCE).await {
            Ok(request) => {
                let read = request.into_body().collect().await.unwrap().to_bytes();
                assert!(read.iter().all(|byte| *byte == b'x'));
                200
            }
            Err(response) => {
                assert_eq!(response.headers()[CONNECTION], "close");
                response.status().as_u16()
            }
        }
    }

    fn chunks(count: usize) -> Body {
        let chunk = Ok::<_, Infallible>(Bytes::from(vec![b'x'; 1024]));
        Body::from_stream(stream::iter(std::iter::repeat_n(chunk, count)))
    }

    #[tokio::test]
    async fn a_body_of_one_mebibyte_passes_and_a_byte_more_does_not() {
        let of = |bytes| Body::from(vec![b'x'; bytes]);
        assert_eq!(status(of(BYTES_MAX), Some(BYTES_MAX)).await, 200);
        assert_eq!(status(of(BYTES_MAX + 1), Some(BYTES_MAX + 1)).await, 413);
        assert_eq!(status(Body::empty(), None).await, 200);
        assert_eq!(status(chunks(1024), None).await, 200);
        assert_eq!(status(chunks(1025), None).await, 413);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_cut_after_its_time() {
        let drip = |n: u32| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(Bytes::from(vec![b'x'; n.min(1) as usize]))
        };
        let dripping = || Body::from_stream(stream::iter(1_u32..).then(drip));
        let began = tokio::time::Instant::now();
        assert_eq!(status(dripping(), None).await, 408);
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[tokio::test]
    async fn beyond_so_many_at_once_requests_are_told_to_come_again() {
        let load = Load::new();
        let uri = Uri::from_static("/api/x");
        let mut places: Vec<_> = (0..REQUESTS_MAX).map(|_| load.place(&uri)).collect();
        assert!(places.iter().all(Result::is_ok));
        let refused = load.place(&uri).err().unwrap();
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.headers()[RETRY_AFTER], "1");
        places.pop();
        assert!(load.place(&uri).is_ok());
    }
}
