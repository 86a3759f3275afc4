//! What a run hears, as plain values.

use proto::rpc::{
    persistence::v1::{
        CharacterOwnership, CharacterRecord, CommitReply, DirectoryUpdate, LoadRegionReply,
        RenewReply,
    },
    zone::v1::{
        CompleteRegionReply, CompleteRegionRequest, CompleteReply, CompleteRequest, ForwardReply,
        ForwardRequest, LocateReply, LocateRequest, PrepareRegionReply, PrepareRegionRequest,
        PrepareReply, PrepareRequest, Subscribe, to_zone::Message as ToZoneMessage,
    },
};
use tonic::Status;
use world::{CharacterId, Region};

use crate::{mailbox::Message, ownership::keeper::Renewed};

/// What a run hears.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "see `Message`")]
pub enum Heard {
    RegionLoaded {
        region: Region,
        epoch: u64,
        loaded: Result<Box<LoadRegionReply>, Status>,
    },
    CharacterLoaded {
        who: CharacterId,
        loaded: Result<Box<CharacterRecord>, Status>,
    },
    Prepared {
        who: CharacterId,
        attempt: u32,
        reply: Option<PrepareReply>,
    },
    Completed {
        who: CharacterId,
        h: u64,
        known: Option<bool>,
    },
    Forwarded {
        who: CharacterId,
        taken: bool,
    },
    Owner {
        who: CharacterId,
        h: u64,
        owned: Option<CharacterOwnership>,
        source_dead: bool,
    },
    RegionPrepared {
        region: Region,
        attempt: u64,
        reply: Option<PrepareRegionReply>,
    },
    RegionCompleted {
        region: Region,
        epoch: u64,
        known: Option<bool>,
    },
    Located {
        who: CharacterId,
        attempt: u32,
        run_id: u64,
        reply: Option<LocateReply>,
    },
    Drained(bool),
    Answered {
        sequence: u64,
        reply: CommitReply,
    },
    /// An attempt at a batch failed.
    CommitFailed,
    Directory(DirectoryUpdate),
    Online(Vec<CharacterOwnership>),
    /// The answer to a renewal that was asked at a moment.
    Renewed {
        reply: RenewReply,
        asked_ms: u64,
    },
    /// From a gateway's control stream.
    Gateway {
        gateway_id: String,
        link: u64,
        message: Box<ToZoneMessage>,
    },
    Subscribe {
        gateway_id: String,
        link: u64,
        subscribe: Subscribe,
    },
    LinkEnded {
        gateway_id: String,
        link: u64,
    },
    /// SIGTERM.
    Stop,
}

/// What a peer asks.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "see the service `Handover`")]
pub enum PeerAsk {
    Prepare(Box<PrepareRequest>),
    Complete(Box<CompleteRequest>),
    Forward(ForwardRequest),
    PrepareRegion(PrepareRegionRequest),
    CompleteRegion(Box<CompleteRegionRequest>),
    Locate(LocateRequest),
}

/// What it is answered.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "see the service `Handover`")]
pub enum PeerAnswer {
    Prepare(PrepareReply),
    Complete(CompleteReply),
    Forward(ForwardReply),
    PrepareRegion(PrepareRegionReply),
    CompleteRegion(CompleteRegionReply),
    Locate(LocateReply),
}

impl Heard {
    /// As the run hears it; `renewed` reads the answer to a renewal.
    pub(super) fn message(self, renewed: impl FnOnce(&RenewReply, u64) -> Renewed) -> Message {
        match self {
            Heard::Renewed { reply, asked_ms } => Message::Renewed(renewed(&reply, asked_ms)),
            Heard::RegionLoaded {
                region,
                epoch,
                loaded,
            } => Message::RegionLoaded {
                region,
                epoch,
                loaded,
            },
            Heard::CharacterLoaded { who, loaded } => Message::CharacterLoaded { who, loaded },
            Heard::Owner {
                who,
                h,
                owned,
                source_dead,
            } => Message::Owner {
                who,
                h,
                owned,
                source_dead,
            },
            Heard::Drained(done) => Message::Drained(done),
            Heard::Answered { sequence, reply } => Message::Answered { sequence, reply },
            Heard::CommitFailed => Message::CommitFailed,
            Heard::Directory(update) => Message::Directory(update),
            Heard::Online(online) => Message::Online(online),
            heard => heard.of_others(),
        }
    }

    fn of_others(self) -> Message {
        match self {
            Heard::Prepared {
                who,
                attempt,
                reply,
            } => Message::Prepared {
                who,
                attempt,
                reply,
            },
            Heard::Completed { who, h, known } => Message::Completed { who, h, known },
            Heard::Forwarded { who, taken } => Message::Forwarded { who, taken },
            Heard::RegionPrepared {
                region,
                attempt,
                reply,
            } => Message::RegionPrepared {
                region,
                attempt,
                reply,
            },
            Heard::RegionCompleted {
                region,
                epoch,
                known,
            } => Message::RegionCompleted {
                region,
                epoch,
                known,
            },
            Heard::Located {
                who,
                attempt,
                run_id,
                reply,
            } => Message::Located {
                who,
                attempt,
                run_id,
                reply,
            },
            heard => heard.of_gateways(),
        }
    }

    fn of_gateways(self) -> Message {
        match self {
            Heard::Gateway {
                gateway_id,
                link,
                message,
            } => Message::Gateway {
                gateway_id,
                link,
                message,
            },
            Heard::Subscribe {
                gateway_id,
                link,
                subscribe,
            } => Message::Subscribe {
                gateway_id,
                link,
                subscribe,
            },
            Heard::LinkEnded { gateway_id, link } => Message::LinkEnded { gateway_id, link },
            Heard::Stop => Message::Stop,
            heard => unreachable!("{heard:?} has been read"),
        }
    }
}
