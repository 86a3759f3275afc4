//! State that all sessions and routes of a gateway share.

use std::{sync::Arc, time::Instant};

use service_runtime::{health::Health, tasks::TaskGroup, telemetry::Telemetry};
use tokio_util::sync::CancellationToken;
use world::Content;

use crate::{
    agents::Agents,
    auth::{
        accounts::Accounts, attempts::Attempts, identity::Identity, password::Hashing,
        provider::Provider, sanctions::Sanctions, tokens::Tokens,
    },
    chaos::Supervisor,
    config::Config,
    content::Shown,
    hiscores::Hiscores,
    http::{body::Load, frontend::Frontend},
    limits::{Limits, logins::Logins, unauthenticated::Unauthenticated},
    live_queries::LiveQueries,
    metrics::Metrics,
    personal::Personal,
    places::Places,
    queries::Queries,
    session::{budget::Budgets, registry::Registry},
    social::hub::Hub,
    socket::Reports,
    stores::Stores,
    turns::Turns,
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
    /// All background tasks except connections and sessions.
    pub(crate) tasks: TaskGroup,
    pub(crate) zones: Zones,
    pub(crate) agents: Agents,
    pub(crate) live_queries: LiveQueries,
    /// Breaks zone servers for trial; `None`: this world has none.
    pub(crate) supervisor: Option<Supervisor>,
    pub(crate) queries: Queries,
    pub(crate) stores: Stores,
    pub(crate) personal: Personal,
    pub(crate) auth: Auth,
    pub(crate) bounds: Bounds,
    pub(crate) sessions: Sessions,
    pub(crate) served: Served,
}

/// Authentication of callers, and the sanctions that keep accounts out.
pub(crate) struct Auth {
    pub(crate) accounts: Accounts,
    pub(crate) identity: Identity,
    pub(crate) tokens: Tokens,
    pub(crate) sanctions: Sanctions,
    /// The identity provider; `None`: anybody may play anonymously.
    pub(crate) provider: Option<Provider>,
    pub(crate) hashing: Hashing,
    /// Limit of attempts to log in.
    pub(crate) attempts: Attempts,
    /// Limit of logins and resumes by a token.
    pub(crate) logins: Logins,
}

/// Bounds of the requests and resources of clients.
pub(crate) struct Bounds {
    pub(crate) requests: Arc<Limits>,
    pub(crate) load: Load,
    /// Places for connections.
    pub(crate) places: Places,
    /// Places for unauthenticated sockets.
    pub(crate) unauthenticated: Unauthenticated,
}

/// All sessions of this gateway.
pub(crate) struct Sessions {
    pub(crate) registry: Arc<Registry>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) budgets: Budgets,
    /// Turns at coming into the world.
    pub(crate) entering: Turns,
    /// Tasks of connections and sessions.
    pub(crate) clients: TaskGroup,
    /// Order to all sessions to say goodbye.
    pub(crate) draining: CancellationToken,
}

/// Content that the gateway serves from memory.
pub(crate) struct Served {
    /// The content that clients get; see [`App::content`].
    pub(crate) shown: Arc<Shown>,
    pub(crate) frontend: Frontend,
    pub(crate) hiscores: Hiscores,
}

impl App {
    /// Returns the content that clients get now. Another version may take its place at any time: a
    /// caller that needs it twice keeps its copy.
    pub(crate) fn content(&self) -> Arc<Content> {
        self.served.shown.content()
    }
}
