//! How metrics count a session: by its state, and while it has a socket, by the kind of its client.

use crate::{auth::tokens::Scope, metrics::Metrics};

/// What metrics count a session as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    /// `fresh`, `lobby`, `world` or `lingering`.
    pub(super) state: &'static str,
    /// Its client; `None`: it has no socket.
    pub(super) client: Option<Client>,
}

/// A client, as far as the gateway knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Client {
    /// See [`kind`].
    pub(super) kind: &'static str,
    /// Subprotocol that it speaks.
    pub(super) subprotocol: &'static str,
}

/// Returns the kind of a client. Agents and spectators show it by their tokens. Of players only those
/// in browsers say where they come from: a browser names the page's origin at each upgrade, and a
/// program has no reason to.
pub(super) const fn kind(scope: Option<Scope>, from_page: bool) -> &'static str {
    match scope {
        None => "unauthenticated",
        Some(Scope::Agent) => "agent",
        Some(Scope::Spectator) => "spectator",
        Some(Scope::Player) if from_page => "page",
        Some(Scope::Player) => "program",
    }
}

/// Counts a session as `now`, and no longer as `before`; `None`: as nothing.
pub(super) fn recount(metrics: &Metrics, before: Option<Counted>, now: Option<Counted>) {
    for (counted, change) in [(before, -1), (now, 1)] {
        let Some(Counted { state, client }) = counted else {
            continue;
        };
        metrics.session(state, change);
        if let Some(Client { kind, subprotocol }) = client {
            metrics.client(kind, subprotocol, change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_more_of_a_client_than_its_upgrade() {
        for from_page in [false, true] {
            assert_eq!(kind(None, from_page), "unauthenticated");
            assert_eq!(kind(Some(Scope::Agent), from_page), "agent");
            assert_eq!(kind(Some(Scope::Spectator), from_page), "spectator");
        }
        assert_eq!(kind(Some(Scope::Player), true), "page");
        assert_eq!(kind(Some(Scope::Player), false), "program");
    }
}
