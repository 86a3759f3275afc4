//! Agents as the pretending store keeps them, and as the pretending zone hears of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use proto::rpc::{
    agents::v1::{agents_server::Agents, order_request::Order, zone_agents_server::ZoneAgents, *},
    common::v1 as common,
};
use tonic::{Request, Response, Status};

use crate::zone::RUN;

/// All that gateways said about agents.
#[derive(Default)]
pub(crate) struct State {
    agents: BTreeMap<String, Agent>,
    credentials: Vec<Credential>,
    version: u64,
    /// Orders that the zone got, in order.
    pub(crate) told: Vec<Orders>,
    /// Messages of owners.
    pub(crate) said: Vec<String>,
    /// The zone answers nobody.
    pub(crate) silent: bool,
    /// Somebody plays all agents.
    pub(crate) played: bool,
}

/// Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Minds(Arc<Mutex<State>>);

impl Minds {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn own(state: &State, account: &str, id: &str) -> Result<Agent, Status> {
    let found = state.agents.get(id).filter(|a| a.account_id == account);
    found
        .cloned()
        .ok_or_else(|| Status::not_found("no such agent"))
}

#[tonic::async_trait]
impl Agents for Minds {
    async fn register(&self, ask: Request<RegisterRequest>) -> Result<Response<Agent>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        let id = match ask.agent_id.as_str() {
            "" => format!("agent-{}", ask.character_id),
            id => id.to_owned(),
        };
        let taken = state.agents.get(&id);
        if taken.is_some_and(|agent| agent.account_id != ask.account_id) {
            return Err(Status::already_exists("the agent's id is taken"));
        }
        state.version += 1;
        let agent = Agent {
            agent_id: id.clone(),
            account_id: ask.account_id,
            character_id: ask.character_id.clone(),
            agent_name: ask.agent_name,
            character_name: "Ann".to_owned(),
            created_at_ms: 1_700_000_000_000,
            updated_at_ms: 1_700_000_000_000,
            orders: Some(Orders {
                character_id: ask.character_id,
                version: state.version,
                agent: true,
                active: true,
                ..Orders::default()
            }),
            online: true,
            region: Some(common::Region { x: 0, z: 0 }),
            ..Agent::default()
        };
        state.agents.insert(id, agent.clone());
        Ok(Response::new(agent))
    }

    async fn get(&self, ask: Request<GetRequest>) -> Result<Response<Agent>, Status> {
        let id = ask.into_inner().agent_id;
        let found = self.state().agents.get(&id).cloned();
        found
            .map(Response::new)
            .ok_or_else(|| Status::not_found("no such agent"))
    }

    async fn list(&self, ask: Request<ListRequest>) -> Result<Response<ListReply>, Status> {
        let account = ask.into_inner().account_id;
        let state = self.state();
        let agents = state.agents.values().filter(|a| a.account_id == account);
        let agents = agents.cloned().collect();
        Ok(Response::new(ListReply { agents }))
    }

