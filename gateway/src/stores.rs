//! The persistence services, each by itself: how it is with every replica, and a profile of one.
//!
//! Always: each call has a deadline. A replica of an older version, which refuses these calls, is asked
//! again only after a while: its refusals count as those of an intruder.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use proto::rpc::{
    queries::v1::{SampleRequest, StatusReply, StatusRequest, replica_client::ReplicaClient},
    zone::v1::ProfilePart,
};
use service_runtime::rpc::{Replicas, Route};
use tokio::time::Instant;
use tonic::{Code, Response, Status, Streaming};

use crate::live_queries::{NAMING, within};

/// Pause between two questions to a replica of an older version. An alert is raised by more than five
/// refusals in ten minutes.
const OLDER: Duration = Duration::from_secs(180);

/// The replicas, and those that are of an older version.
pub(crate) struct Stores {
    replicas: Replicas,
    /// Moment at which each replica refused, by its address.
    older: Mutex<BTreeMap<String, Instant>>,
}

impl Stores {
    /// Asks these.
    pub(crate) fn new(replicas: Replicas) -> Self {
        Self {
            replicas,
            older: Mutex::default(),
        }
    }

    /// Asks every replica how it is with it. Returns the addresses with the answers; an error for
    /// which [`is_older`] holds tells of an older version.
    pub(crate) async fn all(&self) -> Vec<(String, Result<StatusReply, Status>)> {
        self.older().retain(|_, at| at.elapsed() < OLDER);
        let call = |address, route| self.status(address, route);
        self.replicas.each(call).await
    }

    async fn status(&self, address: String, route: Route) -> Result<Response<StatusReply>, Status> {
        if self.older().contains_key(&address) {
            return Err(Status::unimplemented("it refused a moment ago"));
        }
        let answer = ReplicaClient::new(route).status(StatusRequest {}).await;
        if answer.as_ref().is_err_and(is_older) {
            self.older().insert(address, Instant::now());
        }
        answer
    }

    /// Asks the replica at an address for a profile of its processor. Returns its parts after these
    /// seconds; `None`: no replica has the address.
    pub(crate) async fn profile(
        &self,
        address: &str,
        seconds: u32,
    ) -> Option<Result<Streaming<ProfilePart>, Status>> {
        let mut client = ReplicaClient::new(self.replicas.at(address)?);
        let deadline = Duration::from_secs(seconds.into()) + NAMING;
        Some(within(deadline, client.profile(SampleRequest { seconds })).await)
    }

    /// Returns whether a replica has the address.
    pub(crate) fn has(&self, address: &str) -> bool {
        self.replicas.at(address).is_some()
    }

    fn older(&self) -> MutexGuard<'_, BTreeMap<String, Instant>> {
        self.older.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a replica refused because its version does not know the call. Between processes
/// with certificates, a call that nobody knows is one that nobody may make.
pub(crate) fn is_older(status: &Status) -> bool {
    matches!(status.code(), Code::Unimplemented | Code::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_does_not_know_a_call_refuses_it_with_and_without_certificates() {
        for (code, older) in [
            (Code::Unimplemented, true),
            (Code::PermissionDenied, true),
            (Code::Unavailable, false),
            (Code::DeadlineExceeded, false),
        ] {
            assert_eq!(is_older(&Status::new(code, "")), older, "{code:?}");
        }
    }
}
