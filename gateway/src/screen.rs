//! How a client sees the world.

use std::num::NonZeroU16;

use proto::client::Format;

/// How a client sees the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Format of its messages.
    pub(crate) format: Format,
    /// Most players that it sees at once, the nearest; `None`: all in sight.
    pub(crate) players_max: Option<NonZeroU16>,
}

#[cfg(test)]
impl Screen {
    /// Returns the screen of a client that sees all in sight.
    pub(crate) const fn all(format: Format) -> Self {
        Self {
            format,
            players_max: None,
        }
    }
}
