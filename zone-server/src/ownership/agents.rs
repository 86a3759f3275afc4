//! Asks the store for the agents of one run, again and again, and reports on their goals.
//!
//! Always: after one round the run knows words that came too late or not at all; the next round
//! makes up for one that fails.

use std::{sync::Arc, sync::PoisonError, time::Duration};

use proto::rpc::agents::v1::{OfRunRequest, Report};
use tokio_util::sync::CancellationToken;

use super::lease::Pulse;
use crate::{
    mailbox::{Mailbox, Message},
    store::Store,
};

/// Time between two rounds.
pub(crate) const POLL_EVERY: Duration = Duration::from_secs(5);
/// Time after an arrival before the store is asked for the newcomer's orders; others come with it.
const GATHER: Duration = Duration::from_millis(200);
/// Pause between two rounds that newcomers cause.
const PAUSE: Duration = Duration::from_millis(500);

/// The poll of one run until `over`.
#[derive(Debug)]
pub(crate) struct AgentPoll {
    pub(crate) run_id: u64,
    pub(crate) store: Store,
    pub(crate) mailbox: Mailbox,
    pub(crate) over: CancellationToken,
}

impl AgentPoll {
    /// Asks until the run is over.
    pub(crate) async fn work(self, pulse: Arc<Pulse>) {
        let mut told: Vec<Report> = Vec::new();
        loop {
            let wait = async {
                let wanted = async {
                    pulse.agents_wanted.notified().await;
                    tokio::time::sleep(GATHER).await;
                };
                // Nobody wants the agents, but the poll asks for them all the same.
                let _ = tokio::time::timeout(POLL_EVERY, wanted).await;
            };
            if self.over.run_until_cancelled(wait).await.is_none() {
                return;
            }
            self.round(&pulse, &mut told).await;
            if self
                .over
                .run_until_cancelled(tokio::time::sleep(PAUSE))
                .await
                .is_none()
            {
                return;
            }
        }
    }

    /// Does one round. `told` holds the reports that the store has.
    async fn round(&self, pulse: &Pulse, told: &mut Vec<Report>) {
        let now = pulse.agents.lock();
        let now = now.unwrap_or_else(PoisonError::into_inner).clone();
        let news = now.iter().filter(|report| !told.contains(report));
        let request = OfRunRequest {
            run_id: self.run_id,
            reports: news.cloned().collect(),
        };
        let mut client = self.store.agents();
        match service_runtime::rpc::bounded(client.of_run(request)).await {
            Ok(reply) => {
                *told = now;
                // When the mailbox is full, the next round does it.
                let _ = self.mailbox.say(Message::AgentsOfRun(reply)).await;
            }
            Err(status) => {
                tracing::debug!(run = self.run_id, %status, "agents are asked for later");
            }
        }
    }
}
