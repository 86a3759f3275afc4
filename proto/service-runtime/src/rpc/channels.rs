//! Channels to peers of one role, one an address.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tonic::transport::Channel;

use super::{Role, Trust};

/// Most channels that it keeps; at one more it drops all and makes them anew.
const PEERS_MAX: usize = 1024;

/// Open channels by address. Clones share them.
#[derive(Debug, Clone)]
pub struct Channels {
    trust: Trust,
    role: Role,
    open: Arc<Mutex<BTreeMap<String, Channel>>>,
}

impl Channels {
    /// Makes channels to processes of `role`, and opens none yet.
    pub fn new(trust: &Trust, role: Role) -> Self {
        Self {
            trust: trust.clone(),
            role,
            open: Arc::default(),
        }
    }

    /// Returns the channel to `address`, which connects at its first use; `None`: that is no
    /// address. Call it inside a runtime.
    pub fn to(&self, address: &str) -> Option<Channel> {
        let mut channels = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = channels.get(address) {
            return Some(known.clone());
        }
        let made = self
            .trust
            .channel(self.role, address)
            .inspect_err(|error| tracing::warn!(address, %error, "no such peer"))
            .ok()?;
        if channels.len() >= PEERS_MAX {
            channels.clear();
        }
        channels.insert(address.to_owned(), made.clone());
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn channels_are_kept_up_to_a_bound() {
        let channels = Channels::new(&Trust::none(), Role::Zone);
        assert!(channels.to("not an address").is_none());
        for port in 1..=PEERS_MAX {
            assert!(channels.to(&format!("127.0.0.1:{port}")).is_some());
        }
        let count = || channels.open.lock().expect("lock").len();
        assert!(channels.to("127.0.0.1:1").is_some());
        assert_eq!(count(), PEERS_MAX);
        assert!(channels.to("127.0.0.1:9999").is_some());
        assert_eq!(count(), 1);
    }
}
