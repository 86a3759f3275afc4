//! Agents: their records in the store, their state in the zones, and their external runtime.
//!
//! Always: the store decides, and hears of a change first. A zone that the gateway cannot reach
//! learns of the change from the store within seconds. Every call has a deadline and a bounded
//! number of tries.

pub(crate) mod answer;
pub(crate) mod runtime;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use proto::rpc::{
    agents::v1::{
        AddCredentialRequest, Agent, Credential, GetRequest, ListCredentialsRequest, ListRequest,
        LookReply, LookRequest, OrderRequest, Orders, RegisterRequest, RemoveReply, RemoveRequest,
        RevokeCredentialRequest, SayReply, SayRequest, TellRequest, agents_client::AgentsClient,
        order_request::Order, zone_agents_client::ZoneAgentsClient,
    },
    common::v1 as common,
    identity::v1::{RevokeRequest, identity_client::IdentityClient},
};
use service_runtime::rpc::{Channels, Replicas, Role, Trust};
use tokio::time::{sleep, timeout};
use tonic::{Status, transport::Channel};
use world::Region;

use self::runtime::Runtime;
use crate::{directory::DirectoryView, limits::window::Window, zone_link::Zones};

/// Time for which the gateway waits for a zone, at each try.
const ZONE_DEADLINE: Duration = Duration::from_millis(500);
/// Tries to find the zone of a character, which may be between two zones or on its way into the
/// world.
const ZONE_TRIES: u32 = 4;
/// Pause before the next try.
const ZONE_PAUSE: Duration = Duration::from_millis(200);
/// Lines of an account to its agents within [`LINES_TIME`]: as many as in chat.
const LINES_MAX: usize = 5;
const LINES_TIME: Duration = Duration::from_secs(5);
/// Accounts with a count of lines at which the gateway forgets the idle ones.
const SPEAKERS_MAX: usize = 10_000;

/// Asks about agents, and orders them.
pub(crate) struct Agents {
    replicas: Replicas,
    zones: Channels,
    lines: Mutex<HashMap<String, Window>>,
    pub(crate) runtime: Runtime,
}

impl Agents {
    /// Asks these replicas, and zones as they are needed.
    pub(crate) fn new(replicas: Replicas, trust: &Trust, runtime: Runtime) -> Self {
        Self {
            replicas,
            zones: Channels::new(trust, Role::Zone),
            lines: Mutex::default(),
            runtime,
        }
    }

