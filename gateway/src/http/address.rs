//! What the accept loop knows of a connection, for the routes.

use std::net::SocketAddr;

/// One connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    /// Who connected; perhaps a proxy.
    pub(crate) address: SocketAddr,
}
