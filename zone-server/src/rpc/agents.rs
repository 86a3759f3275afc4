//! The requests of gateways about agents: to bring them orders, to say something to them, and to
//! look through their eyes.

use proto::rpc::agents::v1::{
    LookReply, LookRequest, SayReply, SayRequest, TellReply, TellRequest,
    zone_agents_server::ZoneAgents,
};
use tonic::{Request, Response, Status};

use super::Current;
use crate::mailbox::Message;

/// Answers gateways about agents.
#[derive(Debug)]
pub(crate) struct AgentsService(pub(crate) Current);

#[tonic::async_trait]
impl ZoneAgents for AgentsService {
    async fn tell(&self, request: Request<TellRequest>) -> Result<Response<TellReply>, Status> {
        let living = self.0.get()?;
        let request = Box::new(request.into_inner());
        if request.to_run_id != living.run_id {
            return Ok(Response::new(TellReply::default()));
        }
        let asked = |reply| Message::TellAgent(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn say(&self, request: Request<SayRequest>) -> Result<Response<SayReply>, Status> {
        let living = self.0.get()?;
        let request = Box::new(request.into_inner());
        if request.to_run_id != living.run_id {
            return Ok(Response::new(SayReply::default()));
        }
        let asked = |reply| Message::SayToAgent(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn look(&self, request: Request<LookRequest>) -> Result<Response<LookReply>, Status> {
        let living = self.0.get()?;
        let request = request.into_inner();
        if request.to_run_id != living.run_id {
            return Ok(Response::new(LookReply::default()));
        }
        let asked = |reply| Message::LookAtAgent(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }
}
