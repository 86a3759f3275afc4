//! The client's side of a session, as the gateway sees it: its address, its language, and its place
//! among the sockets that nobody has authenticated.

use std::net::IpAddr;

use crate::limits::unauthenticated::{Busy, UnauthenticatedSocket};

/// A client that has connected.
pub(crate) struct Visitor {
    address: IpAddr,
    /// Language of the client, if global chat has one for it.
    language: Option<String>,
    /// Whether its upgrade named the page that asked for it.
    from_page: bool,
    /// Place of the unauthenticated socket, until the client is authenticated.
    place: Option<UnauthenticatedSocket>,
}

impl Visitor {
    pub(crate) fn new(
        address: IpAddr,
        language: Option<String>,
        from_page: bool,
        place: UnauthenticatedSocket,
    ) -> Self {
        Self {
            address,
            language,
            from_page,
            place: Some(place),
        }
    }

    /// Returns the address from which the client came.
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns the language of the client, if global chat has one for it.
    pub(super) fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// Returns whether its upgrade named the page that asked for it, as all browsers do.
    pub(super) fn is_from_page(&self) -> bool {
        self.from_page
    }

    /// Gives the place back: the client is authenticated.
    pub(super) fn authenticated(&mut self) {
        self.place = None;
    }

    /// Marks the place as busy, as long as the caller keeps the result. A busy place cannot go to a
    /// newcomer.
    pub(super) fn busy(&self) -> Option<Busy> {
        self.place.as_ref().map(UnauthenticatedSocket::busy)
    }

    /// Waits until a newcomer has got the place.
    pub(super) async fn sent_away(&self) {
        match &self.place {
            Some(place) => place.sent_away().await,
            None => std::future::pending().await,
        }
    }
}
