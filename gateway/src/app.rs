//! What all sessions and routes of a gateway share.

use std::{sync::Arc, time::Instant};

use chassis::{health::Health, tasks::TaskGroup, telemetry::Telemetry};
use tokio_util::sync::CancellationToken;
use world::Content;

use crate::{
    agents::Agents,
    auth::{
        accounts::Accounts, attempts::Attempts, gates::Gates, identity::Identity,
        provider::Provider, tokens::Tokens,
    },
    config::Config,
    content::Shown,
    http::{body::Load, frontend::Frontend, hiscores::Hiscores},
    limits::{Limits, logins::Logins, unauthenticated::Unauthenticated},
    live_queries::LiveQueries,
    metrics::Metrics,
    places::Places,
    queries::Queries,
    session::{budget::Budgets, registry::Registry},
    social::hub::Hub,
    socket::Reports,
    zone_link::Zones,
};

/// One gateway.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) telemetry: Telemetry,
    pub(crate) metrics: Metrics,
    pub(crate) reports: Reports,
    pub(crate) health: Health,
    pub(crate) started: Instant,
    /// All that goes on in the background, but for connections and sessions.
    pub(crate) tasks: TaskGroup,
    pub(crate) zones: Zones,
    pub(crate) agents: Agents,
    pub(crate) live_queries: LiveQueries,
    pub(crate) queries: Queries,
    pub(crate) auth: Auth,
    pub(crate) bounds: Bounds,
    pub(crate) sessions: Sessions,
    pub(crate) served: Served,
}

/// Who somebody is, and who is kept out.
pub(crate) struct Auth {
    pub(crate) accounts: Accounts,
    pub(crate) identity: Identity,
    pub(crate) tokens: Tokens,
    pub(crate) gates: Gates,
    /// None: anybody may play without saying who they are.
    pub(crate) provider: Option<Provider>,
    /// How often one may try to log in.
    pub(crate) attempts: Attempts,
    /// How often one comes in by a token.
    pub(crate) logins: Logins,
}

/// How much clients may ask and hold.
pub(crate) struct Bounds {
    pub(crate) requests: Arc<Limits>,
    pub(crate) load: Load,
    /// Places for connections.
    pub(crate) places: Places,
    /// Sockets that are not authenticated.
    pub(crate) unauthenticated: Unauthenticated,
}

/// All sessions of this gateway.
pub(crate) struct Sessions {
    pub(crate) registry: Arc<Registry>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) budgets: Budgets,
    /// Tasks of connections and sessions.
    pub(crate) clients: TaskGroup,
    /// Sessions are to say goodbye.
    pub(crate) draining: CancellationToken,
}

/// What is served from memory.
pub(crate) struct Served {
    /// The content that is served and shown; see [`App::content`].
    pub(crate) shown: Shown,
    pub(crate) frontend: Frontend,
    pub(crate) hiscores: Hiscores,
}

impl App {
    /// The content that is shown now. Another version may take its place at any time: whoever
    /// needs it twice keeps what it got.
    pub(crate) fn content(&self) -> Arc<Content> {
        Arc::clone(&self.served.shown.version().content)
    }
}
