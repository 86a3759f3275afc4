//! The messages that a run hears, as plain values.

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

use crate::{
    mailbox::{HandoverMessage, Message, PeerMessage, StoreMessage},
    ownership::lease::Renewed,
};

/// A message that a run hears.
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
    /// The answer to a renewal that the run requested at `asked_ms`.
    Renewed {
        reply: RenewReply,
        asked_ms: u64,
    },
    /// A message on a gateway's control stream.
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
    /// The signal SIGTERM.
    Stop,
}

/// A request of a peer.
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

/// The answer to a peer's request.
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
    /// Returns the message as the run hears it; `renewed` reads the answer to a renewal.
    pub(super) fn message(self, renewed: impl FnOnce(&RenewReply, u64) -> Renewed) -> Message {
        match self {
            Heard::Renewed { reply, asked_ms } => {
                StoreMessage::Renewed(renewed(&reply, asked_ms)).into()
            }
            Heard::RegionLoaded {
                region,
                epoch,
                loaded,
            } => StoreMessage::RegionLoaded {
                region,
                epoch,
                loaded,
            }
            .into(),
            Heard::CharacterLoaded { who, loaded } => {
                StoreMessage::CharacterLoaded { who, loaded }.into()
            }
            Heard::Owner {
                who,
                h,
                owned,
                source_dead,
            } => HandoverMessage::Owner {
                who,
                h,
                owned,
                source_dead,
            }
            .into(),
            Heard::Drained(done) => StoreMessage::Drained(done).into(),
            Heard::Answered { sequence, reply } => {
                StoreMessage::Answered { sequence, reply }.into()
            }
            Heard::CommitFailed => StoreMessage::CommitFailed.into(),
            Heard::Directory(update) => StoreMessage::Directory(update).into(),
            Heard::Online(online) => StoreMessage::Online(online).into(),
            heard => heard.of_others(),
        }
    }

    fn of_others(self) -> Message {
        match self {
            Heard::Prepared {
                who,
                attempt,
                reply,
            } => HandoverMessage::Prepared {
                who,
                attempt,
                reply,
            }
            .into(),
            Heard::Completed { who, h, known } => {
                HandoverMessage::Completed { who, h, known }.into()
            }
            Heard::Forwarded { who, taken } => HandoverMessage::Forwarded { who, taken }.into(),
            Heard::RegionPrepared {
                region,
                attempt,
                reply,
            } => PeerMessage::RegionPrepared {
                region,
                attempt,
                reply,
            }
            .into(),
            Heard::RegionCompleted {
                region,
                epoch,
                known,
            } => PeerMessage::RegionCompleted {
                region,
                epoch,
                known,
            }
            .into(),
            Heard::Located {
                who,
                attempt,
                run_id,
                reply,
            } => PeerMessage::Located {
                who,
                attempt,
                run_id,
                reply,
            }
            .into(),
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
