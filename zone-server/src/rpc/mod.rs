//! The zone's answers over gRPC: to gateways ([`link`], [`live_queries`], [`agents`]), to peers
//! ([`handover`]), to operators and tests ([`inspect`]).

pub(crate) mod agents;
pub(crate) mod handover;
pub(crate) mod inspect;
pub(crate) mod link;
pub(crate) mod live_queries;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use service_runtime::tasks::TaskGroup;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::mailbox::Mailbox;

/// The run that the process lives now.
#[derive(Debug)]
pub(crate) struct Living {
    pub(crate) run_id: u64,
    pub(crate) mailbox: Mailbox,
    /// Token that the run cancels at its end.
    pub(crate) over: CancellationToken,
    /// Tasks of the run.
    pub(crate) tasks: TaskGroup,
}

/// The run that the process lives now, if it does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Current(Arc<ArcSwapOption<Living>>);

impl Current {
    pub(crate) fn set(&self, living: Option<Living>) {
        self.0.store(living.map(Arc::new));
    }

    /// Returns the run.
    ///
    /// # Errors
    /// UNAVAILABLE when there is none just now.
    pub(crate) fn get(&self) -> Result<Arc<Living>, Status> {
        self.0
            .load_full()
            .ok_or_else(|| Status::unavailable("this zone has no run just now"))
    }
}

/// Checks that a query asks for this run: the address may belong to a later run by now.
///
/// # Errors
/// NOT_FOUND: another run lives here.
fn meant(asked: u64, here: u64) -> Result<(), Status> {
    if asked == here {
        Ok(())
    } else {
        Err(Status::not_found("another run lives here"))
    }
}
