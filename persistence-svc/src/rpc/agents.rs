//! `Agents`: characters that act of their own accord.

use std::sync::Arc;

use proto::rpc::agents::v1 as wire;
use proto::rpc::agents::v1::agents_server::Agents;
use proto::rpc::agents::v1::order_request::Order as Asked;
use tonic::{Request, Response, Status, async_trait};

use super::model::{Checked, count, number, small, text, wire_region};
use super::{Desk, malformed};
use crate::store::agents::{self, Credential, Order, Orders, Registration, Report};
use crate::store::unsigned;

/// The longest id and name of an agent, in bytes.
const NAME_MAX: usize = 64;
/// Reports that a run may send at once.
const REPORTS_MAX: usize = 10_000;
/// Words that stand in a path in the place of an agent's id.
const RESERVED: [&str; 3] = ["mapping", "mappings", "credentials"];

/// The service.
pub(crate) struct AgentsService(pub(crate) Arc<Desk>);

impl AgentsService {
    /// Brings an agent into the world at once. If this fails, a round of the waker does it.
    async fn wake(&self, agent: &agents::Agent) {
        if !agent.orders.active || agent.online {
            return;
        }
        let character = agent.orders.character_id.as_str();
        if let Err(error) = self.0.store.wake_agents(Some(character), 1).await {
            tracing::debug!(%error, "an agent is woken later");
        }
    }
}

#[async_trait]
impl Agents for AgentsService {
    async fn register(
        &self,
        request: Request<wire::RegisterRequest>,
    ) -> Result<Response<wire::Agent>, Status> {
        let ask = request.into_inner();
        let work = async {
            let ask = Registration {
                agent_id: agent_id(ask.agent_id)?,
                account_id: text("account_id", ask.account_id)?,
                character_id: text("character_id", ask.character_id)?,
                name: agent_name(&ask.agent_name)?,
            };
            let account = ask.account_id.clone();
            let mut made = self.0.store.register_agent(ask, self.0.agents).await?;
            if made.resting {
                // A second registration counts as a need for the agent.
                let (store, bounds) = (&self.0.store, self.0.agents);
                made = store
                    .order_agent(&account, &made.id, Order::Heed, bounds)
                    .await?;
            }
            self.wake(&made).await;
            agent(made)
        };
        self.0.answer("RegisterAgent", work).await
    }

    async fn get(
        &self,
        request: Request<wire::GetRequest>,
    ) -> Result<Response<wire::Agent>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("agent_id", ask.agent_id)?;
            agent(self.0.store.agent(&id).await?)
        };
        self.0.answer("GetAgent", work).await
    }

    async fn list(
        &self,
        request: Request<wire::ListRequest>,
    ) -> Result<Response<wire::ListReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("account_id", ask.account_id)?;
            let found = self.0.store.agents_of(&id).await?.into_iter();
            let agents = found.map(agent).collect::<Checked<_>>()?;
            Ok(wire::ListReply { agents })
        };
        self.0.answer("ListAgents", work).await
    }

    async fn remove(
        &self,
        request: Request<wire::RemoveRequest>,
    ) -> Result<Response<wire::RemoveReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let id = text("agent_id", ask.agent_id)?;
            let removed = self.0.store.remove_agent(&account, &id).await?;
            let ended = removed.ended.into_iter().map(credential);
            Ok(wire::RemoveReply {
                orders: Some(orders(removed.orders)?),
                region: Some(wire_region(removed.region)),
                ended: ended.collect::<Checked<_>>()?,
            })
        };
        self.0.answer("RemoveAgent", work).await
    }

    async fn order(
        &self,
        request: Request<wire::OrderRequest>,
    ) -> Result<Response<wire::Agent>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let id = text("agent_id", ask.agent_id)?;
            let order = match ask.order {
                Some(Asked::SetGoal(goal)) => Order::Goal(text("set_goal", goal)?),
                Some(Asked::Stop(true)) => Order::Stop,
                Some(Asked::Resume(true)) => Order::Resume,
                Some(Asked::Active(active)) => Order::Active(active),
                Some(Asked::Spoken(true)) => Order::Heed,
                Some(Asked::Stop(false) | Asked::Resume(false) | Asked::Spoken(false)) | None => {
                    return Err(malformed("order is missing"));
                }
            };
            let store = &self.0.store;
            let ordered = store
                .order_agent(&account, &id, order, self.0.agents)
                .await?;
            self.wake(&ordered).await;
            agent(ordered)
        };
        self.0.answer("OrderAgent", work).await
    }

    async fn add_credential(
        &self,
        request: Request<wire::AddCredentialRequest>,
    ) -> Result<Response<wire::Credential>, Status> {
        let ask = request.into_inner();
        let work = async {
            let ask = Credential {
                token_id: text("token_id", ask.token_id)?,
                agent_id: text("agent_id", ask.agent_id)?,
                account_id: text("account_id", ask.account_id)?,
                character_id: String::new(),
                created_ms: 0,
                expires_ms: number("expires_at_ms", ask.expires_at_ms)?,
                revoked: false,
            };
            credential(self.0.store.add_credential(ask).await?)
        };
        self.0.answer("AddCredential", work).await
    }

    async fn list_credentials(
        &self,
        request: Request<wire::ListCredentialsRequest>,
    ) -> Result<Response<wire::ListCredentialsReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let agent = Some(ask.agent_id.as_str()).filter(|id| !id.is_empty());
            let found = self.0.store.credentials(&account, agent).await?.into_iter();
            let credentials = found.map(credential).collect::<Checked<_>>()?;
            Ok(wire::ListCredentialsReply { credentials })
        };
        self.0.answer("ListCredentials", work).await
    }

    async fn revoke_credential(
        &self,
        request: Request<wire::RevokeCredentialRequest>,
    ) -> Result<Response<wire::RevokeCredentialReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let token = text("token_id", ask.token_id)?;
            let ended = self.0.store.revoke_credential(&account, &token).await?;
            let credential = Some(credential(ended)?);
            Ok(wire::RevokeCredentialReply { credential })
        };
        self.0.answer("RevokeCredential", work).await
    }

    async fn of_run(
        &self,
        request: Request<wire::OfRunRequest>,
    ) -> Result<Response<wire::OfRunReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let run = number("run_id", ask.run_id)?;
            if ask.reports.len() > REPORTS_MAX {
                return Err(malformed("too many reports"));
            }
            let reports = ask.reports.into_iter().map(report);
            let reports = reports.collect::<Checked<Vec<_>>>()?;
            let (found, last) = self.0.store.agents_of_run(run, reports).await?;
            let found = found.into_iter().map(orders).collect::<Checked<_>>()?;
            Ok(wire::OfRunReply {
                orders: found,
                version: unsigned(last)?,
            })
        };
        self.0.answer("AgentsOfRun", work).await
    }
}

