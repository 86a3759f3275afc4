//! `Runs`: the right to live, to own and to write.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::ended_request::Reason;
use proto::rpc::persistence::v1::runs_server::Runs;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::model::{number, ownership, region, small, state, text, wire_record};
use super::{Desk, Failure, malformed, value};
use super::{commit, items};
use crate::placement::planner::millis;
use crate::store::model::{Ended, Load, Region, RegionLoad, Registration, Renewal, RunState};
use crate::store::unsigned;

/// Most regions of a world.
const REGIONS_MAX: usize = 4_096;
/// Most characters that one call may quarantine. If more seem at fault, the fault lies elsewhere.
const QUARANTINE_MAX: usize = 1_000;
/// Limit for the load of a crowded region; the caller's own deadline ends the wait before it.
const LOAD_LIMIT: Duration = Duration::from_secs(10);

/// Reads the loads of regions. Each region must appear once.
fn loads(said: Vec<wire::RegionLoad>) -> Result<Vec<RegionLoad>, Failure> {
    if said.len() > REGIONS_MAX {
        return Err(malformed("regions: too many"));
    }
    let mut loads = BTreeMap::new();
    for load in said {
        let place = region("regions", load.region)?;
        let load = RegionLoad {
            region: place,
            cost_us: small("cost_us", load.cost_us)?,
            players: small("players", load.players)?,
        };
        if loads.insert(place, load).is_some() {
            return Err(malformed("regions: one is there twice"));
        }
    }
    Ok(loads.into_values().collect())
}

/// Reads the number of each region's town, counted from 1; the first one that names it.
fn towns(said: Vec<wire::Town>) -> Result<BTreeMap<Region, i32>, Failure> {
    if said.iter().map(|town| town.regions.len()).sum::<usize>() > REGIONS_MAX {
        return Err(malformed("towns: too many regions"));
    }
    let mut towns = BTreeMap::new();
    for (number, town) in (1..).zip(said) {
        for place in town.regions {
            towns.entry(region("towns", Some(place))?).or_insert(number);
        }
    }
    Ok(towns)
}

/// Reads how a run ended. It leaves out the fields that the reason does not concern.
fn ended(ask: wire::EndedRequest) -> Result<Ended, Failure> {
    if ask.regions.len() > REGIONS_MAX || ask.character_ids.len() > QUARANTINE_MAX {
        return Err(malformed("too much is at fault"));
    }
    let mut ended = Ended {
        run: number("run_id", ask.run_id)?,
        ..Ended::default()
    };
    // A newer zone server may have ended for a reason that has no name here. It has ended all the
    // same, and its regions must count their faults, or they would end one run after the other.
    let reason = Reason::try_from(ask.reason).unwrap_or(Reason::Panicked);
    match reason {
        Reason::Unspecified => return Err(malformed("reason is missing")),
        Reason::Panicked | Reason::Wedged => {
            let regions = ask.regions.into_iter();
            let regions = regions.map(|one| region("regions", Some(one)));
            ended.faults = regions.collect::<Result<_, _>>()?;
        }
        Reason::Refused => {
            let ids = ask.character_ids.into_iter();
            let ids = ids.map(|id| text("character_ids", id));
            ended.quarantine = ids.collect::<Result<_, _>>()?;
        }
    }
    Ok(ended)
}

/// The service.
pub(crate) struct RunsService(pub(crate) Arc<Desk>);

#[async_trait]
impl Runs for RunsService {
    async fn register(
        &self,
        request: Request<wire::RegisterRequest>,
    ) -> Result<Response<wire::RegisterReply>, Status> {
        let ask = request.into_inner();
        let lease = self.0.lease;
        let work = async {
            if ask.regions.len() > REGIONS_MAX {
                return Err(malformed("regions: too many"));
            }
            let given = ask.regions.into_iter();
            let regions = given.map(|one| region("regions", Some(one)));
            let mut regions = regions.collect::<Result<Vec<_>, _>>()?;
            regions.sort_unstable();
            regions.dedup();
            let registration = Registration {
                address: text("address", ask.address)?,
                build: ask.build.chars().take(64).collect(),
                content_hash: text("content_hash", ask.content_hash)?,
                regions,
                towns: towns(ask.towns)?,
                lease_ms: millis(lease),
            };
            let address = registration.address.clone();
            let registered = self.0.store.register(registration).await?;
            tracing::info!(run = registered.run, address, "a run registered");
            Ok(wire::RegisterReply {
                run_id: unsigned(registered.run)?,
                store_time_ms: unsigned(registered.now_ms)?,
                lease_ms: u32::try_from(lease.as_millis()).unwrap_or(u32::MAX),
                incarnation: unsigned(registered.incarnation)?,
                knows_positions: true,
            })
        };
        self.0.answer("Register", work).await
    }

