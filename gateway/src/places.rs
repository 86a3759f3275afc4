//! Places for connections: a bound in total, and one per address.
//!
//! Always: probes find a spare place while all others are taken. The connections of a trusted
//! proxy serve many people and count only in total. A WebSocket through a proxy counts for its
//! client, which the upgrade names.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    http::proxies::TrustedProxies,
    limits::{
        shares::{Share, Shares},
        subject::Subject,
    },
};

/// Places for probes while all others are taken.
const SPARE: usize = 64;

/// The places of this gateway.
pub(crate) struct Places {
    all: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    by_address: Shares,
}

/// A connection's place; a drop gives it back.
#[derive(Debug)]
pub(crate) struct Place {
    /// Whether it is a spare place, where the gateway answers only probes.
    pub(crate) spare: bool,
    _permit: OwnedSemaphorePermit,
    /// Share of the peer's address; `None` for a trusted proxy.
    _share: Option<Share>,
    /// The share of the client behind a trusted proxy, once an upgrade has named it.
    client: OnceLock<Share>,
}

impl Place {
    /// Keeps the share of the client behind a proxy for as long as the connection lives. There is
    /// at most one, because a connection upgrades once.
    pub(crate) fn hold_for_client(&self, share: Share) {
        // A second share would return at once: the first one counts the same client.
        let _ = self.client.set(share);
    }
}

/// Reason why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// The address has as many connections as it may.
    Address,
    /// Even the spare places are taken.
    Total,
}

impl Places {
    /// Makes `total` places, `per_address` of them for one address; one person has a whole /64 of
    /// IPv6.
    pub(crate) fn new(total: usize, per_address: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(total)),
            spare: Arc::new(Semaphore::new(SPARE)),
            by_address: Shares::new(per_address),
        }
    }

    /// Takes a place for a connection from `peer`.
    pub(crate) fn take(&self, peer: IpAddr, proxies: &TrustedProxies) -> Result<Place, NoPlace> {
        let share = match proxies.trusts(peer.to_canonical()) {
            true => None,
            false => Some(self.of_client(peer).ok_or(NoPlace::Address)?),
        };
        let taken = Arc::clone(&self.all).try_acquire_owned();
        let spare = taken.is_err();
        let permit = taken.or_else(|_| Arc::clone(&self.spare).try_acquire_owned());
        Ok(Place {
            spare,
            _permit: permit.map_err(|_| NoPlace::Total)?,
            _share: share,
            client: OnceLock::new(),
        })
    }

    /// Takes a share of the client's address alone; `None` where it has all that it may.
    pub(crate) fn of_client(&self, address: IpAddr) -> Option<Share> {
        self.by_address.take(Subject::address(address))
    }
}

#[cfg(test)]
mod tests {
    use service_runtime::config::{Env, Reader};

    use super::*;

    fn proxies(trusted: &str) -> TrustedProxies {
        let env = Env::from_pairs([("TRUSTED_PROXIES", trusted)]);
        TrustedProxies::read(&mut Reader::new(env))
    }

    fn taken(places: &Places, peer: &str) -> Result<Place, NoPlace> {
        places.take(peer.parse().unwrap(), &proxies("192.0.2.0/24"))
    }

    #[test]
    fn one_address_takes_only_its_share_and_a_trusted_proxy_what_there_is() {
        let places = Places::new(8, 2);
        let _held = [
            taken(&places, "10.0.0.1"),
            taken(&places, "::ffff:10.0.0.1"),
        ];
        let refused = taken(&places, "10.0.0.1").map(|place| place.spare);
        assert_eq!(refused, Err(NoPlace::Address));
        let proxied: Vec<_> = (0..6)
            .map(|_| taken(&places, "192.0.2.7").unwrap())
            .collect();
        assert!(proxied.iter().all(|place| !place.spare));
        assert!(taken(&places, "10.0.0.2").unwrap().spare, "for probes");
        drop(proxied);
        assert!(!taken(&places, "10.0.0.2").unwrap().spare);
    }

    #[test]
    fn there_are_only_so_many_spare_places() {
        let places = Places::new(1, 1000);
        let held: Vec<_> = (0..65)
            .map(|_| taken(&places, "10.0.0.1").unwrap())
            .collect();
        assert_eq!(held.iter().filter(|place| place.spare).count(), 64);
        let refused = taken(&places, "10.0.0.1").map(|place| place.spare);
        assert_eq!(refused, Err(NoPlace::Total));
    }
}