/// Checks that an id may stand in a path. An empty id asks for a new one.
fn agent_id(id: String) -> Checked<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if id.len() > NAME_MAX || !id.chars().all(plain) || RESERVED.contains(&id.as_str()) {
        return Err(malformed(format!(
            "agent_id must have up to {NAME_MAX} letters, digits, - and _"
        )));
    }
    Ok(id)
}

fn agent_name(name: &str) -> Checked<String> {
    let name = name.trim();
    if name.is_empty() || name.len() > NAME_MAX || name.chars().any(char::is_control) {
        return Err(malformed(format!(
            "agent_name must have 1 to {NAME_MAX} bytes"
        )));
    }
    Ok(name.to_owned())
}

fn report(report: wire::Report) -> Checked<Report> {
    Ok(Report {
        character_id: text("character_id", report.character_id)?,
        version: number("version", report.version)?,
        progress: small("progress", report.progress)?,
        over: report.over,
    })
}

fn orders(orders: Orders) -> Checked<wire::Orders> {
    Ok(wire::Orders {
        character_id: orders.character_id,
        version: unsigned(orders.version)?,
        agent: orders.agent,
        active: orders.active,
        paused: orders.paused,
        goal_id: orders.goal.unwrap_or_default(),
        progress: count(orders.progress)?,
    })
}

fn agent(agent: agents::Agent) -> Checked<wire::Agent> {
    Ok(wire::Agent {
        agent_id: agent.id,
        account_id: agent.account_id,
        character_id: agent.orders.character_id.clone(),
        agent_name: agent.name,
        character_name: agent.character_name,
        created_at_ms: unsigned(agent.created_ms)?,
        updated_at_ms: unsigned(agent.updated_ms)?,
        orders: Some(orders(agent.orders)?),
        goal_since_ms: unsigned(agent.goal_since_ms)?,
        online: agent.online,
        region: Some(wire_region(agent.region)),
        resting: agent.resting,
    })
}

fn credential(credential: Credential) -> Checked<wire::Credential> {
    Ok(wire::Credential {
        token_id: credential.token_id,
        agent_id: credential.agent_id,
        account_id: credential.account_id,
        character_id: credential.character_id,
        created_at_ms: unsigned(credential.created_ms)?,
        expires_at_ms: unsigned(credential.expires_ms)?,
        revoked: credential.revoked,
    })
}
