//! Attempts to say who one is, counted per client address, or per account where one is known.

use std::{net::IpAddr, sync::Arc, time::Duration};

use crate::limits::{Limits, subject::Subject, window::AUTH};

/// Counts attempts, with all gateways together.
pub(crate) struct Attempts(Arc<Limits>);

impl Attempts {
    pub(crate) fn new(limits: Arc<Limits>) -> Self {
        Self(limits)
    }

    /// One attempt of an address; refused, it may come again after the time given.
    pub(crate) async fn attempt(&self, address: IpAddr) -> Result<(), Duration> {
        self.of(&Subject::address(address)).await
    }

    /// One attempt of an account at a code, from an address: of both, so that neither another
    /// address nor another account lets anybody guess on.
    pub(crate) async fn attempt_of(
        &self,
        account_id: &str,
        address: IpAddr,
    ) -> Result<(), Duration> {
        self.of(&Subject::Account(account_id.to_owned())).await?;
        self.attempt(address).await
    }

    /// One attempt of somebody.
    pub(crate) async fn of(&self, who: &Subject) -> Result<(), Duration> {
        let passed = self.0.pass(AUTH, who).await;
        passed.map(|_| ()).map_err(|refusal| refusal.wait)
    }
}
