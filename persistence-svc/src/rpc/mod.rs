//! Calls of the other services, one file per service: model ⇄ store, no decisions.
//!
//! Always: every call has a deadline here too; while the store is not ready, or away, the answer
//! is UNAVAILABLE at once and never a guess.

pub(crate) mod accounts;
pub(crate) mod agents;
mod arrivals;
pub(crate) mod commit;
pub(crate) mod directory;
pub(crate) mod identity;
pub(crate) mod items;
pub(crate) mod model;
mod password;
pub(crate) mod personal;
pub(crate) mod queries;
pub(crate) mod replica;
pub(crate) mod runs;
pub(crate) mod social;
pub(crate) mod value;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use service_runtime::rpc::DEADLINE;
use service_runtime::tasks::TaskGroup;
use service_runtime::telemetry::{Tracer, sampled};
use tokio::time::timeout;
use tonic::{Code, Response, Status};

use self::arrivals::Arrivals;
use crate::metrics::Metrics;
use crate::placement::plans::Plans;
use crate::store::Store;
use crate::store::agents::Bounds;
use crate::store::error::StoreError;

/// State that all services of this process share.
pub(crate) struct Desk {
    pub(crate) store: Arc<dyn Store>,
    /// Requests that the store answers together.
    arrivals: Arrivals,
    pub(crate) metrics: Metrics,
    pub(crate) tracer: Tracer,
    pub(crate) plans: Plans,
    pub(crate) lease: Duration,
    /// Largest numbers of agents.
    pub(crate) agents: Bounds,
    /// Whether the tables are there.
    open: AtomicBool,
}

impl Desk {
    /// Builds a desk that is closed until the store is ready, inside a runtime.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        tasks: &TaskGroup,
        metrics: Metrics,
        tracer: Tracer,
        lease: Duration,
        agents: Bounds,
    ) -> Desk {
        Desk {
            arrivals: Arrivals::start(&store, tasks),
            store,
            metrics,
            plans: Plans::new(tracer.clone()),
            tracer,
            lease,
            agents,
            open: AtomicBool::new(false),
        }
    }

    /// Lets the services answer calls from now on.
    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    /// Fails while the store is not ready.
    pub(crate) fn is_open(&self) -> Result<(), Status> {
        if self.open.load(Ordering::Acquire) {
            Ok(())
        } else {
            Err(Status::unavailable("the store is not ready yet"))
        }
    }

    /// Answers one call: sanction, deadline, count.
    pub(crate) async fn answer<T>(
        &self,
        method: &'static str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Response<T>, Status> {
        self.answer_within(DEADLINE, method, work).await
    }

    /// Answers one call within `limit`, for a call that may move much and whose caller waits
    /// longer.
    pub(crate) async fn answer_within<T>(
        &self,
        limit: Duration,
        method: &'static str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Response<T>, Status> {
        let answered = match self.is_open() {
            Err(status) => Err(status),
            Ok(()) => match timeout(limit, work).await {
                Ok(Ok(reply)) => Ok(Response::new(reply)),
                Ok(Err(failure)) => Err(self.status(method, failure)),
                Err(_) => Err(Status::unavailable("the store did not answer in time")),
            },
        };
        let code = answered.as_ref().map_or_else(Status::code, |_| Code::Ok);
        self.metrics.called(method, code);
        answered
    }

    /// Returns the part of a failure that the caller may see.
    pub(crate) fn status(&self, method: &'static str, failure: Failure) -> Status {
        let error = match failure {
            Failure::Malformed(why) => return Status::invalid_argument(why),
            Failure::Store(error) => error,
        };
        match &error {
            StoreError::Away(why) => {
                tracing::debug!(method, why, "the store is away");
                Status::unavailable("the store does not answer")
            }
            StoreError::Fenced => {
                self.metrics.fenced();
                Status::permission_denied(error.to_string())
            }
            StoreError::NotOwner => Status::permission_denied(error.to_string()),
            StoreError::NotFound(_) => Status::not_found(error.to_string()),
            StoreError::KeyClaimed => Status::already_exists(error.to_string()),
            StoreError::Banned => Status::permission_denied(error.to_string()),
            StoreError::NameTaken => Status::already_exists(error.to_string()),
            StoreError::AgentTaken => Status::already_exists(error.to_string()),
            StoreError::Full(_)
            | StoreError::MadeToday(_)
            | StoreError::TooManyCredentials(_)
            | StoreError::AccountOfAgents(_)
            | StoreError::WorldOfAgents(_) => Status::resource_exhausted(error.to_string()),
            StoreError::InWorld
            | StoreError::Quarantined
            | StoreError::OperatorExists
            | StoreError::LastOperator
            | StoreError::PasswordExists
            | StoreError::Archive(_) => Status::failed_precondition(error.to_string()),
            StoreError::PasswordChanged => Status::aborted(error.to_string()),
            StoreError::Broken(why) => {
                if let Some(left_out) = sampled("the store is broken", method) {
                    tracing::error!(method, why, left_out, "the store is broken");
                }
                Status::internal("internal error")
            }
        }
    }
}

/// Reason why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request itself is wrong.
    Malformed(String),
    /// The store did not do it.
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

/// Returns the failure of a malformed request.
pub(crate) fn malformed(why: impl Into<String>) -> Failure {
    Failure::Malformed(why.into())
}
