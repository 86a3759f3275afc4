//! Errors over HTTP: problem documents (RFC 9457) with a stable code.

use axum::{
    http::{HeaderValue, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// An error that a client may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// Stable, `snake_case`.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) detail: String,
    /// The path that was asked for.
    pub(crate) instance: String,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    instance: &'a str,
    code: &'static str,
    error: &'a str,
}

impl Problem {
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
        }
    }

    pub(crate) fn not_found(uri: &Uri) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "There is nothing here.",
            uri,
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Document {
            kind: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            instance: &self.instance,
            code: self.code,
            error: &self.detail,
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let json = HeaderValue::from_static("application/problem+json");
        (self.status, [(CONTENT_TYPE, json)], body).into_response()
    }
}
