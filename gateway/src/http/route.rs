//! A route, written once: its path, method, policy and words here, and its input and answer by the
//! types of its handler. The router, the guard and `/openapi.json` all use it.
//!
//! Always: a route without a policy does not compile. A handler does not compile if the document
//! cannot describe its arguments and its answer. A route describes a finished [`Response`] itself.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{FromRequestParts, Path, State},
    handler::Handler,
    http::{HeaderMap, Method, StatusCode, Uri, header::LOCATION, request::Parts},
    response::{IntoResponse, NoContent, Response},
    routing::{MethodFilter, MethodRouter, on},
};
use fastwebsockets::upgrade::IncomingUpgrade;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::{
    ask::{Body, Id, Query},
    problem::{Code, Problem},
};
use crate::{
    app::App,
    auth::{caller::Caller, roles::Role, tokens::Scope},
};

/// Callers that may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Anybody, without a token.
    Public,
    /// Anybody may connect from an allowed origin, and authenticates inside the session.
    Session,
    /// Callers with a token of one of these scopes. The [`Caller`] is an extension of the request.
    Bearer(&'static [Scope]),
    /// Players whose account has at least this role now.
    Staff(Role),
}

/// Everybody who has a token.
pub(super) const ANYBODY: Policy = READERS;
/// Callers who may read a player's own data.
pub(super) const READERS: Policy = Policy::Bearer(&[Scope::Player, Scope::Agent, Scope::Spectator]);
/// Callers who may change a player's own data.
pub(super) const OWNERS: Policy = Policy::Bearer(&[Scope::Player]);
/// Callers who may see and order an agent.
pub(super) const SPEAKERS: Policy = Policy::Bearer(&[Scope::Player, Scope::Agent]);
/// Operators: the accounts with the role of admins.
pub(super) const ADMINS: Policy = Policy::Staff(Role::Admin);
/// Operators and moderators.
pub(super) const MODERATORS: Policy = Policy::Staff(Role::Moderator);
/// Everybody with a role: what they may read.
pub(super) const VIEWERS: Policy = Policy::Staff(Role::Viewer);

/// One route.
#[derive(Clone)]
pub(crate) struct Route {
    /// Path as the router has it.
    pub(crate) path: &'static str,
    pub(crate) method: Method,
    pub(crate) policy: Policy,
    /// Whether requests count against the limits.
    pub(crate) counted: bool,
    /// Words for the document, and the schemas of the handler's types.
    pub(super) operation: Operation,
    pub(super) handler: MethodRouter<Arc<App>>,
}

/// Writes the schema of a type, which may be a reference to a component.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Description of a route, beside its path, method and policy.
#[derive(Debug, Clone, Default)]
pub(super) struct Operation {
    pub(super) summary: &'static str,
    pub(super) about: Option<&'static str>,
    /// Description and example of each parameter of the path, in its order.
    pub(super) path: Vec<(&'static str, &'static str)>,
    pub(super) query: Option<SchemaOf>,
    pub(super) body: Option<SchemaOf>,
    pub(super) answers: Vec<(StatusCode, Answered)>,
    pub(super) problems: Vec<Code>,
}

