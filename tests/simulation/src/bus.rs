//! Calls between processes. Each has a deadline; a request may come late, twice or never, and so
//! may its answer.

use std::sync::Arc;

use persistence_svc::simulation::{Answer, Ask as StoreAsk};
use proto::rpc::{
    persistence::v1::{CommitPart, commit_reply::Outcome as Committed},
    zone::v1::ForwardRequest,
};
use rand::RngExt;
use tonic::Status;
use world::{CharacterId, Region};
use zone_server::simulation::{PeerAnswer, PeerAsk};

use super::{Event, Sim, faults::Peer, player::Opening};

/// Callee of a call, with its request.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    Store(Box<StoreAsk>),
    Zone(usize, PeerAsk),
}

/// Reply that the caller gets in the end.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Store(Answer),
    Peer(PeerAnswer),
}

pub(crate) type Result_ = Result<Box<Reply>, Status>;

/// Caller of a call, with its reason.
#[derive(Debug)]
pub(crate) struct Call {
    /// The zone that waits, and the life that it lives; `None`: a gateway or a witness.
    pub(crate) by: Option<(usize, u64)>,
    pub(crate) why: Why,
}

/// Reason of a call, which tells the run how to read the answer.
#[derive(Debug)]
pub(crate) enum Why {
    Region {
        region: Region,
        epoch: u64,
    },
    Character(CharacterId),
    Prepare {
        who: CharacterId,
        attempt: u32,
    },
    Complete {
        who: CharacterId,
        h: u64,
    },
    Forward {
        who: CharacterId,
        to: usize,
        request: ForwardRequest,
        tries: u32,
    },
    PrepareRegion {
        region: Region,
        attempt: u64,
    },
    CompleteRegion {
        region: Region,
        epoch: u64,
    },
    Locate {
        who: CharacterId,
        attempt: u32,
        run_id: u64,
    },
    Owner {
        who: CharacterId,
        h: u64,
        source_dead: bool,
    },
    Commit {
        sequence: u64,
        parts: Arc<Vec<CommitPart>>,
        tries: u32,
    },
    Renew {
        asked_ms: u64,
    },
    Register {
        asked_ms: u64,
    },
    Drain,
    Online,
    Release,
    Suspect,
    Open(Opening),
}

impl Callee {
    /// Returns the store as a callee.
    pub(crate) fn store(ask: StoreAsk) -> Callee {
        Callee::Store(Box::new(ask))
    }
}

impl Sim {
    /// Returns the milliseconds that a message is on its way.
    pub(crate) fn delay(&mut self) -> u64 {
        let slow = self.settings.faults.slow;
        if self.faulty() && self.chance(slow) {
            self.dice.random_range(50..2_500)
        } else {
            self.dice.random_range(1..15)
        }
    }

    /// Returns whether a message is lost.
    pub(crate) fn loses(&mut self) -> bool {
        let lost = self.settings.faults.lost;
        self.faulty() && self.chance(lost)
    }

    /// Returns whether a zone asks one that it does not reach.
    fn between_parted(&self, by: Option<(usize, u64)>, callee: &Callee) -> bool {
        match (by, callee) {
            (Some((zone, _)), Callee::Zone(to, _)) => self.are_parted(zone, Peer::Zone(*to)),
            _ => false,
        }
    }

    pub(crate) fn call(&mut self, call: Call, callee: Callee, deadline_ms: u64) {
        self.call_numbers += 1;
        let number = self.call_numbers;
        let repeats = matches!(
            callee,
            Callee::Zone(
                _,
                PeerAsk::Complete(_) | PeerAsk::Forward(_) | PeerAsk::CompleteRegion(_)
            )
        );
        if self.between_parted(call.by, &callee) || self.loses() {
            self.coverage.count("bus: request lost");
        } else {
            let wait = self.delay();
            let twice = self.settings.faults.repeated;
            if repeats && self.faulty() && self.chance(twice) {
                self.coverage.count("bus: request repeated");
                let later = wait + self.delay();
                let echo = Event::Arrives {
                    call: number,
                    callee: callee.clone(),
                    echo: true,
                };
                self.after(later, echo);
            }
            let arrives = Event::Arrives {
                call: number,
                callee,
                echo: false,
            };
            self.after(wait, arrives);
        }
        self.calls.insert(number, call);
        self.after(deadline_ms, Event::Deadline(number));
    }

