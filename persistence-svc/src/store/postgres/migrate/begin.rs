//! How each transaction of a migration begins, and why one is rolled back.

use tokio_postgres::error::SqlState;

use crate::store::error::StoreError;

/// Only one transaction of a migration runs at a time in a database; the number is ours alone.
/// Programs that know no lease have only this lock.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(7453010371)";
/// Limits of a transaction. Play stands behind a lock that the migration waits for, so it lets go
/// before a call of play is over.
pub(super) const LIMITS: &str =
    "SET LOCAL statement_timeout = '100s'; SET LOCAL lock_timeout = '1s'";

/// Reason why a transaction was rolled back.
pub(super) enum Fault {
    /// Somebody had a lock for too long. Another try may succeed.
    Locked(String),
    /// Another process has done the step, or has the lease.
    Overtaken,
    /// Any other.
    Store(StoreError),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        let locked = [
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ];
        if error.code().is_some_and(|code| locked.contains(code)) {
            return Fault::Locked(StoreError::from(error).to_string());
        }
        Fault::Store(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}
