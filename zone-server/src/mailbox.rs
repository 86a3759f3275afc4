//! The messages of tasks to the clock's thread. The mailbox is bounded; a task that finds it full
//! waits a moment, then reports that.

use std::{
    sync::mpsc::{SyncSender, TrySendError},
    time::Duration,
};

use proto::rpc::{
    agents::v1::{
        LookReply, LookRequest, OfRunReply, SayReply, SayRequest, TellReply, TellRequest,
    },
    persistence::v1::{
        CharacterOwnership, CharacterRecord, CommitReply, DirectoryUpdate, LoadRegionReply,
    },
    queries::v1::{CrowdReply, WhereaboutsReply},
    zone::v1::{
        CompleteRegionReply, CompleteRegionRequest, CompleteReply, CompleteRequest, DumpReply,
        DumpRequest, ForwardReply, ForwardRequest, LocateReply, LocateRequest, PrepareRegionReply,
        PrepareRegionRequest, PrepareReply, PrepareRequest, Subscribe,
        to_zone::Message as ToZoneMessage,
    },
};
use tokio::sync::oneshot;
use tonic::Status;
use world::{CharacterId, Region};

use crate::{
    deliver::links::{ControlSender, FrameSender, LinkHalf},
    ownership::lease::Renewed,
    replay::order::Order,
};

/// Messages that may wait for the thread.
pub(crate) const MESSAGES_MAX: usize = 32_768;
/// Time for which a task waits for room in a full mailbox, or for an answer.
const TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// A message to the thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// A gateway's control stream.
    Control(LinkHalf<ControlSender>),
    /// A gateway's frame stream.
    Frames(LinkHalf<FrameSender>),
    /// One of a link's streams ended.
    LinkEnded { gateway_id: String, link: u64 },
    /// A message on a gateway's control stream.
    Gateway {
        gateway_id: String,
        link: u64,
        message: Box<ToZoneMessage>,
    },
    /// A message on a gateway's frame stream.
    Subscribe {
        gateway_id: String,
        link: u64,
        subscribe: Subscribe,
    },
    /// News of players between two owners.
    Handover(HandoverMessage),
    /// News of regions between two owners, and of things in the regions of others.
    Peer(PeerMessage),
    /// An answer or news of the store.
    Store(StoreMessage),
    /// All agents that the store has in the run's regions.
    AgentsOfRun(OfRunReply),
    /// A gateway brings the orders of an agent.
    TellAgent(Box<TellRequest>, oneshot::Sender<TellReply>),
    /// An agent's owner says something.
    SayToAgent(Box<SayRequest>, oneshot::Sender<SayReply>),
    /// A gateway asks for the view of an agent.
    LookAtAgent(LookRequest, oneshot::Sender<LookReply>),
    /// An operator or a test asks for the published state.
    Dump(DumpRequest, oneshot::Sender<DumpReply>),
    /// A gateway asks for the place of a character.
    Whereabouts(String, oneshot::Sender<Option<WhereaboutsReply>>),
    /// A gateway asks for the number of players and NPCs in each region.
    Crowd(oneshot::Sender<CrowdReply>),
    /// An operator asks for a record of the next ticks.
    Record(Order),
    /// The run is to stop in order.
    Stop,
}

/// Players between two owners.
#[derive(Debug)]
pub(crate) enum HandoverMessage {
    /// A peer announces a player.
    Prepare(Box<PrepareRequest>, oneshot::Sender<PrepareReply>),
    /// A peer says that the handover is done.
    Complete(Box<CompleteRequest>, oneshot::Sender<CompleteReply>),
    /// A peer sends inputs that came late.
    Forward(ForwardRequest, oneshot::Sender<ForwardReply>),
    /// A peer's answer; `None`: there was none.
    Prepared {
        who: CharacterId,
        attempt: u32,
        reply: Option<PrepareReply>,
    },
    /// A peer's answer; `None`: there was none.
    Completed {
        who: CharacterId,
        h: u64,
        known: Option<bool>,
    },
    /// A peer's answer; `taken` false: the inputs are lost.
    Forwarded { who: CharacterId, taken: bool },
    /// The store's word on an announced player.
    Owner {
        who: CharacterId,
        h: u64,
        owned: Option<CharacterOwnership>,
        source_dead: bool,
    },
}