    /// Delivers a request to its callee.
    pub(crate) fn arrives(&mut self, call: u64, callee: Callee, echo: bool) {
        let by = self.calls.get(&call).and_then(|call| call.by);
        let parted = self.between_parted(by, &callee);
        let result = match callee {
            Callee::Store(ask) => self.store_answers(*ask),
            Callee::Zone(zone, ask) => self.peer_answers(zone, ask),
        };
        if echo {
            return;
        }
        if parted || self.loses() {
            self.coverage.count("bus: answer lost");
            return;
        }
        let wait = self.delay();
        self.after(wait, Event::Answer { call, result });
    }

    fn store_answers(&mut self, ask: StoreAsk) -> Result_ {
        if self.store_away {
            return Err(Status::unavailable("the store is away"));
        }
        let mutates = !matches!(
            ask,
            StoreAsk::Renew(_)
                | StoreAsk::LoadRegion(_)
                | StoreAsk::LoadCharacter(_)
                | StoreAsk::OnlineCharacters(_)
                | StoreAsk::CharacterOwner(_)
        );
        let commit = matches!(ask, StoreAsk::Commit(_));
        let answer = self.store.call(self.now, ask);
        if commit {
            self.judged(&answer);
        }
        if mutates {
            self.store_changed();
        }
        answer.map(|answer| Box::new(Reply::Store(answer)))
    }

    /// Counts the store's verdict on a batch. A batch without a verdict breaks a law.
    fn judged(&mut self, answer: &Result<Answer, Status>) {
        let Ok(Answer::Commit(reply)) = answer else {
            return self.breaks(format!("the store did not take a batch: {answer:?}"));
        };
        self.coverage.count(match reply.outcome() {
            Committed::Done => "commit: done",
            Committed::Fenced => "commit: fenced",
            Committed::Refused => "commit: refused",
            Committed::TransferStale if !reply.regions.is_empty() => "commit: stale give",
            Committed::TransferStale => "commit: stale transfer",
            Committed::Unspecified => "commit: unspecified",
        });
        if reply.outcome() == Committed::Refused {
            let (ids, detail) = (reply.character_ids.join(" "), &reply.detail);
            self.breaks(format!("the store refused a batch: {detail} ({ids})"));
        }
    }

    fn peer_answers(&mut self, zone: usize, ask: PeerAsk) -> Result_ {
        let gone = || Status::unavailable("no run just now");
        let Some(run) = self.zones[zone].run.as_mut() else {
            return Err(gone());
        };
        let answer = run.peer(ask).ok_or_else(gone);
        let refusal = |accepted: bool, code: &str| match accepted {
            true => "accepted".to_owned(),
            false => code.to_owned(),
        };
        match &answer {
            Ok(PeerAnswer::Prepare(reply)) => {
                let code = refusal(reply.accepted, &reply.code);
                self.coverage.count_of("prepare", &code);
            }
            Ok(PeerAnswer::PrepareRegion(reply)) => {
                let code = refusal(reply.accepted, &reply.code);
                self.coverage.count_of("prepare region", &code);
            }
            _ => {}
        }
        self.after_run(zone);
        answer.map(|answer| Box::new(Reply::Peer(answer)))
    }

    /// Ends a call, with an answer or without one.
    pub(crate) fn answered(&mut self, number: u64, result: Option<Result_>) {
        let Some(call) = self.calls.remove(&number) else {
            return;
        };
        let result = result.unwrap_or_else(|| Err(Status::deadline_exceeded("no answer in time")));
        let Call { by, why } = call;
        let Some((zone, life)) = by else {
            if let Why::Open(opening) = why {
                self.opened(opening, result);
            }
            return;
        };
        match why {
            Why::Register { asked_ms } => self.registered(zone, life, asked_ms, result),
            Why::Release => {}
            Why::Commit {
                sequence,
                parts,
                tries,
            } => self.committed((zone, life), sequence, (parts, tries), result),
            why @ Why::Forward { .. } => self.forwarded((zone, life), why, result),
            why => {
                if let Some(heard) = self.heard(why, result.map(|reply| *reply)) {
                    self.hears(zone, life, heard);
                }
            }
        }
    }
}
