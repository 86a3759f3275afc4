//! Everything that a store takes from outside of its database: the time, fresh ids, and the rules
//! that a test breaks.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::mutants::Mutants;

/// The surroundings of a store. PostgreSQL has a clock of its own.
pub(crate) trait Environment: Send + Sync {
    /// Returns the time in milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// Returns an id that no call has returned before.
    fn new_id(&self) -> String;
    /// Returns the rules that the store breaks.
    fn mutants(&self) -> Mutants;
}

/// The machine on which the service runs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Machine {
    pub(crate) mutants: Mutants,
}

impl Environment for Machine {
    fn now_ms(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| i64::try_from(since.as_millis()).ok())
            .unwrap_or_default()
    }

    fn new_id(&self) -> String {
        new_id()
    }

    fn mutants(&self) -> Mutants {
        self.mutants
    }
}

/// Returns a fresh id of this machine.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}
