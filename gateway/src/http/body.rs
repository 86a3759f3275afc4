//! The body of a request. The gateway reads it whole before the route sees it, so that no route
//! waits for a client.
//!
//! Always: a body has at most 1 MiB, must be there within a time and must not drip. A promised
//! length takes no memory. The gateway reads a bounded number of bodies at once, and only a part
//! of those for one address or account.

use std::{error::Error, sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{
        HeaderValue, StatusCode, Uri,
        header::{CONNECTION, CONTENT_LENGTH, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::{Instant, timeout_at},
};

use super::problem::Problem;
use crate::limits::{
    shares::{Share, Shares},
    subject::Subject,
};

/// A body has at most this many bytes.
const BYTES_MAX: usize = 1024 * 1024;
/// Bodies in flight at the same time; times [`BYTES_MAX`], this bounds their memory.
const BODIES_MAX: usize = 128;
/// Bodies of one address at the same time, with all its accounts.
const BODIES_PER_ADDRESS_MAX: usize = 16;
/// Bodies of one account at the same time, from all addresses.
const BODIES_PER_ACCOUNT_MAX: usize = 8;
/// Time for the first bytes of a body, and for a packet that the client must send again.
const GRACE: Duration = Duration::from_secs(3);
/// Least rate of a body after [`GRACE`], in bytes a second.
const BYTES_PER_SECOND_MIN: u64 = 1024;
/// Requests that the gateway answers at the same time.
const REQUESTS_MAX: usize = 512;

/// Bounds of the requests in progress at this gateway.
#[derive(Clone)]
pub(crate) struct Load {
    requests: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    by_address: Shares,
    by_account: Shares,
}

/// Address and account of a request.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) address: Subject,
    /// The account, where it is known.
    pub(crate) account: Option<Subject>,
}

/// A place for a body, in total and among those of its asker.
struct Place<'a> {
    _all: SemaphorePermit<'a>,
    _address: Share,
    _account: Option<Share>,
}

impl Load {
    pub(crate) fn new() -> Self {
        Self {
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
            bodies: Arc::new(Semaphore::new(BODIES_MAX)),
            by_address: Shares::new(BODIES_PER_ADDRESS_MAX),
            by_account: Shares::new(BODIES_PER_ACCOUNT_MAX),
        }
    }

    /// Takes a place for a request; the error is the answer where there is none.
    pub(crate) fn place(&self, uri: &Uri) -> Result<OwnedSemaphorePermit, Response> {
        let place = Arc::clone(&self.requests).try_acquire_owned();
        place.map_err(|_| busy(uri))
    }

    /// Returns the request with its whole body; the error is the answer to a body that the gateway
    /// does not take.
    pub(crate) async fn whole(
        &self,
        request: Request,
        asker: &Asker,
        time_limit: Duration,
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
        let _place = self.place_of_body(asker, &parts.uri)?;
        match read(body, time_limit).await {
            Ok(bytes) => Ok(Request::from_parts(parts, Body::from(bytes))),
            Err(why) => Err(why.answer(time_limit, &parts.uri)),
        }
    }

    fn place_of_body(&self, asker: &Asker, uri: &Uri) -> Result<Place<'_>, Response> {
        let of_address = self.by_address.take(asker.address.clone());
        let of_address =
            of_address.ok_or_else(|| too_many(BODIES_PER_ADDRESS_MAX, "address", uri))?;
        let of_account = match &asker.account {
            Some(account) => {
                let share = self.by_account.take(account.clone());
                Some(share.ok_or_else(|| too_many(BODIES_PER_ACCOUNT_MAX, "account", uri))?)
            }
            None => None,
        };
        Ok(Place {
            _all: self.bodies.try_acquire().map_err(|_| busy(uri))?,
            _address: of_address,
            _account: of_account,
        })
    }
}

/// Reason why a body is not there.
enum Unread {
    TooLarge,
    /// A body that took longer than the configured time.
    Late,
    /// A body that came slower than the least rate.
    Dripped,
    BrokeOff(Box<dyn Error + Send + Sync>),
}

