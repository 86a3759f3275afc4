//! Which role may call which method, and the guard of every server that holds to it.
//!
//! Always: a method without a line in [`METHODS`] is refused. The guard looks at a call once, when
//! it opens; messages of an open stream cost nothing.

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures::future::{BoxFuture, Either, Ready, ready};
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Meter},
};
use tonic::{Status, body::Body};
use tower::{Layer, Service};

use super::{
    caller::{Caller, Who},
    gate::Gate,
    identity::{
        Identity,
        Role::{self, Gateway, Operator, Zone},
    },
    traced,
};
use crate::{instruments::counter, telemetry::Tracer};

/// Every method between the processes, by path, with the roles that may call it. A test compares
/// it with the `.proto` files.
pub const METHODS: [(&str, &[Role]); 79] = [
    ("/tilestead.agents.v1.Agents/AddCredential", &[Gateway]),
    ("/tilestead.agents.v1.Agents/Get", &[Gateway]),
    ("/tilestead.agents.v1.Agents/List", &[Gateway]),
    ("/tilestead.agents.v1.Agents/ListCredentials", &[Gateway]),
    ("/tilestead.agents.v1.Agents/OfRun", &[Zone]),
    ("/tilestead.agents.v1.Agents/Order", &[Gateway]),
    ("/tilestead.agents.v1.Agents/Register", &[Gateway]),
    ("/tilestead.agents.v1.Agents/Remove", &[Gateway]),
    ("/tilestead.agents.v1.Agents/RevokeCredential", &[Gateway]),
    ("/tilestead.agents.v1.ZoneAgents/Look", &[Gateway]),
    ("/tilestead.agents.v1.ZoneAgents/Say", &[Gateway]),
    ("/tilestead.agents.v1.ZoneAgents/Tell", &[Gateway]),
    ("/tilestead.content.v1.Content/Manifests", &[Gateway, Zone]),
    ("/tilestead.identity.v1.Identity/AuditLog", &[Gateway]),
    ("/tilestead.identity.v1.Identity/ChangePassword", &[Gateway]),
    ("/tilestead.identity.v1.Identity/Check", &[Gateway]),
    ("/tilestead.identity.v1.Identity/GetPassword", &[Gateway]),
    ("/tilestead.identity.v1.Identity/MakePassword", &[Gateway]),
    ("/tilestead.identity.v1.Identity/Moderate", &[Gateway]),
    ("/tilestead.identity.v1.Identity/NoteLogin", &[Gateway]),
    ("/tilestead.identity.v1.Identity/Revoke", &[Gateway]),
    ("/tilestead.identity.v1.Identity/Sanctions", &[Gateway]),
    ("/tilestead.identity.v1.Identity/SignInSubject", &[Gateway]),
    ("/tilestead.identity.v1.Identity/Watch", &[Gateway]),
    (
        "/tilestead.persistence.v1.Accounts/CreateCharacter",
        &[Gateway],
    ),
    (
        "/tilestead.persistence.v1.Accounts/DeleteCharacter",
        &[Gateway],
    ),
    (
        "/tilestead.persistence.v1.Accounts/FindCharacter",
        &[Gateway],
    ),
    ("/tilestead.persistence.v1.Accounts/GetAccount", &[Gateway]),
    (
        "/tilestead.persistence.v1.Accounts/ListCharacters",
        &[Gateway],
    ),
    ("/tilestead.persistence.v1.Accounts/OpenSession", &[Gateway]),
    ("/tilestead.persistence.v1.Accounts/Secret", &[Gateway]),
    ("/tilestead.persistence.v1.Accounts/SignIn", &[Gateway]),
    (
        "/tilestead.persistence.v1.Directory/Suspect",
        &[Gateway, Zone],
    ),
    (
        "/tilestead.persistence.v1.Directory/Watch",
        &[Gateway, Zone, Operator],
    ),
    ("/tilestead.persistence.v1.Runs/CharacterOwner", &[Zone]),
    ("/tilestead.persistence.v1.Runs/Commit", &[Zone]),
    // An operator drains a run by an administrator's route of a gateway.
    ("/tilestead.persistence.v1.Runs/Drain", &[Gateway, Zone]),
    ("/tilestead.persistence.v1.Runs/Ended", &[Zone]),
    ("/tilestead.persistence.v1.Runs/LoadCharacter", &[Zone]),
    ("/tilestead.persistence.v1.Runs/LoadRegion", &[Zone]),
    ("/tilestead.persistence.v1.Runs/MirrorItems", &[Zone]),
    ("/tilestead.persistence.v1.Runs/OnlineCharacters", &[Zone]),
    ("/tilestead.persistence.v1.Runs/Quarantine", &[Zone]),
    ("/tilestead.persistence.v1.Runs/Register", &[Zone]),
    ("/tilestead.persistence.v1.Runs/Release", &[Zone]),
    ("/tilestead.persistence.v1.Runs/Renew", &[Zone]),
    ("/tilestead.personal.v1.Personal/DeleteAccount", &[Gateway]),
    ("/tilestead.personal.v1.Personal/Export", &[Gateway]),
    ("/tilestead.personal.v1.Personal/Ledger", &[Gateway]),
    ("/tilestead.queries.v1.Changes/ChangeCharacter", &[Gateway]),
    ("/tilestead.queries.v1.Changes/PauseRegion", &[Gateway]),
    ("/tilestead.queries.v1.Changes/ReleaseCharacter", &[Gateway]),
    ("/tilestead.queries.v1.Changes/ResumeRegion", &[Gateway]),
    ("/tilestead.queries.v1.LiveQueries/Crowd", &[Gateway]),
    ("/tilestead.queries.v1.LiveQueries/Whereabouts", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Ledger", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Logins", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Profile", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Quarantined", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Ranking", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Regions", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Totals", &[Gateway]),
    ("/tilestead.queries.v1.Queries/Users", &[Gateway]),
    ("/tilestead.queries.v1.Replica/Profile", &[Gateway]),
    ("/tilestead.queries.v1.Replica/Status", &[Gateway]),
    ("/tilestead.social.v1.Social/Change", &[Gateway]),
    ("/tilestead.social.v1.Social/List", &[Gateway]),
    ("/tilestead.zone.v1.Handover/Complete", &[Zone]),
    ("/tilestead.zone.v1.Handover/CompleteRegion", &[Zone]),
    ("/tilestead.zone.v1.Handover/Forward", &[Zone]),
    ("/tilestead.zone.v1.Handover/Locate", &[Zone]),
    ("/tilestead.zone.v1.Handover/Prepare", &[Zone]),
    ("/tilestead.zone.v1.Handover/PrepareRegion", &[Zone]),
    ("/tilestead.zone.v1.Handover/Presence", &[Zone]),
    ("/tilestead.zone.v1.Inspect/Dump", &[Operator]),
    ("/tilestead.zone.v1.Inspect/Profile", &[Gateway, Operator]),
    ("/tilestead.zone.v1.Inspect/Record", &[Gateway, Operator]),
    ("/tilestead.zone.v1.Link/Control", &[Gateway]),
    ("/tilestead.zone.v1.Link/Frames", &[Gateway]),
];

/// Pause between two log lines about refused calls.
const LOG_PAUSE: Duration = Duration::from_secs(1);

/// Returns the roles that may call a method; none for an unknown one.
pub fn allowed(path: &str) -> &'static [Role] {
    match METHODS.binary_search_by(|(known, _)| known.cmp(&path)) {
        Ok(at) => METHODS[at].1,
        Err(_) => &[],
    }
}

