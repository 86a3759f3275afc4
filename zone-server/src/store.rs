//! The persistence services, as one: each call goes to the next of them.

use anyhow::Context;
use proto::rpc::{
    agents::v1::agents_client::AgentsClient,
    persistence::v1::{directory_client::DirectoryClient, runs_client::RunsClient},
};
use service_runtime::rpc::{Names, Replicas, Role, Route, Trust};
use tonic::{Code, Status};

/// Largest message that the zone takes from the store: a directory or a region with its characters.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// All persistence services. Clones share them.
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
    pub(crate) fn new(trust: &Trust, named: &Names) -> anyhow::Result<Store> {
        let replicas = Replicas::new(trust, Role::Persistence, named);
        Ok(Store {
            trust: trust.clone(),
            replicas: replicas.context("PERSISTENCE_ADDRESSES")?,
        })
    }

    /// Looks for the addresses behind the store's names again and again, for ever.
    pub(crate) async fn follow(self) {
        self.replicas.follow().await;
    }

    /// Returns the trust by which the zone reaches the store, and peers too.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    pub(crate) fn runs(&self) -> RunsClient<Route> {
        RunsClient::new(self.replicas.route()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn agents(&self) -> AgentsClient<Route> {
        AgentsClient::new(self.replicas.route()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn directory(&self) -> DirectoryClient<Route> {
        DirectoryClient::new(self.replicas.route()).max_decoding_message_size(MESSAGE_BYTES_MAX)
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
