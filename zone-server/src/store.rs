//! The persistence services, as one: calls go to the one that answered last, and to the next one
//! after a failure.

use anyhow::Context;
use proto::rpc::{
    agents::v1::agents_client::AgentsClient,
    persistence::v1::{directory_client::DirectoryClient, runs_client::RunsClient},
};
use service_runtime::rpc::{Replicas, Role, Trust};
use tonic::{Code, Status, transport::Channel};

/// Largest message that the zone takes from the store: a directory or a region with its characters.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// All persistence services. Clones share the choice of the one in use.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    trust: Trust,
    replicas: Replicas,
}

impl Store {
    /// Returns a store that has connected to no service yet. Call it inside a runtime.
    ///
    /// # Errors
    /// There is no address, or one is malformed.
    pub(crate) fn new(trust: &Trust, addresses: &[String]) -> anyhow::Result<Store> {
        let replicas = Replicas::new(trust, Role::Persistence, addresses);
        Ok(Store {
            trust: trust.clone(),
            replicas: replicas.context("PERSISTENCE_ADDRESSES")?,
        })
    }

    /// Returns the trust by which the zone reaches the store, and peers too.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    pub(crate) fn runs(&self) -> RunsClient<Channel> {
        RunsClient::new(self.replicas.current()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn agents(&self) -> AgentsClient<Channel> {
        AgentsClient::new(self.replicas.current()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn directory(&self) -> DirectoryClient<Channel> {
        DirectoryClient::new(self.replicas.current()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Notes a failed call: the next goes elsewhere, if the service and not the request was at
    /// fault.
    pub(crate) fn failed(&self, status: &Status) {
        if unreachable(status) {
            self.replicas.next();
        }
    }
}

/// Returns whether a failure says nothing about the request itself.
pub(crate) fn unreachable(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Unknown
            | Code::Internal
            | Code::Cancelled
            | Code::Aborted
            | Code::ResourceExhausted
    )
}