/// Counts refused calls, and logs one a second at most. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Refusals {
    refused: Counter<u64>,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    last: Option<Instant>,
    /// Refusals since that line.
    unsaid: u64,
}

impl Refusals {
    pub(super) fn new(meter: &Meter) -> Self {
        let refused = counter(
            meter,
            "rpc_refused_total",
            "Calls between processes that were refused, by reason (role, name, certificate, \
             handshake) and the caller's role",
        );
        Self {
            refused,
            log: Arc::default(),
        }
    }

    /// Counts and logs a refused call. Returns its status again.
    pub(super) fn refuse(
        &self,
        reason: &'static str,
        caller: Option<&Identity>,
        status: Status,
    ) -> Status {
        self.note(reason, caller.map(|caller| caller.role), status.message());
        status
    }

    /// Counts and logs a connection that ended in its handshake.
    pub(super) fn broken(&self, why: &str) {
        self.note("handshake", None, why);
    }

    fn note(&self, reason: &'static str, role: Option<Role>, why: &str) {
        let role = role.map_or("none", Role::word);
        let labels = [KeyValue::new("reason", reason), KeyValue::new("role", role)];
        self.refused.add(1, &labels);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.last.is_some_and(|last| last.elapsed() < LOG_PAUSE) {
            log.unsaid += 1;
            return;
        }
        let unsaid = std::mem::take(&mut log.unsaid);
        log.last = Some(Instant::now());
        tracing::warn!(reason, role, why, unsaid, "another process was refused");
    }
}

