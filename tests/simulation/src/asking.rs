//! Turns the requests of runs into calls.

use std::sync::Arc;

use persistence_svc::simulation::Ask as StoreAsk;
use proto::rpc::{
    common::v1 as common,
    persistence::v1::{
        CharacterOwnerRequest, DrainRequest, LoadCharacterRequest, LoadRegionRequest,
    },
};
use world::Region;
use zone_server::simulation::{Ask, PeerAsk};

use super::{
    Sim,
    bus::{Call, Callee, Why},
    land, zone,
};

impl Sim {
    /// Passes on a request of the run `run_id`, the life of a zone. The run hears the answer or its
    /// absence.
    pub(crate) fn asks(&mut self, by: (usize, u64), run_id: u64, ask: Ask) {
        let (why, callee, deadline_ms) = match ask {
            Ask::LoadRegion { region, epoch } => {
                let request = LoadRegionRequest {
                    run_id,
                    region: Some(land::rpc_region(region)),
                    epoch,
                };
                let ask = StoreAsk::LoadRegion(request);
                (Why::Region { region, epoch }, Callee::store(ask), 5_000)
            }
            Ask::LoadCharacter { who } => {
                let request = LoadCharacterRequest {
                    run_id,
                    character_id: who.to_string(),
                };
                let ask = StoreAsk::LoadCharacter(request);
                (Why::Character(who), Callee::store(ask), 2_000)
            }
            Ask::Owner {
                who,
                h,
                source_dead,
            } => {
                let request = CharacterOwnerRequest {
                    character_id: who.to_string(),
                };
                let why = Why::Owner {
                    who,
                    h,
                    source_dead,
                };
                (why, Callee::store(StoreAsk::CharacterOwner(request)), 2_000)
            }
            Ask::Commit { sequence, parts } => {
                let ask = StoreAsk::Commit(Arc::clone(&parts));
                let why = Why::Commit {
                    sequence,
                    parts,
                    tries: 0,
                };
                (why, Callee::store(ask), 2_000)
            }
            Ask::Quarantine { who } => {
                return self.breaks(format!("run {run_id} cannot read {who}"));
            }
            Ask::Drain => {
                let ask = StoreAsk::Drain(DrainRequest { run_id });
                (Why::Drain, Callee::store(ask), 2_000)
            }
            peer => self.asks_peer(by, peer),
        };
        let by = Some(by);
        self.call(Call { by, why }, callee, deadline_ms);
    }

    fn asks_peer(&mut self, by: (usize, u64), ask: Ask) -> (Why, Callee, u64) {
        match ask {
            Ask::Prepare {
                address,
                who,
                attempt,
                request,
            } => {
                if request.pull_target.is_empty() {
                    self.law_of_pins(by.0, &who);
                } else {
                    self.coverage.count("pull: asked");
                }
                let callee = Callee::Zone(zone::at(&address), PeerAsk::Prepare(request));
                (Why::Prepare { who, attempt }, callee, 500)
            }
            Ask::Complete {
                address,
                who,
                h,
                request,
            } => {
                let callee = Callee::Zone(zone::at(&address), PeerAsk::Complete(request));
                (Why::Complete { who, h }, callee, 1_000)
            }
            Ask::Forward {
                address,
                who,
                request,
            } => {
                let to = zone::at(&address);
                let callee = Callee::Zone(to, PeerAsk::Forward(request.clone()));
                let why = Why::Forward {
                    who,
                    to,
                    request,
                    tries: 0,
                };
                (why, callee, 1_000)
            }
            region => asks_for_region(region),
        }
    }
}

fn asks_for_region(ask: Ask) -> (Why, Callee, u64) {
    match ask {
        Ask::PrepareRegion {
            address,
            attempt,
            request,
        } => {
            let why = Why::PrepareRegion {
                region: region(request.region),
                attempt,
            };
            let callee = Callee::Zone(zone::at(&address), PeerAsk::PrepareRegion(request));
            (why, callee, 500)
        }
        Ask::CompleteRegion { address, request } => {
            let why = Why::CompleteRegion {
                region: region(request.region),
                epoch: request.epoch,
            };
            let callee = Callee::Zone(zone::at(&address), PeerAsk::CompleteRegion(request));
            (why, callee, 2_000)
        }
        Ask::Locate {
            address,
            who,
            attempt,
            request,
        } => {
            let why = Why::Locate {
                who,
                attempt,
                run_id: request.to_run_id,
            };
            let callee = Callee::Zone(zone::at(&address), PeerAsk::Locate(request));
            (why, callee, 300)
        }
        other => unreachable!("{other:?} is not about a region"),
    }
}

fn region(of: Option<common::Region>) -> Region {
    let of = of.unwrap_or_default();
    Region { x: of.x, z: of.z }
}
