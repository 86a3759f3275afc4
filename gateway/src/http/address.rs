//! What the accept loop knows of a connection, for the routes.

use std::{net::SocketAddr, sync::Arc};

use tokio::sync::OwnedSemaphorePermit;

/// One connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Who connected; perhaps a proxy.
    pub(crate) address: SocketAddr,
    /// Its place among the connections, given back when nothing holds it any more.
    pub(crate) place: Arc<OwnedSemaphorePermit>,
}
