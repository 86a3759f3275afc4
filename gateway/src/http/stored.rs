//! A body that does not change while the process lives: with a tag, so that it is sent once.

use axum::{
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
    },
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// What may be kept for five minutes.
pub(crate) const FIVE_MINUTES: &str = "public, max-age=300, must-revalidate";
/// What may be kept, but is asked about each time.
pub(crate) const ASK: &str = "no-cache";

/// What never changes under its name.
pub(crate) const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A body, its type and its tag.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    body: Bytes,
    kind: &'static str,
    cache: &'static str,
    tag: HeaderValue,
}

impl Stored {
    pub(crate) fn new(body: impl Into<Bytes>, kind: &'static str, cache: &'static str) -> Self {
        let body = body.into();
        let hash = Sha256::digest(&body);
        let hex: String = hash[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self::tagged(body, kind, cache, &hex)
    }

    /// With a tag of the caller's.
    pub(crate) fn tagged(
        body: impl Into<Bytes>,
        kind: &'static str,
        cache: &'static str,
        tag: &str,
    ) -> Self {
        let tag = HeaderValue::try_from(format!("\"{tag}\""));
        Self {
            body: body.into(),
            kind,
            cache,
            tag: tag.unwrap_or(HeaderValue::from_static("\"\"")),
        }
    }

    /// Its type.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// What is in it.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body, or that the client has it already.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        let common: [(HeaderName, HeaderValue); 2] = [
            (ETAG, self.tag.clone()),
            (CACHE_CONTROL, HeaderValue::from_static(self.cache)),
        ];
        if self.known(headers) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        let kind = [(CONTENT_TYPE, HeaderValue::from_static(self.kind))];
        (common, kind, self.body.clone()).into_response()
    }

    fn known(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(IF_NONE_MATCH).iter();
        let tags = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','));
        let ours = self.tag.to_str().unwrap_or_default();
        tags.map(str::trim)
            .any(|tag| tag == "*" || tag.trim_start_matches("W/") == ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_the_tag_gets_no_body() {
        let stored = Stored::new("hello", "text/plain", FIVE_MINUTES);
        let first = stored.answer(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].clone();
        let ask = |value: String| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, value.parse().unwrap());
            stored.answer(&headers)
        };
        let tag = tag.to_str().unwrap();
        for named in [tag.to_owned(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let answer = ask(named);
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(answer.headers()[CACHE_CONTROL], FIVE_MINUTES);
        }
        assert_eq!(ask("\"x\"".to_owned()).status(), StatusCode::OK);
    }
}
