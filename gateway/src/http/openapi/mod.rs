//! The OpenAPI 3.1 document of this gateway, made of its routes.
//!
//! Always: this module describes no route itself. The words stand with the route. Schemas and
//! limits come from the types of its handler; callers and refusals come from its policy.

mod example;
mod schemas;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use self::{example::example, schemas::Schemas};
use super::{
    problem::{self, Code},
    route::{Answered, Family, Policy, Route},
    stored::{ASK, Stored},
};
use crate::{
    auth::roles::Role,
    limits::window::{AUTH, REST, REST_ADDRESS},
};

/// Returns the document of these routes, ready to send.
pub(super) fn document(families: &[Family]) -> Stored {
    let text = written(families).to_string();
    Stored::new(text, "application/json", ASK).packed()
}

/// Codes of the guard, on every route that counts requests.
const COUNTED: [Code; 8] = [
    Code::BadRequest,
    Code::InvalidRequest,
    Code::RequestTimeout,
    Code::BodyTooLarge,
    Code::RateLimited,
    Code::NotReady,
    Code::StorageUnavailable,
    Code::IdentityProviderAway,
];
/// Codes of the guard, on every route that wants a token.
const GUARDED: [Code; 7] = [
    Code::TokenRequired,
    Code::InvalidToken,
    Code::Banned,
    Code::WrongScope,
    Code::NotReady,
    Code::StorageUnavailable,
    Code::IdentityProviderAway,
];

impl Policy {
    /// Names the tokens and roles that may use a route; none: it needs no token.
    fn names(self) -> Vec<String> {
        match self {
            Self::Public | Self::Session => Vec::new(),
            Self::Bearer(scopes) => scopes.iter().map(|scope| name(json!(scope))).collect(),
            Self::Staff(least) => {
                let roles = Role::ALL.iter().filter(|role| **role >= least);
                roles.map(|role| role.name().to_owned()).collect()
            }
        }
    }

    /// Returns the codes with which the guard refuses.
    fn problems(self) -> Vec<Code> {
        match self {
            Self::Public => Vec::new(),
            Self::Session => vec![Code::InvalidToken, Code::OriginRefused],
            Self::Bearer(_) => GUARDED.to_vec(),
            Self::Staff(_) => [&GUARDED[..], &[Code::RoleRequired]].concat(),
        }
    }
}

fn name(value: Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes the whole document.
fn written(families: &[Family]) -> Value {
    let mut parts = Parts::default();
    let mut paths: Map<String, Value> = Map::new();
    for family in families {
        for route in family.routes.iter().flat_map(|routes| routes()) {
            let path = template(route.path);
            let methods = paths.entry(path).or_insert_with(|| json!({}));
            let method = route.method.as_str().to_ascii_lowercase();
            methods[method] = parts.operation(&route, family.name);
        }
    }
    let tags = families.iter();
    let tags = tags.map(|family| json!({"name": family.name, "description": family.about}));
    parts.schemas.answer(problem::schema);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tilestead",
            "version": env!("CARGO_PKG_VERSION"),
            "description": about(),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": tags.collect::<Value>(),
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "An operation names the scopes of tokens that may use it, and the \
                    roles of a player's account that may as well.",
            }},
            "schemas": parts.schemas.components(),
            "responses": parts.responses,
        },
    });
    show_examples(&mut document);
    document
}

fn about() -> String {
    format!(
        "The HTTP interface of a Tilestead gateway. In any minute {} requests pass of an account, \
         or of an address that names none, and {} of all accounts at an address together; attempts \
         to say who one is, {} of an address. `RateLimit` tells how a client stands.",
        REST.most, REST_ADDRESS.most, AUTH.most
    )
}

/// Returns a path as OpenAPI writes it: a parameter has no `*`.
fn template(path: &str) -> String {
    path.replace("{*", "{")
}

/// Parts of the document that operations share.
#[derive(Default)]
struct Parts {
    schemas: Schemas,
    /// Problem documents by status and codes.
    responses: BTreeMap<String, Value>,
}

impl Parts {
    fn operation(&mut self, route: &Route, tag: &str) -> Value {
        let operation = &route.operation;
        let names = route.policy.names();
        let security = match names.is_empty() {
            true => json!([]),
            false => json!([{"bearer": names}]),
        };
        let mut written = json!({
            "operationId": operation_id(route.method.as_str(), route.path),
            "tags": [tag],
            "summary": operation.summary,
            "security": security,
            "responses": self.answers(route),
        });
        if let Some(description) = operation.about {
            written["description"] = description.into();
        }
        let parameters = self.parameters(route);
        if !parameters.is_empty() {
            written["parameters"] = parameters.into();
        }
        if let Some(body) = operation.body {
            let content = json!({"application/json": {"schema": self.schemas.request(body)}});
            written["requestBody"] = json!({"required": true, "content": content});
        }
        written
    }

