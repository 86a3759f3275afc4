//! The agents of the pretending store.

use proto::rpc::agents::v1::{agents_server::Agents, *};
use tonic::{Request, Response, Status};

use super::store::{Store, key};

/// Orders of the first version.
pub fn orders(who: &str) -> Orders {
    Orders {
        character_id: who.to_owned(),
        version: 1,
        agent: true,
        active: true,
        ..Orders::default()
    }
}

fn not_played<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("the stage has no such call"))
}

#[tonic::async_trait]
impl Agents for Store {
    async fn of_run(&self, request: Request<OfRunRequest>) -> Result<Response<OfRunReply>, Status> {
        let request = request.into_inner();
        let mut state = self.state.lock().unwrap();
        state.reports.extend(request.reports);
        let here = |who: &str| {
            let character = state.characters.get(who).filter(|c| c.online);
            let region = character.map(|c| key(c.record.region));
            let owner = region.and_then(|region| state.owners.get(&region));
            owner.is_some_and(|(run, _)| *run == request.run_id)
        };
        let orders = state.agents.values().filter(|o| here(&o.character_id));
        let reply = OfRunReply {
            orders: orders.cloned().collect(),
            version: state.agents_version,
        };
        Ok(Response::new(reply))
    }

    async fn register(&self, _: Request<RegisterRequest>) -> Result<Response<Agent>, Status> {
        not_played()
    }

    async fn get(&self, _: Request<GetRequest>) -> Result<Response<Agent>, Status> {
        not_played()
    }

    async fn list(&self, _: Request<ListRequest>) -> Result<Response<ListReply>, Status> {
        not_played()
    }

    async fn remove(&self, _: Request<RemoveRequest>) -> Result<Response<RemoveReply>, Status> {
        not_played()
    }

    async fn order(&self, _: Request<OrderRequest>) -> Result<Response<Agent>, Status> {
        not_played()
    }

    async fn add_credential(
        &self,
        _: Request<AddCredentialRequest>,
    ) -> Result<Response<Credential>, Status> {
        not_played()
    }

    async fn list_credentials(
        &self,
        _: Request<ListCredentialsRequest>,
    ) -> Result<Response<ListCredentialsReply>, Status> {
        not_played()
    }

    async fn revoke_credential(
        &self,
        _: Request<RevokeCredentialRequest>,
    ) -> Result<Response<RevokeCredentialReply>, Status> {
        not_played()
    }
}
