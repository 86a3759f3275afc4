//! Answers to the calls of runs, or their absence, as the runs hear them.

use std::sync::Arc;

use persistence_svc::simulation::{Answer, Ask as StoreAsk};
use proto::rpc::persistence::v1::CommitPart;
use rand::RngExt;
use tonic::Status;
use zone_server::simulation::{Heard, PeerAnswer, PeerAsk};

use super::{
    Event, Sim,
    bus::{Call, Callee, Reply, Result_, Why},
};

impl Sim {
    /// Takes the answer to a batch, or sends the batch again.
    pub(crate) fn committed(
        &mut self,
        (zone, life): (usize, u64),
        sequence: u64,
        (parts, tries): (Arc<Vec<CommitPart>>, u32),
        result: Result_,
    ) {
        if !self.zones[zone].lives(life) {
            return;
        }
        if let Ok(Reply::Store(Answer::Commit(reply))) = result.map(|reply| *reply) {
            return self.hears(zone, life, Heard::Answered { sequence, reply });
        }
        self.coverage.count("commit: sent again");
        self.hears(zone, life, Heard::CommitFailed);
        let callee = Callee::store(StoreAsk::Commit(Arc::clone(&parts)));
        let why = Why::Commit {
            sequence,
            parts,
            tries: tries + 1,
        };
        let by = Some((zone, life));
        let call = Box::new(Call { by, why });
        let wait = self.dice.random_range(20..(100 << tries.min(4)));
        self.after(wait, Event::Again { call, callee });
    }

    /// Sends a batch again, unless its run is over.
    pub(crate) fn sends_again(&mut self, call: Call, callee: Callee) {
        if let Some((zone, life)) = call.by
            && self.zones[zone].lives(life)
        {
            self.call(call, callee, 2_000);
        }
    }

    /// Takes the answer about late inputs: they are taken, lost, or go once more.
    pub(crate) fn forwarded(&mut self, (zone, life): (usize, u64), why: Why, result: Result_) {
        let Why::Forward {
            who,
            to,
            request,
            tries,
        } = why
        else {
            return;
        };
        let taken = match result.map(|reply| *reply) {
            Ok(Reply::Peer(PeerAnswer::Forward(reply))) => Some(reply.taken),
            _ => None,
        };
        if taken.is_none() && tries < 1 && self.zones[zone].lives(life) {
            let callee = Callee::Zone(to, PeerAsk::Forward(request.clone()));
            let why = Why::Forward {
                who,
                to,
                request,
                tries: tries + 1,
            };
            let by = Some((zone, life));
            return self.call(Call { by, why }, callee, 1_000);
        }
        let taken = taken.unwrap_or(false);
        let became = if taken { "taken" } else { "lost" };
        self.coverage.count_of("forward", became);
        self.hears(zone, life, Heard::Forwarded { who, taken });
    }

    /// Returns the event that an answer is for the run that waits for it, if it is one.
    pub(crate) fn heard(&mut self, why: Why, result: Result<Reply, Status>) -> Option<Heard> {
        Some(match why {
            Why::Region { region, epoch } => {
                let loaded = store(result, |answer| match answer {
                    Answer::LoadRegion(reply) => Some(reply),
                    _ => None,
                });
                let became = if loaded.is_ok() { "loaded" } else { "failed" };
                self.coverage.count_of("load region", became);
                Heard::RegionLoaded {
                    region,
                    epoch,
                    loaded,
                }
            }
            Why::Character(who) => {
                let loaded = store(result, |answer| match answer {
                    Answer::LoadCharacter(reply) => Some(reply),
                    _ => None,
                });
                Heard::CharacterLoaded { who, loaded }
            }
            Why::Owner {
                who,
                h,
                source_dead,
            } => {
                let owned = store(result, |answer| match answer {
                    Answer::CharacterOwner(reply) => Some(reply),
                    _ => None,
                });
                let became = if owned.is_ok() { "known" } else { "silent" };
                self.coverage.count_of("owner", became);
                Heard::Owner {
                    who,
                    h,
                    owned: owned.ok(),
                    source_dead,
                }
            }
            Why::Drain => Heard::Drained(result.is_ok()),
            Why::Renew { asked_ms } => {
                let renewed = store(result, |answer| match answer {
                    Answer::Renew(reply) => Some(reply),
                    _ => None,
                });
                let reply = renewed.ok()?;
                Heard::Renewed { reply, asked_ms }
            }
            Why::Online => {
                let online = store(result, |answer| match answer {
                    Answer::OnlineCharacters(reply) => Some(reply.characters),
                    _ => None,
                });
                Heard::Online(online.ok()?)
            }
            why => self.heard_of_peer(why, result)?,
        })
    }

    fn heard_of_peer(&mut self, why: Why, result: Result<Reply, Status>) -> Option<Heard> {
        let answer = match result {
            Ok(Reply::Peer(answer)) => Some(answer),
            _ => None,
        };
        let known = |known: Option<bool>| match known {
            Some(true) => "known",
            Some(false) => "unknown",
            None => "silent",
        };
        Some(match (why, answer) {
            (Why::Prepare { who, attempt }, answer) => {
                let reply = match answer {
                    Some(PeerAnswer::Prepare(reply)) => Some(reply),
                    _ => None,
                };
                if reply.is_none() {
                    self.coverage.count("prepare: silent");
                }
                Heard::Prepared {
                    who,
                    attempt,
                    reply,
                }
            }
            (Why::Complete { who, h }, answer) => {
                let said = match answer {
                    Some(PeerAnswer::Complete(reply)) => Some(reply.known),
                    _ => None,
                };
                self.coverage.count_of("complete", known(said));
                let known = said;
                Heard::Completed { who, h, known }
            }
            (Why::CompleteRegion { region, epoch }, answer) => {
                let said = match answer {
                    Some(PeerAnswer::CompleteRegion(reply)) => Some(reply.known),
                    _ => None,
                };
                self.coverage.count_of("complete region", known(said));
                Heard::RegionCompleted {
                    region,
                    epoch,
                    known: said,
                }
            }
            (why, answer) => self.heard_of_offer(why, answer)?,
        })
    }

    fn heard_of_offer(&mut self, why: Why, answer: Option<PeerAnswer>) -> Option<Heard> {
        match why {
            Why::PrepareRegion { region, attempt } => {
                let reply = match answer {
                    Some(PeerAnswer::PrepareRegion(reply)) => Some(reply),
                    _ => None,
                };
                if reply.is_none() {
                    self.coverage.count("prepare region: silent");
                }
                Some(Heard::RegionPrepared {
                    region,
                    attempt,
                    reply,
                })
            }
            Why::Locate {
                who,
                attempt,
                run_id,
            } => {
                let reply = match answer {
                    Some(PeerAnswer::Locate(reply)) => Some(reply),
                    _ => None,
                };
                self.coverage.count(match &reply {
                    Some(reply) if reply.region.is_some() => "locate: here",
                    Some(_) => "locate: not here",
                    None => "locate: silent",
                });
                Some(Heard::Located {
                    who,
                    attempt,
                    run_id,
                    reply,
                })
            }
            _ => None,
        }
    }
}

/// Returns the answer of the store to the very call.
fn store<T>(
    result: Result<Reply, Status>,
    pick: impl FnOnce(Answer) -> Option<T>,
) -> Result<T, Status> {
    let answer = match result? {
        Reply::Store(answer) => pick(answer),
        Reply::Peer(_) => None,
    };
    answer.ok_or_else(|| Status::internal("the answer to another call"))
}