    fn parameters(&mut self, route: &Route) -> Vec<Value> {
        let segments = route.path.split('/');
        let names = segments.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let of_path = names.zip(&route.operation.path);
        let mut all: Vec<Value> = of_path
            .map(|(name, (description, example))| {
                json!({
                    "name": name.trim_start_matches('*'),
                    "in": "path",
                    "description": description,
                    "required": true,
                    "schema": {"type": "string", "minLength": 1},
                    "example": example,
                })
            })
            .collect();
        if let Some(query) = route.operation.query {
            all.extend(self.schemas.query(query));
        }
        all
    }

    fn answers(&mut self, route: &Route) -> Map<String, Value> {
        let mut all = Map::new();
        for (status, answer) in &route.operation.answers {
            let answer = match answer {
                Answered::Body(kind, schema) => {
                    let schema = self.schemas.answer(*schema);
                    let content = json!({(*kind): {"schema": schema}});
                    json!({"description": "As asked.", "content": content})
                }
                Answered::Empty(why) => json!({"description": why}),
            };
            all.insert(status.as_str().to_owned(), answer);
        }
        let mut codes = route.operation.problems.clone();
        codes.extend(route.policy.problems());
        if route.counted {
            codes.extend(COUNTED);
        }
        let mut by_status: BTreeMap<StatusCode, BTreeSet<&str>> = BTreeMap::new();
        for code in codes {
            let of_status = by_status.entry(code.status()).or_default();
            of_status.insert(code.name());
        }
        for (status, codes) in by_status {
            let refused = self.refused(status, &codes);
            all.insert(status.as_str().to_owned(), refused);
        }
        all
    }

    /// Refers to the problem document of this status with one of these codes.
    fn refused(&mut self, status: StatusCode, codes: &BTreeSet<&str>) -> Value {
        let codes: Vec<&str> = codes.iter().copied().collect();
        let reason = status.canonical_reason().unwrap_or_default();
        let name = format!("{}.{}", reason.replace(' ', ""), codes.join("."));
        let path = format!("#/components/responses/{name}");
        self.responses
            .entry(name)
            .or_insert_with(|| refusal(status, &codes));
        json!({"$ref": path})
    }
}

/// Describes a problem document of this status with one of these codes.
fn refusal(status: StatusCode, codes: &[&str]) -> Value {
    let known = Code::ALL.iter().filter(|code| codes.contains(&code.name()));
    let lines = known.map(|code| format!("`{}`: {}", code.name(), code.meaning()));
    let schema = json!({
        "allOf": [{"$ref": "#/components/schemas/Problem"}],
        "properties": {"status": {"const": status.as_u16()}, "code": {"enum": codes}},
    });
    let mut response = json!({
        "description": lines.collect::<Vec<_>>().join(" "),
        "content": {"application/problem+json": {"schema": schema}},
    });
    let comes_again = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    if comes_again.contains(&status) {
        let seconds = json!({"schema": {"type": "integer"}, "description": "In seconds."});
        response["headers"] = json!({"Retry-After": seconds});
    }
    response
}

/// Gives each JSON body an example, made of its schema.
fn show_examples(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (_, methods) in paths {
        for (_, operation) in methods.as_object_mut().into_iter().flatten() {
            if let Some(body) = operation.get_mut("requestBody") {
                show_example(body, &schemas);
            }
            let answers = operation["responses"].as_object_mut();
            for (_, answer) in answers.into_iter().flatten() {
                show_example(answer, &schemas);
            }
        }
    }
}

fn show_example(body: &mut Value, schemas: &Value) {
    let content = body.pointer_mut("/content/application~1json");
    let Some(content) = content else {
        return;
    };
    let said_nothing = content["schema"] == json!({});
    if !said_nothing {
        content["example"] = example(&content["schema"], "", schemas);
    }
}

/// Returns the id of an operation: `GET /api/v1/world` is `getApiV1World`.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let mut id = method.to_ascii_lowercase();
    for word in words.filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        id.push_str(&first.to_ascii_uppercase());
        id.push_str(rest);
    }
    id
}
