//! How one operation is described, in few words; the rest follows from its route.

use serde_json::{Map, Value, json};

use super::{super::router::Policy, schema};
use crate::auth::roles::Role;

/// The description of a method at a path.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// Lower case.
    pub(super) method: &'static str,
    /// As the router has it.
    pub(super) path: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: Option<&'static str>,
    parameters: Vec<Value>,
    body: Option<(Value, Value)>,
    answers: Vec<(u16, Answer)>,
}

#[derive(Debug, Clone)]
enum Answer {
    /// Type, schema and example.
    Body(&'static str, Value, Option<Value>),
    /// Words only.
    Empty(&'static str),
    /// A problem document.
    Problem,
}

/// Errors that many operations share, by status.
const SHARED: [(u16, &str, &str); 10] = [
    (
        400,
        "BadRequest",
        "Something in the request is not allowed.",
    ),
    (
        401,
        "Unauthorized",
        "The token is missing, or not valid any more.",
    ),
    (
        403,
        "Forbidden",
        "The token, or who shows it, is not allowed to do this.",
    ),
    (404, "NotFound", "There is no such thing."),
    (408, "RequestTimeout", "The body did not come in time."),
    (409, "Conflict", "It cannot be done as things are."),
    (413, "ContentTooLarge", "The body is longer than 1 MiB."),
    (415, "UnsupportedMediaType", "The body is not JSON."),
    (
        429,
        "TooManyRequests",
        "Too many requests; `Retry-After` says when to come back.",
    ),
    (
        503,
        "ServiceUnavailable",
        "Something is away; `Retry-After` says when to come back.",
    ),
];

/// The shared errors as components.
pub(super) fn shared() -> Value {
    let all = SHARED.map(|(status, name, description)| {
        let schema = json!({"$ref": "#/components/schemas/Problem"});
        let content = json!({"application/problem+json": {"schema": schema}});
        let mut response = json!({"description": description, "content": content});
        if matches!(status, 429 | 503) {
            let seconds = json!({"schema": {"type": "integer"}, "description": "In seconds."});
            response["headers"] = json!({"Retry-After": seconds});
        }
        (name.to_owned(), response)
    });
    Value::Object(all.into_iter().collect())
}

pub(super) fn op(
    method: &'static str,
    path: &'static str,
    tag: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        method,
        path,
        tag,
        summary,
        description: None,
        parameters: Vec::new(),
        body: None,
        answers: Vec::new(),
    }
}

impl Operation {
    /// More words.
    pub(super) fn about(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// A parameter of the path.
    pub(super) fn path(self, name: &str, description: &str, example: &str) -> Self {
        let schema = json!({"type": "string", "minLength": 1});
        self.parameter("path", name, description, schema, Some(example))
    }

    /// A parameter of the query; never required.
    pub(super) fn query(self, name: &str, description: &str, schema: Value) -> Self {
        self.parameter("query", name, description, schema, None)
            .problems(&[400])
    }

    /// `page` and `limit`.
    pub(super) fn paged(self) -> Self {
        self.query("page", "Which page, from 1.", schema::from_to(1, 1_000_000))
            .query("limit", "Rows of a page.", schema::from_to(1, 100))
    }

    fn parameter(
        mut self,
        place: &str,
        name: &str,
        description: &str,
        schema: Value,
        example: Option<&str>,
    ) -> Self {
        let mut parameter = json!({
            "name": name,
            "in": place,
            "description": description,
            "required": place == "path",
            "schema": schema,
        });
        if let Some(example) = example {
            parameter["example"] = example.into();
        }
        self.parameters.push(parameter);
        self
    }

    /// A JSON body.
    pub(super) fn body(mut self, schema: Value, example: Value) -> Self {
        self.body = Some((schema, example));
        self.problems(&[400, 413, 415])
    }

    /// A JSON answer.
    pub(super) fn answers(mut self, status: u16, schema: Value, example: Value) -> Self {
        let answer = Answer::Body("application/json", schema, Some(example));
        self.answers.push((status, answer));
        self
    }

    /// Another answer with a body.
    pub(super) fn gives(mut self, status: u16, kind: &'static str, schema: Value) -> Self {
        self.answers
            .push((status, Answer::Body(kind, schema, None)));
        self
    }

    /// An answer without a body.
    pub(super) fn empty(mut self, status: u16, why: &'static str) -> Self {
        self.answers.push((status, Answer::Empty(why)));
        self
    }

    /// A tag of the client's that is still good.
    pub(super) fn tagged(self) -> Self {
        self.empty(304, "The client has it already, by `If-None-Match`.")
    }

    /// Problem documents.
    pub(super) fn problems(mut self, statuses: &[u16]) -> Self {
        for status in statuses {
            if self.answers.iter().all(|(known, _)| known != status) {
                self.answers.push((*status, Answer::Problem));
            }
        }
        self
    }

    /// The same under the other name of its family.
    pub(super) fn or(self, path: &'static str) -> Vec<Self> {
        let other = Self {
            path,
            ..self.clone()
        };
        vec![self, other]
    }

    /// As the document has it, with what the route's policy leads to.
    pub(super) fn written(&self, policy: Policy, counted: bool) -> Value {
        let mut all = self.clone();
        let mut security = json!([]);
        match policy {
            Policy::Bearer(_) => {
                security = json!([{"bearer": []}]);
                all = all.problems(&[401, 403, 503]);
            }
            Policy::Staff(least) => {
                let roles = Role::ALL.into_iter().filter(|role| *role >= least);
                let who: Vec<&str> = ["operator"]
                    .into_iter()
                    .chain(roles.map(Role::name))
                    .collect();
                security = json!([{"bearer": who}]);
                all = all.problems(&[401, 403, 503]);
            }
            Policy::Session => all = all.problems(&[401, 403]),
            Policy::Public => {}
        }
        if counted {
            // Whoever sends a body has a time for it.
            all = all.problems(&[400, 408, 413, 429, 503]);
        }
        all.answers.sort_by_key(|(status, _)| *status);
        let responses = all.answers.iter();
        let responses =
            responses.map(|(status, answer)| (status.to_string(), answer.written(*status)));
        let mut written = json!({
            "operationId": operation_id(self.method, self.path),
            "tags": [self.tag],
            "summary": self.summary,
            "security": security,
            "responses": responses.collect::<Map<_, _>>(),
        });
        if let Some(description) = self.description {
            written["description"] = description.into();
        }
        if !self.parameters.is_empty() {
            written["parameters"] = self.parameters.clone().into();
        }
        if let Some((schema, example)) = &self.body {
            let content = json!({"application/json": {"schema": schema, "example": example}});
            written["requestBody"] = json!({"required": true, "content": content});
        }
        written
    }
}

impl Answer {
    fn written(&self, status: u16) -> Value {
        match self {
            Self::Body(kind, schema, example) => {
                let mut body = json!({"schema": schema});
                if let Some(example) = example {
                    body["example"] = example.clone();
                }
                let mut content = Map::new();
                content.insert((*kind).to_owned(), body);
                json!({"description": "As asked.", "content": content})
            }
            Self::Empty(why) => json!({"description": why}),
            Self::Problem => {
                let shared = SHARED.iter().find(|(known, ..)| *known == status);
                let name = shared.map_or("BadRequest", |(_, name, _)| name);
                json!({"$ref": format!("#/components/responses/{name}")})
            }
        }
    }
}

/// `get /api/v1/world` is `getApiV1World`.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let mut id = method.to_owned();
    for word in words.filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        id.push_str(&first.to_ascii_uppercase());
        id.push_str(rest);
    }
    id
}
