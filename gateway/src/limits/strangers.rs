//! Sockets whose client has not said who it is: how many there may be, altogether and of one
//! address, so that nobody can take all places without even an account.
//!
//! Always: a share is given back when the client is known, or the socket is gone.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::subject::Subject;

/// How many there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Most {
    /// Of one address; one person has a whole /64 of IPv6.
    pub(crate) per_address: usize,
    /// Of all together.
    pub(crate) total: usize,
}

/// Why there is no room for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// This address has as many as one may have.
    Address,
    /// There are as many as there may be.
    Total,
}

/// All of them at this gateway.
pub(crate) struct Strangers {
    most: Most,
    here: Arc<Mutex<Here>>,
}

#[derive(Default)]
struct Here {
    total: usize,
    /// None that has no socket is in it.
    by_address: HashMap<Subject, usize>,
}

/// One of them; given back when dropped.
pub(crate) struct Stranger {
    who: Subject,
    here: Arc<Mutex<Here>>,
}

impl Strangers {
    pub(crate) fn new(most: Most) -> Self {
        Self {
            most,
            here: Arc::default(),
        }
    }

    /// One more socket of an address.
    pub(crate) fn enter(&self, address: IpAddr) -> Result<Stranger, NoRoom> {
        let who = Subject::address(address);
        let mut here = lock(&self.here);
        if here.by_address.get(&who).copied().unwrap_or(0) >= self.most.per_address {
            return Err(NoRoom::Address);
        }
        if here.total >= self.most.total {
            return Err(NoRoom::Total);
        }
        here.total += 1;
        *here.by_address.entry(who.clone()).or_default() += 1;
        Ok(Stranger {
            who,
            here: Arc::clone(&self.here),
        })
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut here = lock(&self.here);
        here.total = here.total.saturating_sub(1);
        if let Some(count) = here.by_address.get_mut(&self.who) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                here.by_address.remove(&self.who);
            }
        }
    }
}

fn lock(here: &Mutex<Here>) -> MutexGuard<'_, Here> {
    // Nothing panics while it is held.
    here.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_use_up_the_room_of_others() {
        let most = Most {
            per_address: 2,
            total: 3,
        };
        let strangers = Strangers::new(most);
        let enter = |address: &str| strangers.enter(address.parse().unwrap());
        let first = enter("2001:db8::1").ok();
        let second = enter("2001:db8::2").ok();
        assert!(first.is_some() && second.is_some());
        assert_eq!(enter("2001:db8::3").err(), Some(NoRoom::Address));
        let third = enter("10.0.0.1").ok();
        assert!(third.is_some());
        assert_eq!(enter("10.0.0.2").err(), Some(NoRoom::Total));
        drop(first);
        assert!(enter("2001:db8::3").is_ok(), "and gone again at once");
        drop((second, third));
        assert!(lock(&strangers.here).by_address.is_empty());
    }
}