    async fn remove(&self, ask: Request<RemoveRequest>) -> Result<Response<RemoveReply>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        let agent = own(&state, &ask.account_id, &ask.agent_id)?;
        state.agents.remove(&ask.agent_id);
        state.version += 1;
        Ok(Response::new(RemoveReply {
            orders: Some(Orders {
                character_id: agent.character_id,
                version: state.version,
                ..Orders::default()
            }),
            region: agent.region,
            ended: Vec::new(),
        }))
    }

    async fn order(&self, ask: Request<OrderRequest>) -> Result<Response<Agent>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        let mut agent = own(&state, &ask.account_id, &ask.agent_id)?;
        state.version += 1;
        let version = state.version;
        let orders = agent.orders.as_mut().unwrap();
        orders.version = version;
        match ask.order.unwrap() {
            Order::SetGoal(goal) => (orders.paused, orders.goal_id) = (false, goal),
            Order::Stop(_) => (orders.paused, orders.goal_id) = (true, String::new()),
            Order::Resume(_) => orders.paused = false,
            Order::Active(active) => orders.active = active,
            Order::Spoken(_) => {}
        }
        state.agents.insert(ask.agent_id, agent.clone());
        Ok(Response::new(agent))
    }

    async fn add_credential(
        &self,
        ask: Request<AddCredentialRequest>,
    ) -> Result<Response<Credential>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        let agent = own(&state, &ask.account_id, &ask.agent_id)?;
        let credential = Credential {
            token_id: ask.token_id,
            agent_id: ask.agent_id,
            account_id: ask.account_id,
            character_id: agent.character_id,
            created_at_ms: 1,
            expires_at_ms: ask.expires_at_ms,
            revoked: false,
        };
        state.credentials.push(credential.clone());
        Ok(Response::new(credential))
    }

    async fn list_credentials(
        &self,
        ask: Request<ListCredentialsRequest>,
    ) -> Result<Response<ListCredentialsReply>, Status> {
        let account = ask.into_inner().account_id;
        let state = self.state();
        let credentials = state.credentials.iter().filter(|c| c.account_id == account);
        let credentials = credentials.cloned().collect();
        Ok(Response::new(ListCredentialsReply { credentials }))
    }

    async fn revoke_credential(
        &self,
        ask: Request<RevokeCredentialRequest>,
    ) -> Result<Response<RevokeCredentialReply>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        let known = state
            .credentials
            .iter()
            .position(|one| one.token_id == ask.token_id && one.account_id == ask.account_id);
        let known = known.ok_or_else(|| Status::not_found("no such credential"))?;
        state.credentials.remove(known);
        Ok(Response::new(RevokeCredentialReply::default()))
    }

    async fn of_run(&self, _: Request<OfRunRequest>) -> Result<Response<OfRunReply>, Status> {
        Err(Status::unimplemented("only zones ask that"))
    }
}

#[tonic::async_trait]
impl ZoneAgents for Minds {
    async fn tell(&self, ask: Request<TellRequest>) -> Result<Response<TellReply>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        let here = ask.to_run_id == RUN && !state.silent;
        if here {
            state.told.extend(ask.orders);
        }
        Ok(Response::new(TellReply { here }))
    }

    async fn say(&self, ask: Request<SayRequest>) -> Result<Response<SayReply>, Status> {
        let ask = ask.into_inner();
        let mut state = self.state();
        if state.silent {
            return Ok(Response::new(SayReply::default()));
        }
        state.said.push(ask.text.clone());
        Ok(Response::new(SayReply {
            here: true,
            heard: state.played,
            understood: if ask.text == "stop" {
                "Stand still".to_owned()
            } else {
                String::new()
            },
            refused: String::new(),
            known: if ask.text == "stop" {
                Vec::new()
            } else {
                vec!["stop".to_owned(), "go to <place>".to_owned()]
            },
        }))
    }

    async fn look(&self, ask: Request<LookRequest>) -> Result<Response<LookReply>, Status> {
        let state = self.state();
        if state.silent || ask.into_inner().to_run_id != RUN {
            return Ok(Response::new(LookReply::default()));
        }
        Ok(Response::new(LookReply {
            here: true,
            tick: 9,
            position: Some(common::Tile { x: 3, z: -4 }),
            y: 1.0,
            played: state.played,
            version: state.version,
            goal: Some(Goal {
                id: "explore".to_owned(),
                sort: "exploration".to_owned(),
                progress: 2,
                target: 5,
                since_ms: 1_700_000_000_000,
                automatic: true,
                ..Goal::default()
            }),
            available: vec![AvailableGoal {
                id: "rest".to_owned(),
                sort: "idle".to_owned(),
                description: "Rest".to_owned(),
                priority: 10,
                reason: "Nothing has to be done".to_owned(),
                location: None,
            }],
            nearby: vec![Place {
                id: "sta:bank".to_owned(),
                name: "Bank".to_owned(),
                sort: "bank".to_owned(),
                tile: None,
                distance: 7,
            }],
            inventory: vec![Carried {
                slot: 2,
                item_id: "logs".to_owned(),
                name: "Logs".to_owned(),
                quantity: 4,
                ..Carried::default()
            }],
            recent_actions: vec![AgentAction {
                sort: "pickup".to_owned(),
                description: "Took 4 × Logs".to_owned(),
                at_ms: 1_700_000_000_000,
            }],
            tally: Some(Tally {
                gold: 12,
                xp_tenths: 105,
                ..Tally::default()
            }),
            takeable: 1,
        }))
    }
}
