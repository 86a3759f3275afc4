//! Terms that all kinds of bus share: messages that come, and answers that do not.

use std::time::{Duration, Instant};

use bytes::Bytes;

/// Time that one call may take.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_millis(250);

/// The bus does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bus does not answer")]
pub(crate) struct Away;

/// A message on a channel that this gateway reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) channel: String,
    pub(crate) payload: Bytes,
    /// Time at which it came.
    pub(crate) at: Instant,
}

/// How much of the bus answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    #[default]
    All,
    /// Some nodes of a cluster.
    Part,
    Nothing,
}
