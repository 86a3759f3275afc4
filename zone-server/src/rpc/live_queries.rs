//! The live queries of gateways: the place of a character, and the crowds of regions.

use proto::rpc::queries::v1::{
    CrowdReply, CrowdRequest, WhereaboutsReply, WhereaboutsRequest,
    live_queries_server::LiveQueries,
};
use tonic::{Request, Response, Status};

use super::{Current, meant};
use crate::mailbox::Message;

/// Answers gateways.
#[derive(Debug)]
pub(crate) struct LiveQueriesService(pub(crate) Current);

#[tonic::async_trait]
impl LiveQueries for LiveQueriesService {
    async fn whereabouts(
        &self,
        request: Request<WhereaboutsRequest>,
    ) -> Result<Response<WhereaboutsReply>, Status> {
        let (living, ask) = (self.0.get()?, request.into_inner());
        meant(ask.run_id, living.run_id)?;
        let asked = |reply| Message::Whereabouts(ask.character_id, reply);
        let found = living.mailbox.ask(asked).await?;
        let found = found.ok_or_else(|| Status::not_found("the character is not played here"))?;
        Ok(Response::new(found))
    }

    async fn crowd(&self, request: Request<CrowdRequest>) -> Result<Response<CrowdReply>, Status> {
        let living = self.0.get()?;
        meant(request.into_inner().run_id, living.run_id)?;
        Ok(Response::new(living.mailbox.ask(Message::Crowd).await?))
    }
}
