//! A body that does not change while the process lives. Its tag saves a second transfer, and its
//! compression makes the first one fast.

use std::sync::{Arc, OnceLock};

use axum::{
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY},
    },
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::encoding::{Encoding, accepted};

/// Permission to keep a body for five minutes.
pub(crate) const FIVE_MINUTES: &str = "public, max-age=300, must-revalidate";
/// Permission to keep a body, but with a question to the gateway each time.
pub(crate) const ASK: &str = "no-cache";

/// Permission to keep a body that never changes under its name.
pub(crate) const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// Shortest body to compress, in bytes; a shorter one fits into a packet as it is.
const PACKED_BYTES_MIN: usize = 1024;
/// Longest body to compress, in bytes; a longer one would hold up others for too long.
const PACKED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A body, its type and its tag.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    body: Bytes,
    kind: &'static str,
    cache: &'static str,
    tag: String,
    /// `None`: the gateway always sends the body as it is.
    packed: Option<Arc<Packed>>,
}

/// The body compressed: once, at the first request for it. `None`: compression makes it no
/// shorter.
#[derive(Debug, Default)]
struct Packed {
    gzip: OnceLock<Option<Bytes>>,
    brotli: OnceLock<Option<Bytes>>,
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

    /// Makes a body with the caller's tag.
    pub(crate) fn tagged(
        body: impl Into<Bytes>,
        kind: &'static str,
        cache: &'static str,
        tag: &str,
    ) -> Self {
        Self {
            body: body.into(),
            kind,
            cache,
            tag: tag.to_owned(),
            packed: None,
        }
    }

    /// Makes the gateway send the body compressed to clients that take that. Only for a kept body:
    /// compression for one answer costs more than it saves.
    pub(crate) fn packed(mut self) -> Self {
        let sizes = PACKED_BYTES_MIN..=PACKED_BYTES_MAX;
        if sizes.contains(&self.body.len()) && compressible(self.kind) {
            self.packed = Some(Arc::default());
        }
        self
    }

    /// Adds the body as the build has compressed it.
    pub(crate) fn built(mut self, gzip: &'static [u8], brotli: &'static [u8]) -> Self {
        let shorter = |packed: &'static [u8]| {
            let packed = (packed.len() < self.body.len()).then(|| Bytes::from_static(packed));
            OnceLock::from(packed)
        };
        self.packed = Some(Arc::new(Packed {
            gzip: shorter(gzip),
            brotli: shorter(brotli),
        }));
        self
    }

    /// Returns the media type.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the plain bytes.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Answers with the body, or that the client has it already.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        let (encoding, body) = self.chosen(headers);
        let tag = self.tag(encoding);
        let mut common: Vec<(HeaderName, HeaderValue)> =
            vec![(CACHE_CONTROL, HeaderValue::from_static(self.cache))];
        if self.packed.is_some() {
            common.push((VARY, HeaderValue::from_static("Accept-Encoding")));
        }
        let known = known(headers, &tag);
        common.extend(HeaderValue::try_from(tag).ok().map(|tag| (ETAG, tag)));
        let mut response = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => {
                common.push((CONTENT_TYPE, HeaderValue::from_static(self.kind)));
                common.extend(encoding.header().map(|name| (CONTENT_ENCODING, name)));
                body.into_response()
            }
        };
        let headers = response.headers_mut();
        for (name, value) in common {
            headers.insert(name, value);
        }
        response
    }

    /// Returns the best encoding that there is for a client, and the body in it.
    fn chosen(&self, headers: &HeaderMap) -> (Encoding, Bytes) {
        let Some(packed) = &self.packed else {
            return (Encoding::Identity, self.body.clone());
        };
        for encoding in accepted(headers) {
            let kept = match encoding {
                Encoding::Brotli => &packed.brotli,
                Encoding::Gzip => &packed.gzip,
                Encoding::Identity => break,
            };
            let made = kept.get_or_init(|| {
                let made = encoding.pack(&self.body);
                (made.len() < self.body.len()).then(|| Bytes::from(made))
            });
            if let Some(body) = made {
                return (encoding, body.clone());
            }
        }
        (Encoding::Identity, self.body.clone())
    }

    /// Returns a strong tag: other bytes, another tag.
    fn tag(&self, encoding: Encoding) -> String {
        let tag = &self.tag;
        match encoding {
            Encoding::Brotli => format!("\"{tag}-br\""),
            Encoding::Gzip => format!("\"{tag}-gzip\""),
            Encoding::Identity => format!("\"{tag}\""),
        }
    }
}

