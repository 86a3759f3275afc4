//! Whether a server takes calls now.

use tokio::sync::watch;

/// The gate of a server, open at first. Clones share it.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(true))
    }
}

impl Gate {
    /// Makes a closed one.
    pub fn closed() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Opens or closes it. Returns whether that is a change.
    pub fn set(&self, open: bool) -> bool {
        self.0
            .send_if_modified(|is| std::mem::replace(is, open) != open)
    }

    /// Returns whether it is open.
    pub fn is_open(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it closes, after it was open.
    pub(super) async fn closes(&self) {
        let mut open = self.0.subscribe();
        // The sender lives as long as this value.
        let _ = open.wait_for(|open| *open).await;
        let _ = open.wait_for(|open| !open).await;
    }
}
