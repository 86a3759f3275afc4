//! Unauthenticated sockets. Bounds their number, in total and per address, so that nobody can take
//! all places without an account.
//!
//! Always: a socket gives its place back when its client authenticates, or when it ends. When all
//! places are taken, the oldest silent socket gives up its place for the newcomer.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use super::{
    shares::{Share, Shares},
    subject::Subject,
};

/// Unauthenticated sockets, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Most {
    /// Sockets of one address; one person has a whole /64 of IPv6.
    pub(crate) per_address: usize,
    /// Sockets of all addresses together.
    pub(crate) total: usize,
}

/// Reason why there is no room for another socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// The address has as many sockets as it may.
    Address,
    /// All places are taken, and the gateway is answering each of these sockets.
    Total,
}

/// All unauthenticated sockets of this gateway.
pub(crate) struct Unauthenticated {
    total: usize,
    shares: Shares,
    here: Arc<Mutex<Here>>,
}

/// Unauthenticated sockets by arrival.
#[derive(Default)]
struct Here {
    next: u64,
    all: BTreeMap<u64, Standing>,
}

/// State of an unauthenticated socket.
struct Standing {
    /// Whether the gateway is answering a message of its client.
    busy: bool,
    leave: CancellationToken,
}

/// One unauthenticated socket; a drop gives its place back.
pub(crate) struct UnauthenticatedSocket {
    number: u64,
    leave: CancellationToken,
    here: Arc<Mutex<Here>>,
    _share: Share,
}

/// Guard that keeps a socket's place while it lives.
pub(crate) struct Busy {
    number: u64,
    here: Arc<Mutex<Here>>,
}

impl Unauthenticated {
    pub(crate) fn new(most: Most) -> Self {
        Self {
            total: most.total,
            shares: Shares::new(most.per_address),
            here: Arc::default(),
        }
    }

    /// Takes a place for a socket of an address. If all places are taken, it takes that of the
    /// oldest silent socket.
    pub(crate) fn enter(&self, address: IpAddr) -> Result<UnauthenticatedSocket, NoRoom> {
        let share = self.shares.take(Subject::address(address));
        let share = share.ok_or(NoRoom::Address)?;
        let mut here = lock(&self.here);
        if here.all.len() >= self.total {
            let mut silent = here.all.iter().filter(|(_, standing)| !standing.busy);
            let oldest = silent.next().map(|(number, _)| *number);
            let oldest = oldest.and_then(|number| here.all.remove(&number));
            oldest.ok_or(NoRoom::Total)?.leave.cancel();
        }
        let (number, leave) = (here.next, CancellationToken::new());
        here.next += 1;
        let standing = Standing {
            busy: false,
            leave: leave.clone(),
        };
        here.all.insert(number, standing);
        Ok(UnauthenticatedSocket {
            number,
            leave,
            here: Arc::clone(&self.here),
            _share: share,
        })
    }
}

impl UnauthenticatedSocket {
    /// Keeps the place while the gateway answers a message of the client.
    pub(crate) fn busy(&self) -> Busy {
        set_busy(&self.here, self.number, true);
        Busy {
            number: self.number,
            here: Arc::clone(&self.here),
        }
    }

    /// Waits until a newcomer has taken the place.
    pub(crate) async fn sent_away(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        set_busy(&self.here, self.number, false);
    }
}

impl Drop for UnauthenticatedSocket {
    fn drop(&mut self) {
        // A socket that lost its place is not in the map any more.
        lock(&self.here).all.remove(&self.number);
    }
}

fn set_busy(here: &Mutex<Here>, number: u64, busy: bool) {
    if let Some(standing) = lock(here).all.get_mut(&number) {
        standing.busy = busy;
    }
}

fn lock(here: &Mutex<Here>) -> MutexGuard<'_, Here> {
    // No holder of the lock panics.
    here.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unauthenticated(per_address: usize, total: usize) -> Unauthenticated {
        Unauthenticated::new(Most { per_address, total })
    }

    fn enter(
        unauthenticated: &Unauthenticated,
        address: &str,
    ) -> Result<UnauthenticatedSocket, NoRoom> {
        unauthenticated.enter(address.parse().unwrap())
    }

    #[test]
    fn one_address_cannot_use_up_the_room_of_others() {
        let unauthenticated = unauthenticated(2, 3);
        let first = enter(&unauthenticated, "2001:db8::1").unwrap();
        let _second = enter(&unauthenticated, "2001:db8::2").unwrap();
        let third = enter(&unauthenticated, "2001:db8::3");
        assert_eq!(third.err(), Some(NoRoom::Address));
        assert!(enter(&unauthenticated, "10.0.0.1").is_ok());
        drop(first);
        assert!(
            enter(&unauthenticated, "2001:db8::3").is_ok(),
            "gone at once"
        );
    }

    #[test]
    fn the_oldest_silent_one_gives_its_place_to_a_newcomer() {
        let unauthenticated = unauthenticated(1, 3);
        let talking = enter(&unauthenticated, "10.0.0.1").unwrap();
        let oldest = enter(&unauthenticated, "10.0.0.2").unwrap();
        let younger = enter(&unauthenticated, "10.0.0.3").unwrap();
        let busy = talking.busy();
        let newcomer = enter(&unauthenticated, "10.0.0.4").unwrap();
        assert!(oldest.leave.is_cancelled());
        assert!(!talking.leave.is_cancelled() && !younger.leave.is_cancelled());
        drop(oldest);
        assert_eq!(
            lock(&unauthenticated.here).all.len(),
            3,
            "its place is taken"
        );
        drop(busy);
        let _another = enter(&unauthenticated, "10.0.0.5").unwrap();
        assert!(talking.leave.is_cancelled(), "it was answered");
        drop((talking, younger, newcomer));
        assert_eq!(lock(&unauthenticated.here).all.len(), 1);
    }

    #[test]
    fn nobody_is_sent_away_while_all_are_being_answered() {
        let unauthenticated = unauthenticated(1, 1);
        let only = enter(&unauthenticated, "10.0.0.1").unwrap();
        let _busy = only.busy();
        let refused = enter(&unauthenticated, "10.0.0.2").err();
        assert_eq!(refused, Some(NoRoom::Total));
        assert!(!only.leave.is_cancelled());
    }
}
