//! Client for one file of a content server.
//!
//! Always: an attempt ends by its deadline; a body is never longer than a manifest may be. The
//! client follows no redirect, so it asks only the server that the settings name.

use std::time::Duration;

use reqwest::{
    StatusCode, Url,
    header::{ETAG, HeaderMap, IF_NONE_MATCH, RETRY_AFTER},
    redirect::Policy,
};

use crate::{folder::BYTES_MAX, plan::Outcome};

/// Timeout of the connection itself.
const CONNECT: Duration = Duration::from_secs(3);
/// Attempts at a file before the client gives up.
const ATTEMPTS: usize = 3;
/// Longest tag worth keeping, in bytes.
const TAG_BYTES_MAX: usize = 256;

/// A content server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    attempt: Duration,
}

/// Reason why an attempt failed.
enum Failure {
    /// Failure that another attempt may not meet.
    Passing(String),
    /// Failure that every attempt would meet.
    Permanent(String),
}

impl Client {
    /// Returns a client of the manifests below `base`. Fails if `base` is https and the machine has
    /// no certificates to trust.
    pub(crate) fn new(base: &str, attempt: Duration) -> anyhow::Result<Self> {
        service_runtime::run::install_crypto();
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("tilestead/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .no_proxy();
        if base.starts_with("http://") {
            // Without encryption there is nobody to trust.
            http = http.tls_certs_only([]);
        }
        Ok(Self {
            http: http.build()?,
            base: base.to_owned(),
            attempt,
        })
    }

    /// Asks for the manifest at `path`, of which the copy has the tag `etag`.
    pub(crate) async fn get(&self, path: &str, etag: Option<&str>) -> Outcome {
        let url = match Url::parse(&format!("{}/manifests/{path}", self.base)) {
            Ok(url) => url,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        let mut pause = service_runtime::rpc::Backoff::new();
        let mut last = String::new();
        for attempt in 1..=ATTEMPTS {
            let asked = tokio::time::timeout(self.attempt, self.once(url.clone(), etag)).await;
            match asked {
                Ok(Ok(outcome)) => return outcome,
                Ok(Err(Failure::Permanent(why))) => return Outcome::Failed(why),
                Ok(Err(Failure::Passing(why))) => last = why,
                Err(_) => last = format!("not all of it came in {:?}", self.attempt),
            }
            tracing::debug!(path, attempt, why = last, "a manifest did not come");
            if attempt < ATTEMPTS {
                pause.wait().await;
            }
        }
        Outcome::Failed(last)
    }

    async fn once(&self, url: Url, etag: Option<&str>) -> Result<Outcome, Failure> {
        let mut request = self.http.get(url);
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let response = request.send().await.map_err(|error| passing(&error))?;
        let status = response.status();
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Outcome::Unchanged),
            // A file store that does not list its files answers 403 for a missing one.
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::FORBIDDEN => {
                return Ok(Outcome::Absent);
            }
            _ if status.is_redirection() => {
                return Err(Failure::Permanent(format!(
                    "the answer is {status}; redirects are not followed"
                )));
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                return Err(Failure::Passing(refused(status, response.headers())));
            }
            _ if status.is_server_error() => {
                return Err(Failure::Passing(refused(status, response.headers())));
            }
            _ => return Err(Failure::Permanent(format!("the answer is {status}"))),
        }
        let etag = tag(response.headers());
        let text = text(response).await?;
        Ok(Outcome::Fresh { text, etag })
    }
}

/// Returns the tag of an answer, as the next request sends it.
fn tag(headers: &HeaderMap) -> Option<String> {
    let tag = headers.get(ETAG)?.to_str().ok()?;
    (!tag.is_empty() && tag.len() <= TAG_BYTES_MAX).then(|| tag.to_owned())
}

async fn text(mut response: reqwest::Response) -> Result<String, Failure> {
    let too_long = || Failure::Permanent(format!("it is longer than {BYTES_MAX} bytes"));
    if response.content_length().is_some_and(|n| n > BYTES_MAX) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| passing(&error))? {
        if (body.len() + part.len()) as u64 > BYTES_MAX {
            return Err(too_long());
        }
        body.extend_from_slice(&part);
    }
    String::from_utf8(body).map_err(|_| Failure::Permanent("it is not UTF-8".to_owned()))
}

fn refused(status: StatusCode, headers: &HeaderMap) -> String {
    match headers.get(RETRY_AFTER).and_then(|v| v.to_str().ok()) {
        Some(after) => format!("the answer is {status}, to be asked again after {after}"),
        None => format!("the answer is {status}"),
    }
}

/// Returns an error with all its causes, but without the address, which the reader of the log has.
fn passing(error: &reqwest::Error) -> Failure {
    let mut story = Vec::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        story.push(error.to_string());
        cause = error.source();
    }
    if story.is_empty() {
        story.push(error.to_string());
    }
    story.dedup();
    Failure::Passing(story.join(": "))
}
