//! Strict readers of a request's body, query and path.
//!
//! Always: the answer to an unreadable request is a problem that names the wrong place and the
//! allowed values; no body is longer than [`BODY_BYTES_MAX`].

use axum::{
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE, request::Parts},
    response::IntoResponse,
};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use super::problem::{Code, Problem};

/// The longest body, in bytes.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// The longest id, in bytes.
const ID_BYTES_MAX: usize = 128;

/// The JSON body of a request.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            let why = "Send JSON, with `Content-Type: application/json`.";
            return Err(Problem::of(Code::UnsupportedMediaType, why));
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|refused| unread(refused.into_response().status()))?;
        read(&bytes).map(Self)
    }
}

/// Returns the problem for a body that did not come whole.
fn unread(status: StatusCode) -> Problem {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let why = format!("A body may have at most {BODY_BYTES_MAX} bytes.");
            Problem::of(Code::BodyTooLarge, why)
        }
        _ => Problem::of(Code::BadRequest, "The body ended before its end."),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or("");
    let kind = kind.trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut text = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let pointer = pointer(error.path());
        let error = error.into_inner();
        if error.is_data() {
            Problem::invalid(pointer, plain(&error.to_string()))
        } else {
            Problem::of(
                Code::MalformedJson,
                format!("The body is not JSON: {error}."),
            )
        }
    })?;
    text.end().map_err(|error| {
        Problem::of(
            Code::MalformedJson,
            format!("The body goes on after its end: {error}."),
        )
    })?;
    Ok(read)
}

/// Returns an error's text without its position, which the pointer tells.
fn plain(error: &str) -> &str {
    error.split(" at line ").next().unwrap_or(error)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut out = String::new();
    for segment in path {
        let name = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => continue,
        };
        out.push('/');
        out.push_str(&name);
    }
    out
}

/// Reads a field that may be missing, but may not be null.
pub(crate) fn there<'de, D, T>(value: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(value).map(Some)
}

/// The parameters after the `?`.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let text = parts.uri.query().unwrap_or_default();
        let pairs = serde_urlencoded::from_str::<Vec<(String, String)>>(text);
        let pairs = pairs.map_err(|error| Problem::invalid("", error.to_string()))?;
        if let Some((name, _)) = pairs.iter().find(|(_, value)| value.contains('\0')) {
            return Err(Problem::invalid(format!("/{name}"), "NUL is not allowed"));
        }
        let text = serde_urlencoded::Deserializer::new(form(text));
        let read = serde_path_to_error::deserialize(text).map_err(|error| {
            let pointer = pointer(error.path());
            Problem::invalid(pointer, error.into_inner().to_string())
        })?;
        Ok(Self(read))
    }
}

fn form(text: &str) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(text.as_bytes())
}

/// The one id in a path. A text that cannot be an id gets a 404.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let none = || Problem::of(Code::NotFound, "There is nothing with this id.");
        let Path(id) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| none())?;
        let plain = !id.chars().any(char::is_control);
        if id.is_empty() || id.len() > ID_BYTES_MAX || !plain {
            return Err(none());
        }
        Ok(Self(id))
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, routing::get};
    use tower::ServiceExt;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        name: String,
        #[serde(default)]
        counts: Vec<u8>,
    }

    #[test]
    fn what_is_wrong_with_a_body_is_said_with_its_place() {
        let good: Asked = read(br#"{"name": "Ann", "counts": [1, 2]}"#).unwrap();
        assert_eq!((good.name.as_str(), good.counts.len()), ("Ann", 2));
        let ask = |text: &str| read::<Asked>(text.as_bytes()).unwrap_err();
        for (text, pointer) in [
            (r#"{"name": 7}"#, "/name"),
            (r#"{"name": "a", "counts": [1, 999]}"#, "/counts/1"),
            (r#"{"name": "a", "more": 1}"#, "/more"),
            (r"{}", ""),
            (r"[]", ""),
        ] {
            let problem = ask(text);
            assert_eq!(problem.code, "invalid_request", "{text}");
            assert_eq!(problem.errors[0].pointer, pointer, "{text}: {problem:?}");
            assert!(!problem.detail.contains("at line"), "{problem:?}");
        }
        for text in ["", "{", "nonsense", "{} {}", r#"{"name": "a"} x"#] {
            let problem = ask(text);
            let code = problem.code;
            assert!(
                code == "malformed_json" || text == "{} {}",
                "{text}: {problem:?}"
            );
            assert_eq!(problem.status, 400);
        }
    }

    #[test]
    fn only_json_is_json() {
        let is = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            is_json(&headers)
        };
        for kind in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/a+json",
        ] {
            assert!(is(kind), "{kind}");
        }
        for kind in [
            "text/json",
            "text/plain",
            "application/x-www-form-urlencoded",
            "json",
        ] {
            assert!(!is(kind), "{kind}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[derive(Deserialize)]
    struct Page {
        page: Option<u32>,
    }

    #[tokio::test]
    async fn queries_and_ids_that_cannot_be_are_refused() {
        let router = Router::new()
            .route(
                "/q",
                get(|Query(ask): Query<Page>| async move { format!("{:?}", ask.page) }),
            )
            .route("/id/{id}", get(|Id(id): Id| async move { id }));
        let ask = async |path: &str| {
            let request = Request::get(path).body(axum::body::Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let status = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 65_536).await;
            (status, String::from_utf8(body.unwrap().to_vec()).unwrap())
        };
        assert_eq!(ask("/q?page=3&other=x").await, (200, "Some(3)".to_owned()));
        assert_eq!(ask("/q").await, (200, "None".to_owned()));
        for path in ["/q?page=-1", "/q?page=x", "/q?page=1&page=2", "/q?page=%00"] {
            let (status, body) = ask(path).await;
            assert!(
                status == 400 && body.contains(r#""pointer":"#),
                "{path}: {status} {body}"
            );
        }
        assert_eq!(ask("/id/c-7").await.0, 200);
        let long = format!("/id/{}", "x".repeat(200));
        for path in ["/id/%00", "/id/a%0a", "/id/%ff", long.as_str()] {
            assert_eq!(ask(path).await.0, 404, "{path}");
        }
    }
}
