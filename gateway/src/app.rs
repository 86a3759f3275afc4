//! What all sessions and routes of a gateway share.

use std::{sync::Arc, time::Instant};

use chassis::{health::Health, telemetry::Telemetry};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use world::Content;

use crate::{
    auth::{
        accounts::Accounts, attempts::Attempts, gates::Gates, identity::Identity,
        provider::Provider, tokens::Tokens,
    },
    config::Config,
    http::manifests::Manifests,
    metrics::Metrics,
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
    pub(crate) tokens: Tokens,
    pub(crate) attempts: Attempts,
    pub(crate) identity: Identity,
    pub(crate) gates: Gates,
    /// None: anybody may play without saying who they are.
    pub(crate) provider: Option<Provider>,
    pub(crate) budgets: Budgets,
    pub(crate) registry: Arc<Registry>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) content: Arc<Content>,
    pub(crate) manifests: Manifests,
    pub(crate) health: Health,
    /// Sessions are to say goodbye.
    pub(crate) draining: CancellationToken,
    /// Connections and sessions.
    pub(crate) tasks: TaskTracker,
    pub(crate) started: Instant,
}