    /// Makes a character an agent.
    pub(crate) async fn register(&self, ask: RegisterRequest) -> Result<Agent, Status> {
        let call = async |channel, ask| AgentsClient::new(channel).register(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Returns an agent.
    pub(crate) async fn get(&self, agent_id: &str) -> Result<Agent, Status> {
        let agent_id = agent_id.to_owned();
        let call = async |channel, ask| AgentsClient::new(channel).get(ask).await;
        self.replicas.call(GetRequest { agent_id }, call).await
    }

    /// Returns the agents of an account.
    pub(crate) async fn list(&self, account_id: &str) -> Result<Vec<Agent>, Status> {
        let account_id = account_id.to_owned();
        let call = async |channel, ask| AgentsClient::new(channel).list(ask).await;
        let asked = self.replicas.call(ListRequest { account_id }, call).await;
        asked.map(|reply| reply.agents)
    }

    /// Revokes all tokens of an agent, then removes it.
    pub(crate) async fn remove(&self, agent: &Agent) -> Result<RemoveReply, Status> {
        let account_id = agent.account_id.as_str();
        let good = self.credentials(account_id, &agent.agent_id).await?;
        self.revoke_tokens(account_id, &good).await?;
        let ask = RemoveRequest {
            account_id: account_id.to_owned(),
            agent_id: agent.agent_id.clone(),
        };
        let call = async |channel, ask| AgentsClient::new(channel).remove(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Changes the orders of an agent.
    pub(crate) async fn order(&self, agent: &Agent, order: Order) -> Result<Agent, Status> {
        let ask = OrderRequest {
            account_id: agent.account_id.clone(),
            agent_id: agent.agent_id.clone(),
            order: Some(order.clone()),
        };
        let call = async |channel, ask| AgentsClient::new(channel).order(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Notes a new token of an agent.
    pub(crate) async fn add_credential(
        &self,
        ask: AddCredentialRequest,
    ) -> Result<Credential, Status> {
        let call = async |channel, ask| AgentsClient::new(channel).add_credential(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Returns the good tokens of an agent; `agent_id` empty: of all agents of the account.
    pub(crate) async fn credentials(
        &self,
        account_id: &str,
        agent_id: &str,
    ) -> Result<Vec<Credential>, Status> {
        let ask = ListCredentialsRequest {
            account_id: account_id.to_owned(),
            agent_id: agent_id.to_owned(),
        };
        let call = async |channel, ask| AgentsClient::new(channel).list_credentials(ask).await;
        self.replicas
            .call(ask, call)
            .await
            .map(|reply| reply.credentials)
    }

    /// Ends a token: at every gateway, then in the list. A second call does no harm.
    pub(crate) async fn revoke(&self, account_id: &str, token_id: &str) -> Result<(), Status> {
        let good = self.credentials(account_id, "").await?;
        let named = good.into_iter().filter(|one| one.token_id == token_id);
        let named: Vec<Credential> = named.collect();
        self.revoke_tokens(account_id, &named).await?;
        let ask = RevokeCredentialRequest {
            account_id: account_id.to_owned(),
            token_id: token_id.to_owned(),
        };
        let call = async |channel, ask| AgentsClient::new(channel).revoke_credential(ask).await;
        self.replicas.call(ask, call).await.map(|_| ())
    }

    async fn revoke_tokens(&self, account_id: &str, named: &[Credential]) -> Result<(), Status> {
        let Some(until_ms) = named.iter().map(|one| one.expires_at_ms).max() else {
            return Ok(());
        };
        let ids: Vec<String> = named.iter().map(|one| one.token_id.clone()).collect();
        let ask = RevokeRequest {
            account_id: account_id.to_owned(),
            ids: ids.clone(),
            until_ms,
        };
        let call = async |channel, ask| IdentityClient::new(channel).revoke(ask).await;
        self.replicas.call(ask, call).await.map(|_| ())
    }

    /// Tells the zone of a region the orders of an agent there. Returns whether that zone has the
    /// agent and took them; else the agent's zone learns them from the store.
    pub(crate) async fn tell(&self, zones: &Zones, orders: &Orders, at: common::Region) -> bool {
        let view = zones.directory();
        let told = self.at_owner(&view, at, |mut zone, to_run_id| {
            let ask = TellRequest {
                to_run_id,
                orders: Some(orders.clone()),
            };
            async move { zone.tell(ask).await.map(|reply| reply.into_inner().here) }
        });
        told.await.unwrap_or(false)
    }

    /// Tells its zone the orders of an agent. Looks for the agent again, in the store, where it has
    /// moved or is on its way. Returns whether a zone took them.
    pub(crate) async fn insist(&self, zones: &Zones, agent: &Agent) -> bool {
        let Some(orders) = &agent.orders else {
            return false;
        };
        if !agent.online && !orders.active {
            // No zone has it, and none will.
            return false;
        }
        let mut region = agent.region.unwrap_or_default();
        for step in 0..ZONE_TRIES {
            if step > 0 {
                sleep(ZONE_PAUSE).await;
                let now = self.get(&agent.agent_id).await.ok();
                region = now.and_then(|now| now.region).unwrap_or(region);
            }
            if self.tell(zones, orders, region).await {
                return true;
            }
        }
        tracing::debug!("no zone has heard of new orders; they come from the store");
        false
    }

    /// Passes an owner's line to the agent; `None`: no zone has the agent.
    pub(crate) async fn say(
        &self,
        zones: &Zones,
        agent: &Agent,
        line: SayRequest,
    ) -> Option<SayReply> {
        self.found(zones, agent, |mut zone, to_run_id| {
            let ask = SayRequest {
                to_run_id,
                ..line.clone()
            };
            async move {
                let reply = zone.say(ask).await?.into_inner();
                Ok(reply.here.then_some(reply))
            }
        })
        .await
    }

    /// Reads an agent's surroundings and actions; `None`: no zone has it.
    pub(crate) async fn look(&self, zones: &Zones, agent: &Agent) -> Option<LookReply> {
        self.found(zones, agent, |mut zone, to_run_id| {
            let ask = LookRequest {
                to_run_id,
                character_id: agent.character_id.clone(),
            };
            async move {
                let reply = zone.look(ask).await?.into_inner();
                Ok(reply.here.then_some(reply))
            }
        })
        .await
    }

    /// Calls the zone that has the agent. Looks for the agent again where it has moved.
    async fn found<T, F>(
        &self,
        zones: &Zones,
        agent: &Agent,
        call: impl Fn(ZoneAgentsClient<Channel>, u64) -> F,
    ) -> Option<T>
    where
        F: Future<Output = Result<Option<T>, Status>>,
    {
        let (mut region, mut online) = (agent.region.unwrap_or_default(), agent.online);
        for step in 0..ZONE_TRIES {
            if step > 0 {
                sleep(ZONE_PAUSE).await;
                let now = self.get(&agent.agent_id).await.ok()?;
                (region, online) = (now.region.unwrap_or_default(), now.online);
            }
            if !online {
                return None;
            }
            let view = zones.directory();
            if let Some(Some(reply)) = self.at_owner(&view, region, &call).await {
                return Some(reply);
            }
        }
        None
    }

    /// Calls the zone that plays a region; `None`: no zone answers.
    async fn at_owner<T, F>(
        &self,
        view: &DirectoryView,
        at: common::Region,
        call: impl Fn(ZoneAgentsClient<Channel>, u64) -> F,
    ) -> Option<T>
    where
        F: Future<Output = Result<T, Status>>,
    {
        let owner = view.owner_of(Region { x: at.x, z: at.z })?;
        let zone = self.zone(view, owner.run_id)?;
        match timeout(ZONE_DEADLINE, call(zone, owner.run_id)).await {
            Ok(Ok(reply)) => Some(reply),
            Ok(Err(status)) => {
                tracing::debug!(run = owner.run_id, %status, "a zone does not answer for an agent");
                None
            }
            Err(_) => None,
        }
    }

    fn zone(&self, view: &DirectoryView, run_id: u64) -> Option<ZoneAgentsClient<Channel>> {
        let channel = self.zones.to(&view.run(run_id)?.address)?;
        Some(ZoneAgentsClient::new(channel))
    }

    /// Counts a line of an account to its agents.
    ///
    /// # Errors
    /// There were too many lines; the error is the time until the next one may come.
    pub(crate) fn line(&self, account_id: &str, now: Instant) -> Result<(), Duration> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= SPEAKERS_MAX {
            lines.retain(|_, window| !window.idle(now));
        }
        let window = lines
            .entry(account_id.to_owned())
            .or_insert_with(|| Window::new(LINES_MAX, LINES_TIME));
        window.pass(now)
    }
}