/// Regions between two owners, and things in the regions of others.
#[derive(Debug)]
pub(crate) enum PeerMessage {
    /// A peer wants to give a region.
    PrepareRegion(PrepareRegionRequest, oneshot::Sender<PrepareRegionReply>),
    /// A peer says that the store has the region here.
    CompleteRegion(
        Box<CompleteRegionRequest>,
        oneshot::Sender<CompleteRegionReply>,
    ),
    /// A peer's answer; `None`: there was none.
    RegionPrepared {
        region: Region,
        attempt: u64,
        reply: Option<PrepareRegionReply>,
    },
    /// A peer's answer; `None`: there was none.
    RegionCompleted {
        region: Region,
        epoch: u64,
        known: Option<bool>,
    },
    /// A peer asks for the place of something.
    Locate(LocateRequest, oneshot::Sender<LocateReply>),
    /// A peer's knowledge of something that one of the run's players wants; `None`: no answer.
    Located {
        who: CharacterId,
        attempt: u32,
        run_id: u64,
        reply: Option<LocateReply>,
    },
}

/// Answers and news of the store.
#[derive(Debug)]
pub(crate) enum StoreMessage {
    /// Whether the store knows that the run gives its regions away.
    Drained(bool),
    /// A new version of the directory, or a sign of life.
    Directory(DirectoryUpdate),
    /// A region came from the store, or did not.
    RegionLoaded {
        region: Region,
        epoch: u64,
        loaded: Result<Box<LoadRegionReply>, Status>,
    },
    /// A character came from the store, or did not.
    CharacterLoaded {
        who: CharacterId,
        loaded: Result<Box<CharacterRecord>, Status>,
    },
    /// Characters that are online in the run's regions by the store's word.
    Online(Vec<CharacterOwnership>),
    /// The store's answer to a batch.
    Answered { sequence: u64, reply: CommitReply },
    /// An attempt at a batch failed; the committer sends it again.
    CommitFailed,
    /// The store renewed the lease, or refused.
    Renewed(Renewed),
}

impl From<HandoverMessage> for Message {
    fn from(message: HandoverMessage) -> Self {
        Message::Handover(message)
    }
}

impl From<PeerMessage> for Message {
    fn from(message: PeerMessage) -> Self {
        Message::Peer(message)
    }
}

impl From<StoreMessage> for Message {
    fn from(message: StoreMessage) -> Self {
        Message::Store(message)
    }
}

/// The reason for which a message does not reach the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotHeard {
    #[error("the run is over")]
    Over,
    #[error("the zone is overloaded")]
    Full,
}

impl From<NotHeard> for Status {
    fn from(why: NotHeard) -> Status {
        match why {
            NotHeard::Over => Status::unavailable(why.to_string()),
            NotHeard::Full => Status::resource_exhausted(why.to_string()),
        }
    }
}

/// The way to the thread of one run.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox(SyncSender<Message>);

impl Mailbox {
    pub(crate) fn new(sender: SyncSender<Message>) -> Self {
        Self(sender)
    }

    /// Sends a message; waits a limited time while the mailbox is full.
    ///
    /// # Errors
    /// The run is over, or the mailbox stayed full.
    pub(crate) async fn say(&self, message: impl Into<Message>) -> Result<(), NotHeard> {
        let mut message = message.into();
        let mut waited = Duration::ZERO;
        loop {
            match self.0.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(NotHeard::Over),
                Err(TrySendError::Full(_)) if waited >= TIMEOUT => return Err(NotHeard::Full),
                Err(TrySendError::Full(back)) => message = back,
            }
            tokio::time::sleep(PAUSE).await;
            waited += PAUSE;
        }
    }

    /// Sends a message that the run cannot do without, however long the mailbox is full.
    pub(crate) async fn insist<M: Into<Message>>(&self, message: impl Fn() -> M) {
        while self.say(message()).await == Err(NotHeard::Full) {
            tracing::error!("the tick's thread does not hear");
        }
    }

    /// Sends a request and returns the answer.
    ///
    /// # Errors
    /// As [`Mailbox::say`]; also `NotHeard::Full` when the answer does not come in time.
    pub(crate) async fn ask<A, M: Into<Message>>(
        &self,
        message: impl FnOnce(oneshot::Sender<A>) -> M,
    ) -> Result<A, NotHeard> {
        let (sender, answer) = oneshot::channel();
        self.say(message(sender)).await?;
        match tokio::time::timeout(TIMEOUT, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(NotHeard::Over),
            Err(_) => Err(NotHeard::Full),
        }
    }
}
