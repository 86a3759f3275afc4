//! Errors over HTTP: problem documents (RFC 9457) with a stable code.
//!
//! Always: [`layer`] makes such a document of every refusal, also of a library's; each code that
//! a client may meet stands in [`Code`], once.

use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderValue, StatusCode, Uri,
        header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
        response::Parts,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

pub(crate) use super::codes::Code;

/// The type of every error's body.
pub(crate) const KIND: HeaderValue = HeaderValue::from_static("application/problem+json");
/// The longest sentence of a body that is no document, in bytes.
const SENTENCE_BYTES_MAX: usize = 2 * 1024;
/// Seconds after which a client may ask again if a service is away.
const SOON_S: u32 = 2;

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Flaw {
    /// Place of the fault: a JSON pointer into the body, or `/name` of a parameter.
    pub(crate) pointer: String,
    /// The fault, and the values that are allowed.
    pub(crate) detail: String,
}

/// An error that a client may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// Stable, `snake_case`; one of [`Code`].
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) detail: String,
    /// The requested path; empty: [`layer`] fills it in.
    pub(crate) instance: String,
    /// Faults of the request, one by one.
    pub(crate) errors: Vec<Flaw>,
    /// Time until the next try, in seconds.
    pub(crate) retry_after: Option<u32>,
}

/// Reason why a request is refused.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'a str,
    status: u16,
    /// For people.
    detail: &'a str,
    /// Requested path.
    instance: &'a str,
    /// For programs.
    #[schemars(extend("enum" = Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>()))]
    code: &'static str,
    /// The detail again.
    error: &'a str,
    /// All that is wrong with the request, thing by thing.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [Flaw],
}

/// Writes the schema of every error's body.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Document<'static>>()
}

impl Problem {
    /// Makes a problem with the code's own status; [`layer`] fills in the requested path.
    pub(crate) fn of(code: Code, detail: impl Into<String>) -> Self {
        let status = code.status();
        Self {
            status,
            code: code.name(),
            detail: detail.into(),
            instance: String::new(),
            errors: Vec::new(),
            retry_after: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(SOON_S),
        }
    }

    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        detail: impl Into<String>,
        uri: &Uri,
    ) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            instance: uri.path().to_owned(),
            errors: Vec::new(),
            retry_after: None,
        }
    }

    pub(crate) fn not_found(uri: &Uri) -> Self {
        Self {
            instance: uri.path().to_owned(),
            ..Self::of(Code::NotFound, "There is nothing here.")
        }
    }

    /// Makes the problem for a value that is not allowed. `pointer` names its place, as `/name`.
    pub(crate) fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        let flaw = Flaw {
            pointer: pointer.into(),
            detail: detail.into(),
        };
        let said = format!("{}: {}", flaw.pointer.trim_start_matches('/'), flaw.detail);
        Self {
            errors: vec![flaw],
            ..Self::of(Code::InvalidRequest, said.trim_start_matches(": "))
        }
    }

    /// Makes the problem for a name that no character can have.
    pub(crate) fn invalid_name(detail: impl Into<String>) -> Self {
        Self {
            code: Code::InvalidName.name(),
            ..Self::invalid("/name", detail)
        }
    }

    /// Makes the problem for a store that does not answer.
    pub(crate) fn store_away() -> Self {
        let detail = "The store does not answer right now; try again in a moment.";
        Self::of(Code::StorageUnavailable, detail)
    }

    fn body(&self) -> Vec<u8> {
        let document = Document {
            kind: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            instance: &self.instance,
            code: self.code,
            error: &self.detail,
            errors: &self.errors,
        };
        proto::encode::json(&document)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, [(CONTENT_TYPE, KIND)], self.body()).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.instance.is_empty() {
            response.extensions_mut().insert(self);
        }
        response
    }
}

/// Makes a problem document of every error, with the requested path.
pub(crate) async fn layer(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let problem = match parts.extensions.remove::<Problem>() {
        Some(problem) => Problem {
            instance: path,
            ..problem
        },
        None if parts.headers.get(CONTENT_TYPE) == Some(&KIND) => {
            return Response::from_parts(parts, body);
        }
        None => foreign(&parts, body, path).await,
    };
    parts.status = problem.status;
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, KIND);
    Response::from_parts(parts, Body::from(problem.body()))
}

/// Makes the problem for a plain refusal, of a library or of a probe.
async fn foreign(parts: &Parts, body: Body, path: String) -> Problem {
    let code = Code::of_status(parts.status);
    let text = axum::body::to_bytes(body, SENTENCE_BYTES_MAX).await;
    let text = text
        .ok()
        .and_then(|text| String::from_utf8(text.into()).ok());
    let text = text.filter(|text| !text.trim().is_empty());
    let detail = text.as_deref().map_or(code.meaning(), str::trim);
    Problem {
        instance: path,
        retry_after: None,
        ..Problem::of(code, detail)
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, routing::get};
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;

    async fn ask(path: &str) -> (Response, Value) {
        let plain = || async { (StatusCode::UNPROCESSABLE_ENTITY, "wrong shape") };
        let router = Router::new()
            .route(
                "/ours",
                get(|| async { Problem::invalid("/page", "too great") }),
            )
            .route("/away", get(|| async { Problem::store_away() }))
            .route("/plain", get(plain))
            .layer(axum::middleware::from_fn(layer));
        let request = Request::get(path).body(Body::empty()).unwrap();
        let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
        let body = axum::body::to_bytes(body, 65_536).await.unwrap();
        let document = serde_json::from_slice(&body).unwrap();
        (Response::from_parts(parts, Body::empty()), document)
    }

    #[tokio::test]
    async fn every_error_leaves_as_a_document_that_names_what_was_asked_for() {
        let (response, document) = ask("/ours").await;
        assert_eq!(response.status(), 400);
        assert_eq!(response.headers()[CONTENT_TYPE], KIND);
        assert_eq!(document["instance"], "/ours");
        assert_eq!(document["code"], "invalid_request");
        assert_eq!(document["detail"], "page: too great");
        assert_eq!(document["error"], document["detail"]);
        let flaw = &document["errors"][0];
        assert_eq!(
            (&flaw["pointer"], &flaw["detail"]),
            (&"/page".into(), &"too great".into())
        );

        let (response, document) = ask("/away").await;
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[RETRY_AFTER], "2");
        assert_eq!(document["code"], "storage_unavailable");

        let (response, document) = ask("/nowhere").await;
        assert_eq!(
            (response.status().as_u16(), &document["code"]),
            (404, &"not_found".into())
        );
    }

    #[tokio::test]
    async fn what_a_library_refuses_is_a_document_too_and_never_422() {
        let (response, document) = ask("/plain").await;
        assert_eq!(response.status(), 400);
        assert_eq!(response.headers()[CONTENT_TYPE], KIND);
        assert_eq!(document["detail"], "wrong shape");
        assert_eq!(
            (&document["status"], &document["code"]),
            (&400.into(), &"bad_request".into())
        );
    }
}