fn known(headers: &HeaderMap, ours: &str) -> bool {
    let lines = headers.get_all(IF_NONE_MATCH).iter();
    let tags = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    tags.map(str::trim)
        .any(|tag| tag == "*" || tag.trim_start_matches("W/") == ours)
}

/// Returns whether compression helps a type. Pictures, sounds and fonts for the web are already
/// compressed.
fn compressible(kind: &str) -> bool {
    let compressed = ["audio/", "video/", "image/", "font/woff"];
    kind == "image/svg+xml" || !compressed.iter().any(|family| kind.starts_with(family))
}

#[cfg(test)]
mod tests {
    use axum::http::header::ACCEPT_ENCODING;

    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn who_names_the_tag_gets_no_body() {
        let stored = Stored::new("hello", "text/plain", FIVE_MINUTES);
        let first = stored.answer(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].clone();
        let ask = |value: &str| stored.answer(&headers(&[(IF_NONE_MATCH, value)]));
        let tag = tag.to_str().unwrap();
        for named in [tag, &format!("\"x\", W/{tag}"), "*"] {
            let answer = ask(named);
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(answer.headers()[CACHE_CONTROL], FIVE_MINUTES);
        }
        assert_eq!(ask("\"x\"").status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn each_encoding_has_its_own_tag_and_what_no_encoding_shortens_is_sent_as_it_is() {
        let text = "all the same ".repeat(200);
        let stored = Stored::new(text.clone(), "text/plain", ASK).packed();
        let mut tags = Vec::new();
        for (asked, named) in [("br, gzip", "br"), ("gzip", "gzip"), ("identity", "")] {
            let answer = stored.answer(&headers(&[(ACCEPT_ENCODING, asked)]));
            let sent = answer.headers().clone();
            let encoding = sent.get(CONTENT_ENCODING);
            assert_eq!(encoding.map_or("", |name| name.to_str().unwrap()), named);
            assert_eq!(sent[VARY], "Accept-Encoding");
            let body = axum::body::to_bytes(answer.into_body(), 65_536)
                .await
                .unwrap();
            assert_eq!(body.len() == text.len(), named.is_empty());
            let tag = sent[ETAG].to_str().unwrap();
            let again = headers(&[(ACCEPT_ENCODING, asked), (IF_NONE_MATCH, tag)]);
            let again = stored.answer(&again);
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(
                (&again.headers()[ETAG], &again.headers()[VARY]),
                (&sent[ETAG], &sent[VARY])
            );
            assert!(!tags.contains(&tag.to_owned()), "{tags:?} {tag}");
            tags.push(tag.to_owned());
        }
        let noise: Vec<u8> = (0..2000_u32)
            .flat_map(|n| Sha256::digest(n.to_be_bytes()))
            .collect();
        let noise = Stored::new(noise, "application/octet-stream", ASK).packed();
        let answer = noise.answer(&headers(&[(ACCEPT_ENCODING, "br")]));
        assert!(answer.headers().get(CONTENT_ENCODING).is_none());
    }

    #[test]
    fn pictures_are_not_compressed_again() {
        for kind in ["image/png", "audio/ogg", "video/mp4", "font/woff2"] {
            assert!(!compressible(kind), "{kind}");
        }
        for kind in [
            "image/svg+xml",
            "text/css; charset=utf-8",
            "application/wasm",
            "font/ttf",
        ] {
            assert!(compressible(kind), "{kind}");
        }
    }
}
