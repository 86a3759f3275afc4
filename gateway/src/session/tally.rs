//! The count of a session's messages, and those that a lost socket has taken with it.

use std::time::Instant;

use super::resume::Written;

/// The messages of a session, counted.
pub(super) struct Tally {
    /// Name of the count; a new one after each resync.
    line: String,
    /// Messages written to the last socket, while there is none.
    written: Option<Written>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            line: uuid::Uuid::new_v4().simple().to_string(),
            written: None,
        }
    }

    /// Returns the name of the count.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// Begins to count anew, under another name.
    pub(super) fn restart(&mut self) {
        self.line = uuid::Uuid::new_v4().simple().to_string();
    }

    /// Keeps the messages that were written to a socket that is gone; `None`: nobody knows them.
    pub(super) fn keep(&mut self, written: Option<Written>) {
        self.written = written;
    }

    /// Takes the messages for a new socket.
    pub(super) fn take(&mut self) -> Written {
        self.written.take().unwrap_or_else(Written::new)
    }

    /// Forgets messages that are too old to replay, while there is no socket.
    pub(super) fn forget_old(&mut self) {
        if let Some(written) = &mut self.written {
            written.forget(Instant::now());
        }
    }
}
