//! Asks zones what became of requests that nobody has answered for some seconds.
//!
//! Always: a request that the gateway passed on gets an answer in the end, even if its character
//! changed owners or processes died on the way. The run that plays the character now has the
//! answer, will have it, or says that it is lost.

use std::{sync::Arc, time::Duration};

use proto::rpc::zone::v1 as wire;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::{
    route::Place,
    session::{request_id_text, to_zone},
    table::Table,
};

/// Time after which the gateway asks for an answer. Only an absent store keeps one for longer.
const AFTER: Duration = Duration::from_secs(3);
const EVERY: Duration = Duration::from_secs(1);

impl Table {
    /// Asks every second, for ever.
    pub(super) async fn keep_recalling(self: Arc<Self>) {
        let mut clock = interval(EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            clock.tick().await;
            self.recall();
        }
    }

    fn recall(&self) {
        let Some(before) = Instant::now().checked_sub(AFTER) else {
            return;
        };
        let inside = self.inside();
        for (session_id, session) in &inside.sessions {
            let Place::At(run) = session.route.place else {
                continue;
            };
            let old = session.mailbox.passed_before(before);
            let Some(link) = inside.links.get(&run).filter(|_| !old.is_empty()) else {
                continue;
            };
            tracing::debug!(
                session = &**session_id,
                run,
                requests = old.len(),
                "asks again"
            );
            let recall = wire::Recall {
                session_id: session_id.to_string(),
                character_id: session.route.character_id.clone(),
                session_epoch: session.route.session_epoch,
                ids: old.iter().map(request_id_text).collect(),
            };
            // If the link has no room, the gateway asks in a second.
            let _ = link
                .control
                .try_send(to_zone(wire::to_zone::Message::Recall(recall)));
        }
    }
}
