//! All requests of a run to the world outside. The run never waits here: every answer, also that of
//! a failure, comes back as a [`Message`](crate::mailbox::Message).

use proto::rpc::zone::v1::{
    CompleteRegionRequest, CompleteRequest, ForwardRequest, LocateRequest, PrepareRegionRequest,
    PrepareRequest,
};
use tokio::{runtime::Handle, sync::mpsc};
use world::{CharacterId, Region};

use crate::{commit::batch::Sending, ownership::keeper::Keeper, peers::Peers};

/// The error when the committer is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NobodyCommits;

/// The world outside, as a run asks it.
pub(crate) trait Effects: Send {
    /// Asks the store for a region; answered as `RegionLoaded`.
    fn load_region(&mut self, region: Region, epoch: u64);
    /// Asks the store for a character; answered as `CharacterLoaded`.
    fn load_character(&mut self, who: CharacterId);
    /// Makes the store keep out a character whose document is damaged; not answered.
    fn quarantine(&mut self, who: CharacterId);
    /// Announces a player to the peer at `address`; answered as `Prepared`.
    fn prepare(&mut self, address: &str, who: CharacterId, attempt: u32, request: PrepareRequest);
    /// Tells the peer at `address` that a handover is done; answered as `Completed`.
    fn complete(&mut self, address: &str, who: CharacterId, h: u64, request: CompleteRequest);
    /// Sends late inputs after their player; answered as `Forwarded`.
    fn forward(&mut self, address: &str, who: CharacterId, request: ForwardRequest);
    /// Offers a region to the peer at `address`; answered as `RegionPrepared`.
    fn prepare_region(&mut self, address: &str, attempt: u64, request: PrepareRegionRequest);
    /// Tells the peer at `address` that the store has a region there; answered as
    /// `RegionCompleted`.
    fn complete_region(&mut self, address: &str, request: CompleteRegionRequest);
    /// Asks the peer at `address` for the place of something that `who` wants; answered as
    /// `Located`.
    fn locate(&mut self, address: &str, who: CharacterId, attempt: u32, request: LocateRequest);
    /// Tells the store that the run gives its regions away; answered as `Drained`.
    fn drain(&mut self);
    /// Asks the store for the owner of a player; answered as `Owner`.
    fn owner(&mut self, who: CharacterId, h: u64, source_dead: bool);
    /// Sends a batch again and again until the store answers; answered as `Answered`. One at a
    /// time.
    fn commit(&mut self, sending: Sending) -> Result<(), NobodyCommits>;
    /// Does some work beside the clock's thread.
    fn beside(&mut self, work: Box<dyn FnOnce() + Send>);
}

/// Makes each request in a task of its own. Use it on a thread that has entered the runtime.
pub(crate) struct Tasks {
    pub(crate) keeper: Keeper,
    pub(crate) peers: Peers,
    pub(crate) commits: mpsc::Sender<Sending>,
}

impl Effects for Tasks {
    fn load_region(&mut self, region: Region, epoch: u64) {
        self.keeper.load_region(region, epoch);
    }

    fn load_character(&mut self, who: CharacterId) {
        self.keeper.load_character(who);
    }

    fn quarantine(&mut self, who: CharacterId) {
        self.keeper.quarantine(who);
    }

    fn prepare(&mut self, address: &str, who: CharacterId, attempt: u32, request: PrepareRequest) {
        self.peers
            .prepare(address.to_owned(), who, attempt, request);
    }

    fn complete(&mut self, address: &str, who: CharacterId, h: u64, request: CompleteRequest) {
        self.peers.complete(address.to_owned(), who, h, request);
    }

    fn forward(&mut self, address: &str, who: CharacterId, request: ForwardRequest) {
        self.peers.forward(address.to_owned(), who, request);
    }

    fn prepare_region(&mut self, address: &str, attempt: u64, request: PrepareRegionRequest) {
        self.peers
            .prepare_region(address.to_owned(), attempt, request);
    }

    fn complete_region(&mut self, address: &str, request: CompleteRegionRequest) {
        self.peers.complete_region(address.to_owned(), request);
    }

    fn locate(&mut self, address: &str, who: CharacterId, attempt: u32, request: LocateRequest) {
        self.peers.locate(address.to_owned(), who, attempt, request);
    }

    fn drain(&mut self) {
        self.keeper.drain();
    }

    fn owner(&mut self, who: CharacterId, h: u64, source_dead: bool) {
        self.peers.owner(who, h, source_dead);
    }

    fn commit(&mut self, sending: Sending) -> Result<(), NobodyCommits> {
        self.commits.try_send(sending).map_err(|_| NobodyCommits)
    }

    fn beside(&mut self, work: Box<dyn FnOnce() + Send>) {
        Handle::current().spawn_blocking(work);
    }
}
