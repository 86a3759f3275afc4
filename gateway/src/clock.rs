//! Time: the time of day in words (ISO 8601 in UTC, to the millisecond), and the moment from which
//! the gateway counts times.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) use service_runtime::clock::iso;

/// Returns this moment, by the clock that all timers follow.
pub(crate) fn instant() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Waits until a moment; for ever without one.
pub(crate) async fn until(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Returns the present time.
pub(crate) fn now_iso() -> String {
    iso(unix_ms())
}

/// Returns the milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX)
}
