//! Calls between processes. Each has a deadline; a request may come late, twice or never, and so
//! may its answer.

use std::sync::Arc;

use persistence_svc::simulation::{Answer, Ask as StoreAsk};
use proto::rpc::{
    common::v1 as common,
    persistence::v1::{
        CharacterOwnerRequest, CommitPart, DrainRequest, LoadCharacterRequest, LoadRegionRequest,
        RenewReply, commit_reply::Outcome as Committed,
    },
    zone::v1::ForwardRequest,
};
use rand::RngExt;
use tonic::Status;
use world::{CharacterId, Region};
use zone_server::simulation::{Ask, Heard, PeerAnswer, PeerAsk};

use super::{Event, Sim, player::Opening};

/// Who is asked, and what.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    Store(Box<StoreAsk>),
    Zone(usize, PeerAsk),
}

/// What the caller gets in the end.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Store(Answer),
    Peer(PeerAnswer),
}

pub(crate) type Result_ = Result<Box<Reply>, Status>;

/// Who asks, and why.
#[derive(Debug)]
pub(crate) enum Call {
    Region {
        zone: usize,
        life: u64,
        region: Region,
        epoch: u64,
    },
    Character {
        zone: usize,
        life: u64,
        who: CharacterId,
    },
    Prepare {
        zone: usize,
        life: u64,
        who: CharacterId,
        attempt: u32,
    },
    Complete {
        zone: usize,
        life: u64,
        who: CharacterId,
        h: u64,
    },
    Forward {
        zone: usize,
        life: u64,
        who: CharacterId,
        to: usize,
        request: ForwardRequest,
        tries: u32,
    },
    PrepareRegion {
        zone: usize,
        life: u64,
        region: Region,
        attempt: u64,
    },
    CompleteRegion {
        zone: usize,
        life: u64,
        region: Region,
        epoch: u64,
    },
    Locate {
        zone: usize,
        life: u64,
        who: CharacterId,
        attempt: u32,
        run_id: u64,
    },
    Drain {
        zone: usize,
        life: u64,
    },
    Owner {
        zone: usize,
        life: u64,
        who: CharacterId,
        h: u64,
        source_dead: bool,
    },
    Commit {
        zone: usize,
        life: u64,
        sequence: u64,
        parts: Arc<Vec<CommitPart>>,
        tries: u32,
    },
    Renew {
        zone: usize,
        life: u64,
        asked_ms: u64,
    },
    Online {
        zone: usize,
        life: u64,
    },
    Register {
        zone: usize,
        life: u64,
        asked_ms: u64,
    },
    Release {
        zone: usize,
    },
    Suspect,
    Open(Opening),
}

impl Call {
    /// The zone that waits.
    pub(crate) fn zone(&self) -> Option<usize> {
        match self {
            Call::Region { zone, .. }
            | Call::Character { zone, .. }
            | Call::Prepare { zone, .. }
            | Call::Complete { zone, .. }
            | Call::Forward { zone, .. }
            | Call::PrepareRegion { zone, .. }
            | Call::CompleteRegion { zone, .. }
            | Call::Locate { zone, .. }
            | Call::Drain { zone, .. }
            | Call::Owner { zone, .. }
            | Call::Commit { zone, .. }
            | Call::Renew { zone, .. }
            | Call::Online { zone, .. }
            | Call::Register { zone, .. }
            | Call::Release { zone } => Some(*zone),
            Call::Open(_) | Call::Suspect => None,
        }
    }
}

impl Sim {
    /// How long a message is on its way.
    pub(crate) fn delay(&mut self) -> u64 {
        let slow = self.settings.faults.slow;
        if self.faulty() && self.chance(slow) {
            self.dice.random_range(50..2_500)
        } else {
            self.dice.random_range(1..15)
        }
    }

