//! The requests of operators and tests for the state that the run published at a tick.

use proto::rpc::zone::v1::{DumpReply, DumpRequest, inspect_server::Inspect};
use tonic::{Request, Response, Status};

use super::Current;
use crate::mailbox::Message;

/// Answers operators and tests.
#[derive(Debug)]
pub(crate) struct InspectService(pub(crate) Current);

#[tonic::async_trait]
impl Inspect for InspectService {
    async fn dump(&self, request: Request<DumpRequest>) -> Result<Response<DumpReply>, Status> {
        let living = self.0.get()?;
        let request = request.into_inner();
        let tick = request.tick;
        let asked = |reply| Message::Dump(request, reply);
        let dump = living.mailbox.ask(asked).await?;
        if dump.run_id == 0 {
            return Err(Status::not_found(format!("tick {tick} is not remembered")));
        }
        Ok(Response::new(dump))
    }
}
