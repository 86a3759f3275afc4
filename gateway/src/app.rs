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
    facts::Facts,
    http::hiscores::Hiscores,
    http::{body::Load, frontend::Frontend},
    limits::{Limits, logins::Logins, strangers::Strangers},
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
    pub(crate) zones: Zones,
    pub(crate) accounts: Accounts,
    pub(crate) agents: Agents,
    pub(crate) queries: Queries,
    pub(crate) facts: Facts,
    pub(crate) hiscores: Hiscores,
    pub(crate) tokens: Tokens,
    pub(crate) attempts: Attempts,
    pub(crate) identity: Identity,
    pub(crate) gates: Gates,
    /// None: anybody may play without saying who they are.
    pub(crate) provider: Option<Provider>,
    pub(crate) limits: Arc<Limits>,
    /// How often one comes in by a token.
    pub(crate) logins: Logins,
    /// Sockets that are not authenticated.
    pub(crate) places: Places,
    pub(crate) strangers: Strangers,
    pub(crate) load: Load,
    pub(crate) frontend: Frontend,
    pub(crate) budgets: Budgets,
    pub(crate) registry: Arc<Registry>,
    pub(crate) hub: Arc<Hub>,
    /// The content that is served and shown; see [`App::content`].
    pub(crate) shown: Shown,
    pub(crate) health: Health,
    /// Sessions are to say goodbye.
    pub(crate) draining: CancellationToken,
    /// Connections and sessions.
    pub(crate) clients: TaskGroup,
    /// All else that goes on in the background.
    pub(crate) tasks: TaskGroup,
    pub(crate) started: Instant,
}

impl App {
    /// The content that is shown now. Another version may take its place at any time: whoever
    /// needs it twice keeps what it got.
    pub(crate) fn content(&self) -> Arc<Content> {
        Arc::clone(&self.shown.version().content)
    }
}