/// Puts a [`Guarded`] around the services of a server.
#[derive(Debug, Clone)]
pub struct Guard {
    refusals: Refusals,
    gate: Gate,
    tracer: Option<Tracer>,
}

impl Guard {
    pub(super) fn new(refusals: &Refusals, gate: &Gate, tracer: Option<&Tracer>) -> Self {
        Self {
            refusals: refusals.clone(),
            gate: gate.clone(),
            tracer: tracer.cloned(),
        }
    }
}

/// Services that only the roles of [`METHODS`] reach, while the gate is open.
#[derive(Debug, Clone)]
pub struct Guarded<S> {
    inner: S,
    refusals: Refusals,
    gate: Gate,
    tracer: Option<Tracer>,
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded {
            inner,
            refusals: self.refusals.clone(),
            gate: self.gate.clone(),
            tracer: self.tracer.clone(),
        }
    }
}

impl<S> Guarded<S> {
    /// Checks a call.
    ///
    /// # Errors
    /// UNAUTHENTICATED without a certificate that names a role, PERMISSION_DENIED for a role that
    /// may not call the method, UNAVAILABLE while the gate is closed.
    fn check<B>(&self, request: &axum::http::Request<B>) -> Result<(), Status> {
        self.check_role(request)?;
        if self.gate.is_open() {
            return Ok(());
        }
        Err(Status::unavailable("this process is not ready for calls"))
    }

    fn check_role<B>(&self, request: &axum::http::Request<B>) -> Result<(), Status> {
        let who = request
            .extensions()
            .get::<Caller>()
            .map(|caller| &caller.who);
        let identity = match who {
            Some(Who::Anybody) => return Ok(()),
            Some(Who::Known(identity)) => identity,
            Some(Who::Nobody) | None => {
                let status = Status::unauthenticated("this call needs a certificate");
                return Err(self.refusals.refuse("certificate", None, status));
            }
            Some(Who::Nameless) => {
                let status = Status::unauthenticated("the certificate names no role");
                return Err(self.refusals.refuse("certificate", None, status));
            }
        };
        let path = request.uri().path();
        if allowed(path).contains(&identity.role) {
            return Ok(());
        }
        let status = Status::permission_denied(format!("{identity} may not call {path}"));
        Err(self.refusals.refuse("role", Some(identity), status))
    }
}

/// The answer of a guarded service: a refusal, its own, or its own within a span.
type Answering<F, A> = Either<Ready<A>, Either<F, BoxFuture<'static, A>>>;

impl<S, B> Service<axum::http::Request<B>> for Guarded<S>
where
    S: Service<axum::http::Request<B>, Response = axum::http::Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Answering<S::Future, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: axum::http::Request<B>) -> Self::Future {
        if let Err(status) = self.check(&request) {
            return Either::Left(ready(Ok(status.into_http())));
        }
        let span = traced::begin(self.tracer.as_ref(), &request);
        let answer = self.inner.call(request);
        Either::Right(match span {
            None => Either::Left(answer),
            Some(context) => Either::Right(traced::within(context, answer)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_sorted_and_each_is_there_once() {
        let sorted = METHODS.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(sorted, "the search needs them in order");
        assert!(METHODS.iter().all(|(_, roles)| !roles.is_empty()));
        // No process calls as a persistence service.
        assert!(
            METHODS
                .iter()
                .all(|(_, roles)| !roles.contains(&Role::Persistence))
        );
    }

    #[test]
    fn a_method_that_nobody_knows_is_allowed_to_nobody() {
        assert_eq!(allowed("/tilestead.zone.v1.Link/Control"), [Gateway]);
        assert!(allowed("/tilestead.zone.v1.Link/Contro").is_empty());
        assert!(allowed("/tilestead.zone.v1.Link/Control/").is_empty());
    }
}
