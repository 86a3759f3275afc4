//! The requests of peers: to take over a player or a region, to find a thing, and to learn whether
//! the run lives.

use futures::StreamExt;
use proto::rpc::zone::v1::{
    CompleteRegionReply, CompleteRegionRequest, CompleteReply, CompleteRequest, ForwardReply,
    ForwardRequest, LocateReply, LocateRequest, PrepareRegionReply, PrepareRegionRequest,
    PrepareReply, PrepareRequest, PresenceBeat, PresenceRequest, handover_server::Handover,
};
use tonic::{Request, Response, Status};

use super::Current;
use crate::mailbox::{HandoverMessage, PeerMessage};

/// Answers peers.
#[derive(Debug)]
pub(crate) struct HandoverService(pub(crate) Current);

/// A stream that says nothing until the run is over.
type PresenceStream =
    std::pin::Pin<Box<dyn futures::Stream<Item = Result<PresenceBeat, Status>> + Send>>;

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
        let asked = |reply| HandoverMessage::Prepare(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn complete(
        &self,
        request: Request<CompleteRequest>,
    ) -> Result<Response<CompleteReply>, Status> {
        let living = self.0.get()?;
        let request = Box::new(request.into_inner());
        let asked = |reply| HandoverMessage::Complete(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn forward(
        &self,
        request: Request<ForwardRequest>,
    ) -> Result<Response<ForwardReply>, Status> {
        let living = self.0.get()?;
        let request = request.into_inner();
        let asked = |reply| HandoverMessage::Forward(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn locate(
        &self,
        request: Request<LocateRequest>,
    ) -> Result<Response<LocateReply>, Status> {
        let living = self.0.get()?;
        let request = request.into_inner();
        if request.to_run_id != living.run_id {
            return Ok(Response::new(LocateReply::default()));
        }
        let asked = |reply| PeerMessage::Locate(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn prepare_region(
        &self,
        request: Request<PrepareRegionRequest>,
    ) -> Result<Response<PrepareRegionReply>, Status> {
        let living = self.0.get()?;
        let request = request.into_inner();
        if request.to_run_id != living.run_id {
            return Ok(Response::new(PrepareRegionReply {
                accepted: false,
                code: "stale".to_owned(),
            }));
        }
        let asked = |reply| PeerMessage::PrepareRegion(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    async fn complete_region(
        &self,
        request: Request<CompleteRegionRequest>,
    ) -> Result<Response<CompleteRegionReply>, Status> {
        let living = self.0.get()?;
        let request = Box::new(request.into_inner());
        let asked = |reply| PeerMessage::CompleteRegion(request, reply);
        Ok(Response::new(living.mailbox.ask(asked).await?))
    }

    type PresenceStream = PresenceStream;

    async fn presence(
        &self,
        request: Request<PresenceRequest>,
    ) -> Result<Response<Self::PresenceStream>, Status> {
        let living = self.0.get()?;
        if request.into_inner().to_run_id != living.run_id {
            return Err(Status::failed_precondition("another run lives here"));
        }
        // The stream ends in order, with the run.
        let over = living.over.clone().cancelled_owned();
        let beats = tokio_stream::pending().take_until(over);
        Ok(Response::new(Box::pin(beats)))
    }
}
