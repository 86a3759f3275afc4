//! The requests of operators and tests: the state that the run published at a tick, a record of the
//! next ticks, and a profile of the processor.

use std::time::Duration;

use proto::rpc::zone::v1::{
    DumpReply, DumpRequest, ProfilePart, ProfileRequest, RecordPart, RecordRequest,
    inspect_server::Inspect,
};
use service_runtime::{
    profile,
    rpc::{Parts, in_parts},
};
use tokio::{sync::oneshot, time::timeout};
use tonic::{Request, Response, Status};
use world::TICK_MS;

use super::{Current, meant};
use crate::{
    mailbox::Message,
    replay::order::{Made, Order, TICKS_MAX},
};

/// Ticks that a record may take beyond its own: to begin, and for those that come late.
const SPARE_TICKS: u64 = 10;

/// Answers operators and tests.
#[derive(Debug)]
pub(crate) struct InspectService(pub(crate) Current);

#[tonic::async_trait]
impl Inspect for InspectService {
    type RecordStream = Parts<RecordPart>;

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

    async fn record(
        &self,
        request: Request<RecordRequest>,
    ) -> Result<Response<Self::RecordStream>, Status> {
        let (living, ask) = (self.0.get()?, request.into_inner());
        meant(ask.run_id, living.run_id)?;
        let ticks = u64::from(ask.ticks);
        if !(1..=TICKS_MAX).contains(&ticks) {
            let why = format!("ticks must be 1 to {TICKS_MAX}");
            return Err(Status::invalid_argument(why));
        }
        let (reply, made) = oneshot::channel();
        let order = Order { ticks, reply };
        living.mailbox.say(Message::Record(order)).await?;
        let deadline = Duration::from_millis((ticks + SPARE_TICKS) * TICK_MS);
        let made = timeout(deadline, made)
            .await
            .map_err(|_| Status::deadline_exceeded("the ticks were not played in time"))?;
        let made = made.map_err(|_| Status::unavailable("the run has ended"))?;
        if let Made::Busy = made {
            let why = "another record is being made";
            return Err(Status::resource_exhausted(why));
        }
        let bytes = made.into_bytes();
        let bytes = bytes.ok_or_else(|| Status::internal("the record cannot be written"))?;
        Ok(in_parts(&bytes, |data| RecordPart { data }))
    }

    type ProfileStream = Parts<ProfilePart>;

    async fn profile(
        &self,
        request: Request<ProfileRequest>,
    ) -> Result<Response<Self::ProfileStream>, Status> {
        let (living, ask) = (self.0.get()?, request.into_inner());
        meant(ask.run_id, living.run_id)?;
        profile::answer(ask.seconds, |data| ProfilePart { data }).await
    }
}