    /// Whether a message is lost.
    pub(crate) fn loses(&mut self) -> bool {
        let lost = self.settings.faults.lost;
        self.faulty() && self.chance(lost)
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
        if self.loses() {
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

    /// A request has come to whom it was sent.
    pub(crate) fn arrives(&mut self, call: u64, callee: Callee, echo: bool) {
        let result = match callee {
            Callee::Store(ask) => self.store_answers(*ask),
            Callee::Zone(zone, ask) => self.peer_answers(zone, ask),
        };
        if echo {
            return;
        }
        if self.loses() {
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
        if let Ok(Answer::Commit(reply)) = &answer {
            self.coverage.count(match reply.outcome() {
                Committed::Done => "commit: done",
                Committed::Fenced => "commit: fenced",
                Committed::Refused => "commit: refused",
                Committed::TransferStale if !reply.regions.is_empty() => "commit: stale give",
                Committed::TransferStale => "commit: stale transfer",
                Committed::Unspecified => "commit: unspecified",
            });
            if reply.outcome() == Committed::Refused {
                let (ids, detail) = (reply.character_ids.join(" "), reply.detail.clone());
                self.breaks(format!("the store refused a batch: {detail} ({ids})"));
            }
        } else if commit {
            let why = format!("{answer:?}");
            self.breaks(format!("the store did not take a batch: {why}"));
        }
        if mutates {
            self.store_changed();
        }
        answer.map(|answer| Box::new(Reply::Store(answer)))
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

    /// A call is over: with an answer, or without one.
    pub(crate) fn answered(&mut self, number: u64, result: Option<Result_>) {
        let Some(call) = self.calls.remove(&number) else {
            return;
        };
        let result = result.unwrap_or_else(|| Err(Status::deadline_exceeded("no answer in time")));
        match call {
            Call::Open(opening) => self.opened(opening, result),
            Call::Register {
                zone,
                life,
                asked_ms,
            } => self.registered(zone, life, asked_ms, result),
            Call::Release { .. } | Call::Suspect => {}
            Call::Commit { .. } => self.committed(call, result),
            Call::Forward { .. } => self.forwarded(call, result),
            call => self.run_answered(call, result),
        }
    }

    fn committed(&mut self, call: Call, result: Result_) {
        let Call::Commit {
            zone,
            life,
            sequence,
            parts,
            tries,
        } = call
        else {
            return;
        };
        if !self.zones[zone].lives(life) {
            return;
        }
        let reply = result.map(|reply| *reply);
        if let Ok(Reply::Store(Answer::Commit(reply))) = reply {
            return self.hears(zone, life, Heard::Answered { sequence, reply });
        }
        self.coverage.count("commit: sent again");
        self.hears(zone, life, Heard::CommitFailed);
        let callee = Callee::Store(Box::new(StoreAsk::Commit(Arc::clone(&parts))));
        let call = Box::new(Call::Commit {
            zone,
            life,
            sequence,
            parts,
            tries: tries + 1,
        });
        let wait = self.dice.random_range(20..(100 << tries.min(4)));
        self.after(wait, Event::Again { call, callee });
    }

    /// Sends a batch again, unless its run is over.
    pub(crate) fn sends_again(&mut self, call: Call, callee: Callee) {
        if let Call::Commit { zone, life, .. } = call
            && self.zones[zone].lives(life)
        {
            self.call(call, callee, 2_000);
        }
    }

    fn forwarded(&mut self, call: Call, result: Result_) {
        let Call::Forward {
            zone,
            life,
            who,
            to,
            request,
            tries,
        } = call
        else {
            return;
        };
        let taken = match result.map(|reply| *reply) {
            Ok(Reply::Peer(PeerAnswer::Forward(reply))) => Some(reply.taken),
            _ => None,
        };
        if taken.is_none() && tries < 1 && self.zones[zone].lives(life) {
            let callee = Callee::Zone(to, PeerAsk::Forward(request.clone()));
            let call = Call::Forward {
                zone,
                life,
                who,
                to,
                request,
                tries: tries + 1,
            };
            return self.call(call, callee, 1_000);
        }
        let taken = taken.unwrap_or(false);
        self.coverage.count(if taken {
            "forward: taken"
        } else {
            "forward: lost"
        });
        self.hears(zone, life, Heard::Forwarded { who, taken });
    }

    fn run_answered(&mut self, call: Call, result: Result_) {
        let result = result.map(|reply| *reply);
        let (zone, life, heard) = match call {
            Call::Region {
                zone,
                life,
                region,
                epoch,
            } => {
                let loaded = expect(result, |reply| match reply {
                    Reply::Store(Answer::LoadRegion(reply)) => Some(reply),
                    _ => None,
                });
                self.coverage.count(match loaded {
                    Ok(_) => "load region: loaded",
                    Err(_) => "load region: failed",
                });
                let heard = Heard::RegionLoaded {
                    region,
                    epoch,
                    loaded,
                };
                (zone, life, heard)
            }
            Call::Character { zone, life, who } => {
                let loaded = expect(result, |reply| match reply {
                    Reply::Store(Answer::LoadCharacter(reply)) => Some(reply),
                    _ => None,
                });
                (zone, life, Heard::CharacterLoaded { who, loaded })
            }
            Call::Prepare {
                zone,
                life,
                who,
                attempt,
            } => {
                let reply = expect(result, |reply| match reply {
                    Reply::Peer(PeerAnswer::Prepare(reply)) => Some(reply),
                    _ => None,
                });
                if reply.is_err() {
                    self.coverage.count("prepare: silent");
                }
                let heard = Heard::Prepared {
                    who,
                    attempt,
                    reply: reply.ok(),
                };
                (zone, life, heard)
            }
            Call::Complete { zone, life, who, h } => {
                let known = expect(result, |reply| match reply {
                    Reply::Peer(PeerAnswer::Complete(reply)) => Some(reply.known),
                    _ => None,
                });
                let known = known.ok();
                self.coverage.count(match known {
                    Some(true) => "complete: known",
                    Some(false) => "complete: unknown",
                    None => "complete: silent",
                });
                (zone, life, Heard::Completed { who, h, known })
            }
            Call::Owner {
                zone,
                life,
                who,
                h,
                source_dead,
            } => {
                let owned = expect(result, |reply| match reply {
                    Reply::Store(Answer::CharacterOwner(reply)) => Some(reply),
                    _ => None,
                });
                self.coverage.count(match owned {
                    Ok(_) => "owner: known",
                    Err(_) => "owner: silent",
                });
                let heard = Heard::Owner {
                    who,
                    h,
                    owned: owned.ok(),
                    source_dead,
                };
                (zone, life, heard)
            }
            Call::PrepareRegion {
                zone,
                life,
                region,
                attempt,
            } => {
                let reply = expect(result, |reply| match reply {
                    Reply::Peer(PeerAnswer::PrepareRegion(reply)) => Some(reply),
                    _ => None,
                });
                if reply.is_err() {
                    self.coverage.count("prepare region: silent");
                }
                let heard = Heard::RegionPrepared {
                    region,
                    attempt,
                    reply: reply.ok(),
                };
                (zone, life, heard)
            }
            Call::CompleteRegion {
                zone,
                life,
                region,
                epoch,
            } => {
                let known = expect(result, |reply| match reply {
                    Reply::Peer(PeerAnswer::CompleteRegion(reply)) => Some(reply.known),
                    _ => None,
                });
                let known = known.ok();
                self.coverage.count(match known {
                    Some(true) => "complete region: known",
                    Some(false) => "complete region: unknown",
                    None => "complete region: silent",
                });
                let heard = Heard::RegionCompleted {
                    region,
                    epoch,
                    known,
                };
                (zone, life, heard)
            }
            Call::Locate {
                zone,
                life,
                who,
                attempt,
                run_id,
            } => {
                let reply = expect(result, |reply| match reply {
                    Reply::Peer(PeerAnswer::Locate(reply)) => Some(reply),
                    _ => None,
                });
                let reply = reply.ok();
                self.coverage.count(match &reply {
                    Some(reply) if reply.region.is_some() => "locate: here",
                    Some(_) => "locate: not here",
                    None => "locate: silent",
                });
                let heard = Heard::Located {
                    who,
                    attempt,
                    run_id,
                    reply,
                };
                (zone, life, heard)
            }
            Call::Drain { zone, life } => (zone, life, Heard::Drained(result.is_ok())),
            Call::Renew {
                zone,
                life,
                asked_ms,
            } => {
                let Ok(Reply::Store(Answer::Renew(reply))) = result else {
                    return;
                };
                (zone, life, renewed(reply, asked_ms))
            }
            Call::Online { zone, life } => {
                let Ok(Reply::Store(Answer::OnlineCharacters(reply))) = result else {
                    return;
                };
                (zone, life, Heard::Online(reply.characters))
            }
            _ => return,
        };
        self.hears(zone, life, heard);
    }

    /// What a run asks becomes calls.
    pub(crate) fn asks(&mut self, zone: usize, life: u64, run_id: u64, ask: Ask) {
        match ask {
            Ask::LoadRegion { region, epoch } => {
                let request = LoadRegionRequest {
                    run_id,
                    region: Some(super::land::rpc_region(region)),
                    epoch,
                };
                let call = Call::Region {
                    zone,
                    life,
                    region,
                    epoch,
                };
                let ask = Callee::Store(Box::new(StoreAsk::LoadRegion(request)));
                self.call(call, ask, 5_000);
            }
            Ask::LoadCharacter { who } => {
                let request = LoadCharacterRequest {
                    run_id,
                    character_id: who.to_string(),
                };
                let call = Call::Character { zone, life, who };
                let ask = Callee::Store(Box::new(StoreAsk::LoadCharacter(request)));
                self.call(call, ask, 2_000);
            }
            Ask::Owner {
                who,
                h,
                source_dead,
            } => {
                let request = CharacterOwnerRequest {
                    character_id: who.to_string(),
                };
                let call = Call::Owner {
                    zone,
                    life,
                    who,
                    h,
                    source_dead,
                };
                let ask = Callee::Store(Box::new(StoreAsk::CharacterOwner(request)));
                self.call(call, ask, 2_000);
            }
            Ask::Commit { sequence, parts } => {
                let ask = Callee::Store(Box::new(StoreAsk::Commit(Arc::clone(&parts))));
                let call = Call::Commit {
                    zone,
                    life,
                    sequence,
                    parts,
                    tries: 0,
                };
                self.call(call, ask, 2_000);
            }
            Ask::Drain => {
                let ask = StoreAsk::Drain(DrainRequest { run_id });
                let ask = Callee::Store(Box::new(ask));
                self.call(Call::Drain { zone, life }, ask, 2_000);
            }
            peer => self.asks_peer(zone, life, peer),
        }
    }

    fn asks_peer(&mut self, zone: usize, life: u64, ask: Ask) {
        match ask {
            Ask::Prepare {
                address,
                who,
                attempt,
                request,
            } => {
                if request.pull_target.is_empty() {
                    self.law_of_pins(zone, &who);
                } else {
                    self.coverage.count("pull: asked");
                }
                let call = Call::Prepare {
                    zone,
                    life,
                    who,
                    attempt,
                };
                let to = super::zone::at(&address);
                self.call(call, Callee::Zone(to, PeerAsk::Prepare(request)), 500);
            }
            Ask::Complete {
                address,
                who,
                h,
                request,
            } => {
                let call = Call::Complete { zone, life, who, h };
                let to = super::zone::at(&address);
                self.call(call, Callee::Zone(to, PeerAsk::Complete(request)), 1_000);
            }
            Ask::Forward {
                address,
                who,
                request,
            } => {
                let to = super::zone::at(&address);
                let callee = Callee::Zone(to, PeerAsk::Forward(request.clone()));
                let call = Call::Forward {
                    zone,
                    life,
                    who,
                    to,
                    request,
                    tries: 0,
                };
                self.call(call, callee, 1_000);
            }
            Ask::PrepareRegion {
                address,
                attempt,
                request,
            } => {
                let call = Call::PrepareRegion {
                    zone,
                    life,
                    region: region(request.region),
                    attempt,
                };
                let to = super::zone::at(&address);
                self.call(call, Callee::Zone(to, PeerAsk::PrepareRegion(request)), 500);
            }
            Ask::CompleteRegion { address, request } => {
                let call = Call::CompleteRegion {
                    zone,
                    life,
                    region: region(request.region),
                    epoch: request.epoch,
                };
                let to = super::zone::at(&address);
                let callee = Callee::Zone(to, PeerAsk::CompleteRegion(request));
                self.call(call, callee, 2_000);
            }
            Ask::Locate {
                address,
                who,
                attempt,
                request,
            } => {
                let call = Call::Locate {
                    zone,
                    life,
                    who,
                    attempt,
                    run_id: request.to_run_id,
                };
                let to = super::zone::at(&address);
                self.call(call, Callee::Zone(to, PeerAsk::Locate(request)), 300);
            }
            _ => {}
        }
    }
}

fn region(of: Option<common::Region>) -> Region {
    let of = of.unwrap_or_default();
    Region { x: of.x, z: of.z }
}

fn renewed(reply: RenewReply, asked_ms: u64) -> Heard {
    Heard::Renewed { reply, asked_ms }
}

fn expect<T>(
    result: Result<Reply, Status>,
    pick: impl FnOnce(Reply) -> Option<T>,
) -> Result<T, Status> {
    pick(result?).ok_or_else(|| Status::internal("the answer to another call"))
}
