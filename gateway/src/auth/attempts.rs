//! Attempts to log in, counted per client address in this process.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::session::limits::AttemptLimit;

/// Addresses that are remembered before the idle ones are forgotten.
const SWEEP_AT: usize = 10_000;
/// Addresses that are remembered at most.
const ADDRESSES_MAX: usize = 100_000;

/// The attempts of every address.
pub(crate) struct Attempts {
    on: bool,
    by_address: Mutex<Remembered>,
}

struct Remembered {
    limits: HashMap<IpAddr, AttemptLimit>,
    sweep_at: usize,
}

impl Attempts {
    pub(crate) fn new(on: bool) -> Self {
        Self {
            on,
            by_address: Mutex::new(Remembered {
                limits: HashMap::new(),
                sweep_at: SWEEP_AT,
            }),
        }
    }

    /// One attempt; refused, it may come again after the time given.
    pub(crate) fn attempt(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        if !self.on {
            return Ok(());
        }
        let mut all = self
            .by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let address = network(address);
        if all.limits.len() >= all.sweep_at {
            all.limits.retain(|_, limit| !limit.idle(now));
            all.sweep_at = (all.limits.len() * 2).max(SWEEP_AT);
        }
        if all.limits.len() >= ADDRESSES_MAX && !all.limits.contains_key(&address) {
            return Err(Duration::from_secs(60));
        }
        let limit = all.limits.entry(address).or_insert_with(AttemptLimit::new);
        limit.attempt(now)
    }
}

/// One person has a whole /64 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(a) => IpAddr::V6((a.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_count_for_themselves_and_an_ipv6_network_as_one() {
        let (attempts, now) = (Attempts::new(true), Instant::now());
        let try_from = |text: &str| attempts.attempt(text.parse().unwrap(), now).is_ok();
        for i in 0..10 {
            assert!(try_from("10.0.0.1"));
            assert!(try_from(&format!("2001:db8::{i}")));
        }
        assert!(!try_from("10.0.0.1") && !try_from("2001:db8::ffff"));
        assert!(try_from("10.0.0.2") && try_from("2001:db8:0:1::1"));
    }
}
