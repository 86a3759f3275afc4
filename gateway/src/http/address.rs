//! Data of the accept loop about a connection, for the routes.

use std::{net::SocketAddr, sync::Arc};

use crate::places::Place;

/// One connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Address of the peer, perhaps a proxy.
    pub(crate) address: SocketAddr,
    /// Its place among the connections, which returns when the connection ends.
    pub(crate) place: Arc<Place>,
}
