//! Counts attempts to authenticate, per client address, or per account where one is known.

use std::{net::IpAddr, sync::Arc, time::Duration};

use crate::limits::{Limits, subject::Subject, window::AUTH};

/// Attempts at all gateways together.
pub(crate) struct Attempts(Arc<Limits>);

impl Attempts {
    pub(crate) fn new(limits: Arc<Limits>) -> Self {
        Self(limits)
    }

    /// Counts an attempt of an address. The error is the time until it may try again.
    pub(crate) async fn attempt(&self, address: IpAddr) -> Result<(), Duration> {
        self.of(&Subject::address(address)).await
    }

    /// Counts an attempt at a code, for the account and for its address: neither a new address nor
    /// a new account allows more guesses.
    pub(crate) async fn attempt_of(
        &self,
        account_id: &str,
        address: IpAddr,
    ) -> Result<(), Duration> {
        self.of(&Subject::Account(account_id.to_owned())).await?;
        self.attempt(address).await
    }

    /// Counts an attempt of a subject. The error is the time until it may try again.
    pub(crate) async fn of(&self, who: &Subject) -> Result<(), Duration> {
        let passed = self.0.pass(AUTH, who).await;
        passed.map(|_| ()).map_err(|refusal| refusal.wait)
    }
}
