//! The requests of a run to the outside, as plain values.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use proto::rpc::{
    persistence::v1::CommitPart,
    zone::v1::{
        CompleteRegionRequest, CompleteRequest, ForwardRequest, LocateRequest,
        PrepareRegionRequest, PrepareRequest,
    },
};
use world::{CharacterId, Region};

use crate::{
    commit::{batch::Sending, committer},
    effects::{Effects, NobodyCommits},
};

/// A request of a run to the outside.
#[derive(Debug)]
#[allow(missing_docs, reason = "see `Effects`")]
pub enum Ask {
    LoadRegion {
        region: Region,
        epoch: u64,
    },
    LoadCharacter {
        who: CharacterId,
    },
    Quarantine {
        who: CharacterId,
    },
    Prepare {
        address: String,
        who: CharacterId,
        attempt: u32,
        request: Box<PrepareRequest>,
    },
    Complete {
        address: String,
        who: CharacterId,
        h: u64,
        request: Box<CompleteRequest>,
    },
    Forward {
        address: String,
        who: CharacterId,
        request: ForwardRequest,
    },
    PrepareRegion {
        address: String,
        attempt: u64,
        request: PrepareRegionRequest,
    },
    CompleteRegion {
        address: String,
        request: Box<CompleteRegionRequest>,
    },
    Locate {
        address: String,
        who: CharacterId,
        attempt: u32,
        request: LocateRequest,
    },
    Drain,
    Owner {
        who: CharacterId,
        h: u64,
        source_dead: bool,
    },
    Commit {
        sequence: u64,
        parts: Arc<Vec<CommitPart>>,
    },
}

/// The requests of a run that nobody has taken yet.
#[derive(Debug, Default, Clone)]
pub(super) struct Asked(Arc<Mutex<VecDeque<Ask>>>);

impl Asked {
    fn push(&self, ask: Ask) {
        let mut asks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asks.push_back(ask);
    }

    /// Takes all requests, in order.
    pub(super) fn take(&self) -> VecDeque<Ask> {
        let mut asks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut asks)
    }
}

/// Queues the requests of the run.
pub(super) struct Queue {
    pub(super) run_id: u64,
    pub(super) asked: Asked,
}

impl Effects for Queue {
    fn load_region(&mut self, region: Region, epoch: u64) {
        self.asked.push(Ask::LoadRegion { region, epoch });
    }

    fn load_character(&mut self, who: CharacterId) {
        self.asked.push(Ask::LoadCharacter { who });
    }

    fn quarantine(&mut self, who: CharacterId) {
        self.asked.push(Ask::Quarantine { who });
    }

    fn prepare(&mut self, address: &str, who: CharacterId, attempt: u32, request: PrepareRequest) {
        self.asked.push(Ask::Prepare {
            address: address.to_owned(),
            who,
            attempt,
            request: Box::new(request),
        });
    }

    fn complete(&mut self, address: &str, who: CharacterId, h: u64, request: CompleteRequest) {
        self.asked.push(Ask::Complete {
            address: address.to_owned(),
            who,
            h,
            request: Box::new(request),
        });
    }

    fn forward(&mut self, address: &str, who: CharacterId, request: ForwardRequest) {
        self.asked.push(Ask::Forward {
            address: address.to_owned(),
            who,
            request,
        });
    }

    fn prepare_region(&mut self, address: &str, attempt: u64, request: PrepareRegionRequest) {
        self.asked.push(Ask::PrepareRegion {
            address: address.to_owned(),
            attempt,
            request,
        });
    }

    fn complete_region(&mut self, address: &str, request: CompleteRegionRequest) {
        self.asked.push(Ask::CompleteRegion {
            address: address.to_owned(),
            request: Box::new(request),
        });
    }

    fn locate(&mut self, address: &str, who: CharacterId, attempt: u32, request: LocateRequest) {
        self.asked.push(Ask::Locate {
            address: address.to_owned(),
            who,
            attempt,
            request,
        });
    }

    fn drain(&mut self) {
        self.asked.push(Ask::Drain);
    }

    fn owner(&mut self, who: CharacterId, h: u64, source_dead: bool) {
        self.asked.push(Ask::Owner {
            who,
            h,
            source_dead,
        });
    }

    fn commit(&mut self, sending: Sending) -> Result<(), NobodyCommits> {
        let parts = committer::parts(self.run_id, &sending, Vec::new());
        self.asked.push(Ask::Commit {
            sequence: sending.sequence,
            parts: Arc::new(parts),
        });
        Ok(())
    }

    fn beside(&mut self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}