impl Unread {
    fn answer(self, time_limit: Duration, uri: &Uri) -> Response {
        let (status, code, why) = match self {
            Self::TooLarge => return too_large(uri),
            Self::Late => (
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                format!("The body must be there within {time_limit:?}."),
            ),
            Self::Dripped => (
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                format!(
                    "The body must bring {BYTES_PER_SECOND_MIN} bytes a second after its first \
                     {GRACE:?}."
                ),
            ),
            Self::BrokeOff(error) => {
                tracing::debug!(%error, "a body broke off");
                let why = "The body broke off.".to_owned();
                (StatusCode::BAD_REQUEST, "bad_request", why)
            }
        };
        ending(status, code, &why, uri)
    }
}

/// Reads a body to its end; leaves out trailers.
async fn read(body: Body, time_limit: Duration) -> Result<Bytes, Unread> {
    let began = Instant::now();
    let mut body = Limited::new(body, BYTES_MAX);
    let mut bytes = BytesMut::new();
    loop {
        let earned = Duration::from_secs(bytes.len() as u64 / BYTES_PER_SECOND_MIN);
        let until = time_limit.min(GRACE + earned);
        match timeout_at(began + until, body.frame()).await {
            Ok(None) => return Ok(bytes.freeze()),
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    bytes.extend_from_slice(&data);
                }
            }
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => return Err(Unread::TooLarge),
            Ok(Some(Err(error))) => return Err(Unread::BrokeOff(error)),
            Err(_) if until == time_limit => return Err(Unread::Late),
            Err(_) => return Err(Unread::Dripped),
        }
    }
}

/// Makes the answer to an asker who has too many bodies on their way.
fn too_many(most: usize, whose: &str, uri: &Uri) -> Response {
    let why = format!(
        "At most {most} bodies of your {whose} may be on their way at the same time; try again in \
         a moment."
    );
    let mut response = ending(StatusCode::TOO_MANY_REQUESTS, "rate_limited", &why, uri);
    let soon = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, soon);
    response
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

/// Makes an answer that ends the connection, so that the gateway need not read the rest of a
/// body.
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

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn asker(address: [u8; 4], account: Option<&str>) -> Asker {
        Asker {
            address: Subject::address(address.into()),
            account: account.map(|id| Subject::Account(id.to_owned())),
        }
    }

    async fn status(body: Body, length: Option<usize>) -> u16 {
        let mut request = Request::post("/api/x");
        if let Some(length) = length {
            request = request.header(CONTENT_LENGTH, length);
        }
        let request = request.body(body).unwrap();
        match Load::new()
            .whole(request, &asker([10, 0, 0, 1], None), TIMEOUT)
            .await
        {
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

    /// Makes an endless body of so many bytes every second.
    fn dripping(bytes: usize) -> Body {
        let drip = move |()| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(Bytes::from(vec![b'x'; bytes]))
        };
        Body::from_stream(stream::repeat(()).then(drip))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_cut_soon_and_one_that_flows_has_its_time() {
        let began = tokio::time::Instant::now();
        assert_eq!(status(dripping(1), None).await, 408);
        assert_eq!(began.elapsed(), GRACE);
        let began = tokio::time::Instant::now();
        assert_eq!(status(dripping(1024), None).await, 408);
        assert_eq!(began.elapsed(), TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_that_ends_in_time_is_read() {
        let slow = dripping(1024).into_data_stream().take(9);
        assert_eq!(status(Body::from_stream(slow), None).await, 200);
    }

    #[test]
    fn no_address_and_no_account_takes_the_places_of_others() {
        let load = Load::new();
        let uri = Uri::from_static("/api/x");
        let place = |asker: &Asker| {
            let place = load.place_of_body(asker, &uri);
            place.map_err(|refused| refused.status().as_u16())
        };
        let mut held = Vec::new();
        // One account may use several addresses, and one address several accounts.
        for n in 0..8 {
            held.push(place(&asker([10, 0, 1, n], Some("ann"))).unwrap());
        }
        let refused = place(&asker([10, 0, 1, 9], Some("ann"))).err();
        assert_eq!(refused, Some(429));
        for n in 0..16 {
            held.push(place(&asker([10, 0, 0, 1], Some(&format!("of one address {n}")))).unwrap());
        }
        let refused = place(&asker([10, 0, 0, 1], Some("bob"))).err();
        assert_eq!(refused, Some(429));
        assert!(place(&asker([10, 0, 0, 2], Some("bob"))).is_ok());
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
