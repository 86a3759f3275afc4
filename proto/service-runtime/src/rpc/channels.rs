//! Channels to peers, one an address.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tonic::transport::Channel;

use super::channel;

/// Most channels that it keeps; at one more it drops all and makes them anew.
const PEERS_MAX: usize = 1024;

/// Open channels by address. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Channels(Arc<Mutex<BTreeMap<String, Channel>>>);

impl Channels {
    /// Returns the channel to `address`, which connects at its first use; `None`: that is no
    /// address. Call it inside a runtime.
    pub fn to(&self, address: &str) -> Option<Channel> {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = channels.get(address) {
            return Some(known.clone());
        }
        let made = channel(address)
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
        let channels = Channels::default();
        assert!(channels.to("not an address").is_none());
        for port in 1..=PEERS_MAX {
            assert!(channels.to(&format!("127.0.0.1:{port}")).is_some());
        }
        let count = || channels.0.lock().expect("lock").len();
        assert!(channels.to("127.0.0.1:1").is_some());
        assert_eq!(count(), PEERS_MAX);
        assert!(channels.to("127.0.0.1:9999").is_some());
        assert_eq!(count(), 1);
    }
}
