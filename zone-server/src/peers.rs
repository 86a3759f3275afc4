//! Talks to peers and to the store about players and regions between two owners. Every call has a
//! deadline, and the run always hears how it ended. A call belongs to the span that is active when
//! the run asks for it.

use std::time::Duration;

use opentelemetry::trace::FutureExt;
use proto::rpc::{
    persistence::v1::CharacterOwnerRequest,
    zone::v1::{
        CompleteRegionRequest, CompleteRequest, ForwardRequest, LocateRequest,
        PrepareRegionRequest, PrepareRequest, handover_client::HandoverClient,
    },
};
use service_runtime::{
    rpc::{Channels, Role, traced},
    tasks::TaskGroup,
};
use tonic::{Response, Status, transport::Channel};
use world::{CharacterId, Region};

use crate::{
    mailbox::{HandoverMessage, Mailbox, PeerMessage},
    store::Store,
};

/// Time for which a peer may think about a player; the zone holds the player meanwhile.
const PREPARE_DEADLINE: Duration = Duration::from_millis(500);
const COMPLETE_DEADLINE: Duration = Duration::from_millis(1000);
/// Deadline for a region, which may be megabytes of players.
const REGION_DEADLINE: Duration = Duration::from_millis(2000);
const LOCATE_DEADLINE: Duration = Duration::from_millis(300);
/// Largest message of a peer; answers of peers are small.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// The calls of one run to its peers.
#[derive(Debug, Clone)]
pub(crate) struct Peers {
    pub(crate) mailbox: Mailbox,
    pub(crate) store: Store,
    channels: Channels,
    tasks: TaskGroup,
}

impl Peers {
    pub(crate) fn new(mailbox: Mailbox, store: Store, tasks: TaskGroup) -> Self {
        Self {
            mailbox,
            channels: Channels::new(store.trust(), Role::Zone),
            store,
            tasks,
        }
    }

    /// Announces a player to the peer at `address`; answered as `Prepared`.
    pub(crate) fn prepare(
        &self,
        address: String,
        who: CharacterId,
        attempt: u32,
        request: PrepareRequest,
    ) {
        let peers = self.clone();
        let asking = async move {
            let reply = match peers.peer(&address) {
                Some(mut peer) => within(PREPARE_DEADLINE, peer.prepare(traced(request)))
                    .await
                    .ok(),
                None => None,
            };
            let message = || HandoverMessage::Prepared {
                who: who.clone(),
                attempt,
                reply: reply.clone(),
            };
            peers.mailbox.insist(message).await;
        };
        self.tasks
            .spawn("prepare a player", asking.with_current_context());
    }

    /// Tells the peer at `address` that the handover is done; answered as `Completed`.
    pub(crate) fn complete(
        &self,
        address: String,
        who: CharacterId,
        h: u64,
        request: CompleteRequest,
    ) {
        let peers = self.clone();
        let asking = async move {
            let reply = match peers.peer(&address) {
                Some(mut peer) => within(COMPLETE_DEADLINE, peer.complete(traced(request)))
                    .await
                    .ok(),
                None => None,
            };
            let known = reply.map(|reply| reply.known);
            let message = || HandoverMessage::Completed {
                who: who.clone(),
                h,
                known,
            };
            peers.mailbox.insist(message).await;
        };
        self.tasks
            .spawn("complete a player", asking.with_current_context());
    }

    /// Sends late inputs after their player; answered as `Forwarded`. A repetition is harmless,
    /// because inputs are numbered.
    pub(crate) fn forward(&self, address: String, who: CharacterId, request: ForwardRequest) {
        let peers = self.clone();
        self.tasks.spawn("forward inputs", async move {
            let mut taken = None;
            for _ in 0..2 {
                let Some(mut peer) = peers.peer(&address) else {
                    break;
                };
                let call = within(COMPLETE_DEADLINE, peer.forward(request.clone())).await;
                taken = call.ok().map(|reply| reply.taken);
                if taken.is_some() {
                    break;
                }
            }
            let message = || HandoverMessage::Forwarded {
                who: who.clone(),
                taken: taken.unwrap_or(false),
            };
            peers.mailbox.insist(message).await;
        });
    }

    /// Offers a region to the peer at `address`; answered as `RegionPrepared`.
    pub(crate) fn prepare_region(
        &self,
        address: String,
        attempt: u64,
        request: PrepareRegionRequest,
    ) {
        let peers = self.clone();
        let asking = async move {
            let region = place(request.region);
            let reply = match peers.peer(&address) {
                Some(mut peer) => within(PREPARE_DEADLINE, peer.prepare_region(traced(request)))
                    .await
                    .ok(),
                None => None,
            };
            let message = || PeerMessage::RegionPrepared {
                region,
                attempt,
                reply: reply.clone(),
            };
            peers.mailbox.insist(message).await;
        };
        self.tasks
            .spawn("prepare a region", asking.with_current_context());
    }

    /// Tells the peer at `address` that the store has a region there; answered as
    /// `RegionCompleted`.
    pub(crate) fn complete_region(&self, address: String, request: CompleteRegionRequest) {
        let peers = self.clone();
        let asking = async move {
            let (region, epoch) = (place(request.region), request.epoch);
            let reply = match peers.peer(&address) {
                Some(mut peer) => within(REGION_DEADLINE, peer.complete_region(traced(request)))
                    .await
                    .ok(),
                None => None,
            };
            let known = reply.map(|reply| reply.known);
            let message = || PeerMessage::RegionCompleted {
                region,
                epoch,
                known,
            };
            peers.mailbox.insist(message).await;
        };
        self.tasks
            .spawn("complete a region", asking.with_current_context());
    }

    /// Asks the peer at `address` for the place of something; answered as `Located`.
    pub(crate) fn locate(
        &self,
        address: String,
        who: CharacterId,
        attempt: u32,
        request: LocateRequest,
    ) {
        let peers = self.clone();
        self.tasks.spawn("locate", async move {
            let run_id = request.to_run_id;
            let reply = match peers.peer(&address) {
                Some(mut peer) => within(LOCATE_DEADLINE, peer.locate(request)).await.ok(),
                None => None,
            };
            let message = || PeerMessage::Located {
                who: who.clone(),
                attempt,
                run_id,
                reply,
            };
            peers.mailbox.insist(message).await;
        });
    }

    /// Asks the store for the owner of a player; answered as `Owner`.
    pub(crate) fn owner(&self, who: CharacterId, h: u64, source_dead: bool) {
        let peers = self.clone();
        self.tasks.spawn("owner of a player", async move {
            let request = CharacterOwnerRequest {
                character_id: who.to_string(),
            };
            let mut client = peers.store.runs();
            let answer = service_runtime::rpc::bounded(client.character_owner(request)).await;
            let owned = answer.ok();
            let message = || HandoverMessage::Owner {
                who: who.clone(),
                h,
                owned: owned.clone(),
                source_dead,
            };
            peers.mailbox.insist(message).await;
        });
    }

    fn peer(&self, address: &str) -> Option<HandoverClient<Channel>> {
        let channel = self.channels.to(address)?;
        Some(HandoverClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX))
    }
}

/// Returns the region that a request of this run names.
fn place(region: Option<proto::rpc::common::v1::Region>) -> Region {
    let at = region.unwrap_or_default();
    Region { x: at.x, z: at.z }
}

async fn within<T>(
    deadline: Duration,
    call: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Status> {
    match tokio::time::timeout(deadline, call).await {
        Ok(answer) => answer.map(Response::into_inner),
        Err(_) => Err(Status::deadline_exceeded("no answer in time")),
    }
}
