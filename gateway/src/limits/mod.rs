//! Rate limits: windows per account, where there is one, else per client address.
//!
//! Always: all gateways count together through Redis. While Redis does not answer within 20 ms,
//! each gateway goes on alone, from its own memory. Without Redis, the gateways of one process
//! count together.
//!
//! In reading order: `window` (pure: the windows and rules), `subject` (accounts and addresses),
//! `local` (in memory), `breaker` (pure: when to leave Redis alone), `shared` (in Redis). Each
//! gateway counts three more alone: `shares` (things that one subject holds at the same time),
//! `unauthenticated` (unauthenticated sockets) and `logins` (logins by a token, and resumes).

mod breaker;
mod local;
pub(crate) mod logins;
mod shared;
pub(crate) mod shares;
pub(crate) mod subject;
pub(crate) mod unauthenticated;
pub(crate) mod window;

use std::sync::Arc;

use self::{
    local::Local,
    shared::{Keeper, Shared},
    subject::Subject,
    window::{Refusal, Rule, Standing},
};
use crate::{clock, metrics::Metrics, social::bus::Bus};

/// The limits of this gateway.
pub(crate) struct Limits {
    on: bool,
    local: Arc<Local>,
    shared: Option<Shared>,
    metrics: Metrics,
}

impl Limits {
    /// Makes limits over the same Redis as the bus, or in memory under the name of the bus.
    pub(crate) fn new(on: bool, bus: &Bus, name: &str, metrics: Metrics) -> Self {
        let keeper = match bus {
            Bus::Local(_) => None,
            Bus::Redis(bus) => Some(Keeper::Server(bus.clone())),
            Bus::Cluster(bus) => Some(Keeper::Cluster(bus.clone())),
        };
        let local = match keeper {
            None => Local::shared(name),
            Some(_) => Arc::new(Local::new()),
        };
        Self {
            on,
            local,
            shared: keeper.map(Shared::new),
            metrics,
        }
    }

    /// Counts a pass, or refuses it. `None`: limits are off.
    pub(crate) async fn pass(
        &self,
        rule: Rule,
        who: &Subject,
    ) -> Result<Option<Standing>, Refusal> {
        if !self.on {
            return Ok(None);
        }
        let answer = self.ask(rule, who).await;
        if let Err(refusal) = &answer {
            self.metrics.limited(rule.name, refusal.blocked);
        }
        answer.map(Some)
    }

    async fn ask(&self, rule: Rule, who: &Subject) -> Result<Standing, Refusal> {
        let now = clock::instant();
        let Some(shared) = &self.shared else {
            return self.local.pass(rule, who, now);
        };
        // A subject that this gateway knows as blocked costs Redis nothing.
        if let Some(wait) = self.local.blocked(rule, who, now) {
            let blocked = true;
            return Err(Refusal { wait, blocked });
        }
        match shared.pass(rule, who).await {
            Some(decided) => {
                self.local.note(rule, who, now, &decided);
                decided
            }
            None => {
                self.metrics.limited_alone(rule.name);
                self.local.pass(rule, who, now)
            }
        }
    }
}