/// Description of an answer that is no problem.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answered {
    /// A body of this media type.
    Body(&'static str, SchemaOf),
    /// No body, and why.
    Empty(&'static str),
}

/// Gives policies a function for each method, which makes a route.
macro_rules! methods {
    ($($name:ident $method:ident)+) => {
        impl Policy {
            $(
                #[doc = concat!("Makes a route that answers `", stringify!($method), "`.")]
                pub(super) fn $name<H, T, A>(
                    self,
                    path: &'static str,
                    summary: &'static str,
                    handler: H,
                ) -> Route
                where
                    H: Handler<T, Arc<App>> + Described<A>,
                    T: 'static,
                {
                    self.route(Method::$method, MethodFilter::$method, path, summary, handler)
                }
            )+
        }
    };
}

methods! {
    get GET
    post POST
    put PUT
    patch PATCH
    delete DELETE
}

impl Policy {
    fn route<H, T, A>(
        self,
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Route
    where
        H: Handler<T, Arc<App>> + Described<A>,
        T: 'static,
    {
        let mut operation = Operation {
            summary,
            ..Operation::default()
        };
        H::describe(&mut operation);
        Route {
            path,
            method,
            policy: self,
            counted: true,
            operation,
            handler: on(filter, handler),
        }
    }
}

impl Route {
    /// Lets requests pass without counting them.
    pub(super) fn uncounted(mut self) -> Self {
        self.counted = false;
        self
    }

    /// Adds a longer description.
    pub(super) fn about(mut self, description: &'static str) -> Self {
        self.operation.about = Some(description);
        self
    }

    /// Describes the next parameter of the path.
    pub(super) fn path(mut self, description: &'static str, example: &'static str) -> Self {
        self.operation.path.push((description, example));
        self
    }

    /// Names codes that this route gives, beside those of its policy and of its handler's types.
    pub(super) fn problems(mut self, codes: &[Code]) -> Self {
        self.operation.problems.extend(codes);
        self
    }

    /// Describes the answer of a handler that returns a finished response: a text.
    pub(super) fn text(self, kind: &'static str) -> Self {
        self.body::<String>(kind)
    }

    /// Describes the answer of a handler that returns a finished response: JSON.
    pub(super) fn json<T: JsonSchema>(self) -> Self {
        self.body::<T>("application/json")
    }

    /// Describes the answer of a handler that returns a finished response.
    pub(super) fn body<T: JsonSchema>(mut self, kind: &'static str) -> Self {
        let body = Answered::Body(kind, SchemaGenerator::subschema_for::<T>);
        self.operation.answers.push((StatusCode::OK, body));
        self
    }

    /// Says that a client which names a good tag gets no body.
    pub(super) fn tagged(self) -> Self {
        let why = "The client has it already, by `If-None-Match`.";
        self.empty(StatusCode::NOT_MODIFIED, why)
    }

    /// Adds an answer without a body.
    pub(super) fn empty(mut self, status: StatusCode, why: &'static str) -> Self {
        self.operation.answers.push((status, Answered::Empty(why)));
        self
    }

    /// Returns the route twice: under its own path, and under another.
    pub(super) fn or(self, path: &'static str) -> [Self; 2] {
        let other = Self {
            path,
            ..self.clone()
        };
        [self, other]
    }
}

/// A handler whose arguments and answer describe themselves.
pub(super) trait Described<A> {
    /// Adds the arguments and the answer.
    fn describe(operation: &mut Operation);
}

macro_rules! described {
    ($($input:ident)*) => {
        impl<F, Fut, Out, $($input),*> Described<($($input,)*)> for F
        where
            F: Fn($($input),*) -> Fut,
            Fut: Future<Output = Out>,
            Out: Output,
            $($input: Input,)*
        {
            fn describe(operation: &mut Operation) {
                $($input::describe(operation);)*
                Out::describe(operation);
            }
        }
    };
}

described! {}
described! {A}
described! {A B}
described! {A B C}
described! {A B C D}
described! {A B C D E}
described! {A B C D E G}

/// An argument of a handler.
pub(super) trait Input {
    /// Adds the input that a client may send for it, and its refusals.
    fn describe(_operation: &mut Operation) {}
}

/// The gateway, and who calls: for routes that want a token.
pub(super) struct Call {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
}

impl FromRequestParts<Arc<App>> for Call {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let caller = Extension::<Caller>::from_request_parts(parts, app).await;
        let Extension(caller) = caller.map_err(IntoResponse::into_response)?;
        let app = Arc::clone(app);
        Ok(Self { app, caller })
    }
}

impl Input for Call {}
impl<T> Input for State<T> {}
impl<T> Input for Extension<T> {}
impl<T> Input for Path<T> {}
impl Input for HeaderMap {}
impl Input for Uri {}
impl Input for IncomingUpgrade {}

impl Input for Id {
    fn describe(operation: &mut Operation) {
        operation.problems.push(Code::NotFound);
    }
}

impl<T: JsonSchema> Input for Query<T> {
    fn describe(operation: &mut Operation) {
        operation.query = Some(SchemaGenerator::subschema_for::<T>);
        operation.problems.push(Code::InvalidRequest);
    }
}

impl<T: JsonSchema> Input for Body<T> {
    fn describe(operation: &mut Operation) {
        operation.body = Some(SchemaGenerator::subschema_for::<T>);
        operation.problems.extend([
            Code::InvalidRequest,
            Code::MalformedJson,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
        ]);
    }
}

impl<T: Input, E> Input for Result<T, E> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

/// The answer of a handler.
pub(super) trait Output {
    /// Adds each answer that is no problem.
    fn describe(operation: &mut Operation);
}

/// Answer of most handlers: JSON with status 200, or a problem.
pub(super) type Answer<T> = Result<Json<T>, Problem>;

fn json<T: JsonSchema>(operation: &mut Operation, status: StatusCode) {
    let body = Answered::Body("application/json", SchemaGenerator::subschema_for::<T>);
    operation.answers.push((status, body));
}

impl<T: JsonSchema> Output for Json<T> {
    fn describe(operation: &mut Operation) {
        json::<T>(operation, StatusCode::OK);
    }
}

impl<T: Output, E> Output for Result<T, E> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

/// A finished response, which the route itself describes.
impl Output for Response {
    fn describe(_: &mut Operation) {}
}

impl Output for NoContent {
    fn describe(operation: &mut Operation) {
        let done = Answered::Empty("It is done.");
        operation.answers.push((StatusCode::NO_CONTENT, done));
    }
}

/// A new thing, and the path where it is.
pub(super) struct Created<T>(pub(super) String, pub(super) T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let Self(place, made) = self;
        (StatusCode::CREATED, [(LOCATION, place)], Json(made)).into_response()
    }
}

impl<T: JsonSchema> Output for Created<T> {
    fn describe(operation: &mut Operation) {
        created::<T>(operation);
    }
}

/// Adds an answer with status 201.
pub(super) fn created<T: JsonSchema>(operation: &mut Operation) {
    json::<T>(operation, StatusCode::CREATED);
}

/// A new thing, or a changed one.
pub(super) enum Saved<T> {
    Created(Created<T>),
    Changed(Json<T>),
}

impl<T: Serialize> IntoResponse for Saved<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Created(made) => made.into_response(),
            Self::Changed(changed) => changed.into_response(),
        }
    }
}

impl<T: JsonSchema> Output for Saved<T> {
    fn describe(operation: &mut Operation) {
        Json::<T>::describe(operation);
        Created::<T>::describe(operation);
    }
}

/// Something that has begun and is not done yet.
pub(super) struct Accepted<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self.0)).into_response()
    }
}

impl<T: JsonSchema> Output for Accepted<T> {
    fn describe(operation: &mut Operation) {
        json::<T>(operation, StatusCode::ACCEPTED);
    }
}

/// Routes that belong together.
pub(crate) struct Family {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Routes of each file.
    pub(super) routes: &'static [fn() -> Vec<Route>],
}
