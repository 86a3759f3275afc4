//! What the accept loop knows of a connection, for the routes.

use std::{net::SocketAddr, sync::Arc};

use crate::places::Place;

/// One connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Who connected; perhaps a proxy.
    pub(crate) address: SocketAddr,
    /// Its place among the connections, given back when the connection ends.
    pub(crate) place: Arc<Place>,
}