    async fn renew(
        &self,
        request: Request<wire::RenewRequest>,
    ) -> Result<Response<wire::RenewReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let renewal = Renewal {
                run: number("run_id", ask.run_id)?,
                players: small("players", ask.players)?,
                tick_cost_us: small("tick_cost_us", ask.tick_cost_us)?,
                loads: loads(ask.regions)?,
                lease_ms: millis(self.0.lease),
            };
            let renewed = self.0.store.renew(renewal).await?;
            if renewed.state == RunState::Fenced {
                self.0.metrics.fenced();
            } else {
                self.0.metrics.renewed();
            }
            Ok(wire::RenewReply {
                state: state(renewed.state).into(),
                store_time_ms: unsigned(renewed.now_ms)?,
                incarnation: unsigned(renewed.incarnation)?,
            })
        };
        self.0.answer("Renew", work).await
    }

    async fn drain(
        &self,
        request: Request<wire::DrainRequest>,
    ) -> Result<Response<wire::DrainReply>, Status> {
        let run = number("run_id", request.into_inner().run_id);
        let work = async {
            let run = run?;
            if self.0.store.drain(run).await? {
                tracing::info!(run, "a run gives its regions away");
            }
            Ok(wire::DrainReply {})
        };
        self.0.answer("Drain", work).await
    }

    async fn ended(
        &self,
        request: Request<wire::EndedRequest>,
    ) -> Result<Response<wire::EndedReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let reason = ask.reason();
            let ended = ended(ask)?;
            let (run, ids) = (ended.run, ended.quarantine.clone());
            if self.0.store.ended(ended).await? {
                tracing::error!(run, ?reason, quarantined = ?ids, "a run ended by a fault");
            }
            Ok(wire::EndedReply {})
        };
        self.0.answer("Ended", work).await
    }

    async fn mirror_items(
        &self,
        request: Request<wire::MirrorItemsRequest>,
    ) -> Result<Response<wire::MirrorItemsReply>, Status> {
        let work = async {
            let page = items::page(request.into_inner())?;
            let changed = self.0.store.mirror_items(page).await?;
            let changed = u32::try_from(changed).unwrap_or(u32::MAX);
            Ok(wire::MirrorItemsReply { changed })
        };
        self.0.answer("MirrorItems", work).await
    }

    async fn release(
        &self,
        request: Request<wire::ReleaseRequest>,
    ) -> Result<Response<wire::ReleaseReply>, Status> {
        let run = number("run_id", request.into_inner().run_id);
        let work = async {
            let run = run?;
            self.0.store.release(run).await?;
            tracing::info!(run, "a run ended");
            Ok(wire::ReleaseReply {})
        };
        self.0.answer("Release", work).await
    }

    async fn load_region(
        &self,
        request: Request<wire::LoadRegionRequest>,
    ) -> Result<Response<wire::LoadRegionReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let run = number("run_id", ask.run_id)?;
            let place = region("region", ask.region)?;
            let epoch = number("epoch", ask.epoch)?;
            let loaded = self.0.store.load_region(run, place, epoch).await?;
            self.0.plans.link_load(place, epoch);
            let characters = loaded.characters.into_iter().map(wire_record);
            let ground = loaded.ground.into_iter().map(value::wire_ground_item);
            Ok(wire::LoadRegionReply {
                characters: characters.collect::<Result<_, _>>()?,
                state: loaded.state.into(),
                ground: ground.collect::<Result<_, _>>()?,
                played_tick: unsigned(loaded.played_tick)?,
                chunks: loaded.chunks.into_iter().map(value::wire_chunk).collect(),
            })
        };
        self.0.answer_within(LOAD_LIMIT, "LoadRegion", work).await
    }

    async fn quarantine(
        &self,
        request: Request<wire::QuarantineRequest>,
    ) -> Result<Response<wire::QuarantineReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let run = number("run_id", ask.run_id)?;
            let id = text("character_id", ask.character_id)?;
            self.0.store.quarantine(run, &id).await?;
            tracing::error!(run, character = id, "a run cannot read a character");
            Ok(wire::QuarantineReply {})
        };
        self.0.answer("Quarantine", work).await
    }

    async fn load_character(
        &self,
        request: Request<wire::LoadCharacterRequest>,
    ) -> Result<Response<wire::CharacterRecord>, Status> {
        let ask = request.into_inner();
        let work = async {
            let ask = Load {
                run: number("run_id", ask.run_id)?,
                character_id: text("character_id", ask.character_id)?,
            };
            wire_record(self.0.arrivals.load.ask(ask).await?)
        };
        self.0.answer("LoadCharacter", work).await
    }

    async fn online_characters(
        &self,
        request: Request<wire::OnlineCharactersRequest>,
    ) -> Result<Response<wire::OnlineCharactersReply>, Status> {
        let run = number("run_id", request.into_inner().run_id);
        let work = async {
            let characters = self.0.store.online_characters(run?).await?.into_iter();
            let characters = characters.map(ownership).collect::<Result<_, _>>()?;
            Ok(wire::OnlineCharactersReply { characters })
        };
        self.0.answer("OnlineCharacters", work).await
    }

    async fn character_owner(
        &self,
        request: Request<wire::CharacterOwnerRequest>,
    ) -> Result<Response<wire::CharacterOwnership>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("character_id", ask.character_id)?;
            ownership(self.0.store.character_owner(&id).await?)
        };
        self.0.answer("CharacterOwner", work).await
    }

    async fn commit(
        &self,
        request: Request<Streaming<wire::CommitPart>>,
    ) -> Result<Response<wire::CommitReply>, Status> {
        commit::commit(&self.0, request.into_inner()).await
    }
}
