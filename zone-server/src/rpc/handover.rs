//! What peers ask: to take a player over.

use proto::rpc::zone::v1::{
    CompleteRegionReply, CompleteRegionRequest, CompleteReply, CompleteRequest, ForwardReply,
    ForwardRequest, LocateReply, LocateRequest, PrepareRegionReply, PrepareRegionRequest,
    PrepareReply, PrepareRequest, PresenceBeat, PresenceRequest, handover_server::Handover,
};
use tonic::{Request, Response, Status};

use super::Current;
use crate::mailbox::Message;

/// Answers peers.
#[derive(Debug)]
pub(crate) struct HandoverService(pub(crate) Current);

#[tonic::async_trait]
impl Handover for HandoverService {
    async fn prepare(
        &self,
        request: Request<PrepareRequest>,
    ) -> Result<Response<PrepareReply>, Status> {
        let living = self.0.get()?;
        let request = Box::new(request.into_inner());
        if request.to_run_id != living.run_id {
            return Ok(Response::new(PrepareReply {
                accepted: false,
                code: "not_owner".to_owned(),
            }));
        }
        let asked = |reply| Message::Prepare(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn complete(
        &self,
        request: Request<CompleteRequest>,
    ) -> Result<Response<CompleteReply>, Status> {
        let living = self.0.get()?;
        let request = Box::new(request.into_inner());
        let asked = |reply| Message::Complete(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn forward(
        &self,
        request: Request<ForwardRequest>,
    ) -> Result<Response<ForwardReply>, Status> {
        let living = self.0.get()?;
        let request = request.into_inner();
        let asked = |reply| Message::Forward(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn locate(&self, _: Request<LocateRequest>) -> Result<Response<LocateReply>, Status> {
        Err(Status::unimplemented("not yet"))
    }

    async fn prepare_region(
        &self,
        _: Request<PrepareRegionRequest>,
    ) -> Result<Response<PrepareRegionReply>, Status> {
        Err(Status::unimplemented("not yet"))
    }

    async fn complete_region(
        &self,
        _: Request<CompleteRegionRequest>,
    ) -> Result<Response<CompleteRegionReply>, Status> {
        Err(Status::unimplemented("not yet"))
    }

    type PresenceStream = tokio_stream::Empty<Result<PresenceBeat, Status>>;

    async fn presence(
        &self,
        _: Request<PresenceRequest>,
    ) -> Result<Response<Self::PresenceStream>, Status> {
        Err(Status::unimplemented("not yet"))
    }
}
