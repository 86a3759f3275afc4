//! A run's right to live, as the store gave it and renews it, and the run's reports at each
//! renewal.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32},
    },
    time::Instant,
};

use proto::rpc::{agents::v1::Report, persistence::v1::RegionLoad};
use service_runtime::mean::RunningMean;
use tokio::sync::Notify;

use super::progress::Progress;

/// A run that the store knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registered {
    pub(crate) run_id: u64,
    pub(crate) incarnation: u64,
    /// Time of the store's clock at `at`, in milliseconds.
    pub(crate) store_ms: u64,
    pub(crate) at: Instant,
    /// Whether the service that answered takes rows of positions.
    pub(crate) knows_positions: bool,
}

/// The store's answer to a renewal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Renewed {
    /// The run lives; the store's clock at a moment.
    Live { store_ms: u64, at: Instant },
    /// The run is fenced: it must end.
    Fenced,
    /// Another store answers, which may lack committed rows. The run must end.
    OtherIncarnation,
}

/// The report of a run at each renewal.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Steps of the tick loop.
    pub(crate) progress: Progress,
    /// Whether the tick loop stands still. The lease is not renewed then.
    pub(crate) stale: AtomicBool,
    pub(crate) players: AtomicU32,
    /// Mean work of a tick.
    pub(crate) tick: RunningMean,
    /// Mean time of a commit that the store answered.
    pub(crate) commit: RunningMean,
    /// Share of each region in that cost.
    pub(crate) regions: Mutex<Vec<RegionLoad>>,
    /// Reports on the goals of agents.
    pub(crate) agents: Mutex<Vec<Report>>,
    /// Signal that a character came in that may be an agent.
    pub(crate) agents_wanted: Notify,
}

impl Pulse {
    /// Returns the share of each region in the cost of a tick, as the run measured it last.
    pub(crate) fn loads(&self) -> Vec<RegionLoad> {
        let regions = self.regions.lock();
        regions.unwrap_or_else(PoisonError::into_inner).clone()
    }
}
