//! The store as zones reach it.

use proto::rpc::persistence::v1::{
    CharacterOwnerRequest, CharacterOwnership, CharacterRecord, CommitHeader, CommitPart,
    CommitReply, DirectoryUpdate, DrainReply, DrainRequest, EndedReply, EndedRequest, GroundItem,
    LoadCharacterRequest, LoadRegionReply, LoadRegionRequest, MirrorItemsReply, MirrorItemsRequest,
    OnlineCharactersReply, OnlineCharactersRequest, QuarantineReply, QuarantineRequest,
    RegisterReply, RegisterRequest, ReleaseReply, ReleaseRequest, RenewReply, RenewRequest,
    SuspectReply, SuspectRequest, WatchRequest, commit_part, commit_reply,
    directory_server::Directory, runs_server::Runs,
};
use tokio_stream::{StreamExt, wrappers::WatchStream};
use tonic::{Request, Response, Status, Streaming};
use world::Region;

use super::{NEWER, Rows, State, Store, key, now_ms};

#[tonic::async_trait]
impl Runs for Store {
    async fn register(
        &self,
        request: Request<RegisterRequest>,
    ) -> Result<Response<RegisterReply>, Status> {
        let request = request.into_inner();
        let run_id = self.change(|state| {
            let run_id = state.runs.len() as u64 + 1;
            state.runs.insert(run_id, request.address);
            state.contents.insert(run_id, request.content_hash);
            run_id
        });
        Ok(Response::new(RegisterReply {
            run_id,
            store_time_ms: now_ms(),
            lease_ms: 3000,
            incarnation: self.read(State::incarnation),
            knows_positions: self.read(State::says_positions),
        }))
    }

    async fn mirror_items(
        &self,
        request: Request<MirrorItemsRequest>,
    ) -> Result<Response<MirrorItemsReply>, Status> {
        let page = request.into_inner();
        let changed = u32::try_from(page.items.len()).unwrap();
        self.change(|state| {
            let items = state.items.entry(page.run_id).or_default();
            items.extend(page.items.into_iter().map(|item| item.id));
        });
        Ok(Response::new(MirrorItemsReply { changed }))
    }

    async fn renew(&self, request: Request<RenewRequest>) -> Result<Response<RenewReply>, Status> {
        let run = request.into_inner().run_id;
        let mut state = self.state.lock().unwrap();
        state.renewals += 1;
        let ahead = state.faults.clock_ahead_ms.get(&run);
        Ok(Response::new(RenewReply {
            state: state.told_state(run),
            store_time_ms: now_ms() + ahead.copied().unwrap_or(0),
            incarnation: state.incarnation(),
        }))
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainReply>, Status> {
        let run = request.into_inner().run_id;
        self.change(|state| {
            if !state.draining.contains(&run) {
                state.draining.push(run);
            }
        });
        Ok(Response::new(DrainReply {}))
    }

    async fn ended(&self, request: Request<EndedRequest>) -> Result<Response<EndedReply>, Status> {
        let request = request.into_inner();
        self.change(|state| {
            state.fenced.push(request.run_id);
            state.ended.push(request);
        });
        Ok(Response::new(EndedReply {}))
    }

    async fn release(
        &self,
        request: Request<ReleaseRequest>,
    ) -> Result<Response<ReleaseReply>, Status> {
        let run = request.into_inner().run_id;
        self.change(|state| {
            state.fenced.push(run);
            state.released.push(run);
        });
        Ok(Response::new(ReleaseReply {}))
    }

    async fn load_region(
        &self,
        request: Request<LoadRegionRequest>,
    ) -> Result<Response<LoadRegionReply>, Status> {
        let request = request.into_inner();
        let region = key(request.region);
        self.change(|state| state.regions_asked += 1);
        while self.read(|state| state.faults.regions_held) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        self.read(|state| {
            if state.owners.get(&region) != Some(&(request.run_id, request.epoch)) {
                return Err(Status::permission_denied("not the owner"));
            }
            let there = state.characters.values();
            let there = there.filter(|c| c.online && key(c.record.region) == region);
            Ok(Response::new(LoadRegionReply {
                characters: there.map(|c| c.record.clone()).collect(),
                state: state.states.get(&region).cloned().unwrap_or_default(),
                ground: {
                    let of_region = |thing: &&GroundItem| key(thing.region) == region;
                    state.ground.values().filter(of_region).cloned().collect()
                },
                played_tick: state.played.get(&region).copied().unwrap_or(0),
                chunks: {
                    let of_region = |(x, z): (i32, i32)| Region {
                        x: x.div_euclid(8),
                        z: z.div_euclid(8),
                    };
                    let chunks = state.chunks.iter();
                    let chunks = chunks.filter(|(at, _)| of_region(**at) == region);
                    chunks.map(|(_, row)| row.clone()).collect()
                },
            }))
        })
    }

    async fn quarantine(
        &self,
        request: Request<QuarantineRequest>,
    ) -> Result<Response<QuarantineReply>, Status> {
        let id = request.into_inner().character_id;
        self.change(|state| {
            if let Some(character) = state.characters.get_mut(&id) {
                character.online = false;
                character.logout = Some("quarantined".to_owned());
            }
        });
        Ok(Response::new(QuarantineReply {}))
    }

    async fn load_character(
        &self,
        request: Request<LoadCharacterRequest>,
    ) -> Result<Response<CharacterRecord>, Status> {
        let request = request.into_inner();
        self.change(|state| state.asked.push(request.character_id.clone()));
        while self.read(|state| state.faults.characters_held) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let row = self.read(|state| {
            let character = state.characters.get(&request.character_id);
            let character = character.filter(|c| c.online);
            let character = character.ok_or_else(|| Status::not_found("not online"))?;
            if state.owned_by(key(character.record.region)) != request.run_id {
                return Err(Status::permission_denied("not the owner"));
            }
            Ok(Response::new(character.record.clone()))
        });
        while self.read(|state| state.faults.characters_late) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        row
    }

    async fn online_characters(
        &self,
        request: Request<OnlineCharactersRequest>,
    ) -> Result<Response<OnlineCharactersReply>, Status> {
        let run = request.into_inner().run_id;
        let characters = self.read(|state| {
            let online = state.characters.values().filter(|c| c.online);
            let all = online.map(|c| state.ownership(c));
            all.filter(|o| o.run_id == run).collect()
        });
        Ok(Response::new(OnlineCharactersReply { characters }))
    }

    async fn character_owner(
        &self,
        request: Request<CharacterOwnerRequest>,
    ) -> Result<Response<CharacterOwnership>, Status> {
        let id = request.into_inner().character_id;
        self.read(|state| {
            let character = state.characters.get(&id);
            let character = character.ok_or_else(|| Status::not_found("no such character"))?;
            Ok(Response::new(state.ownership(character)))
        })
    }

    async fn commit(
        &self,
        request: Request<Streaming<CommitPart>>,
    ) -> Result<Response<CommitReply>, Status> {
        let mut parts = request.into_inner();
        let mut header = CommitHeader::default();
        let mut rows = Rows::default();
        let old = self.read(|state| state.faults.no_positions);
        while let Some(part) = parts.message().await? {
            match part.part {
                Some(commit_part::Part::Header(first)) => header = first,
                Some(commit_part::Part::Rows(mut more)) => {
                    if old {
                        more.positions.clear();
                    }
                    rows.add(more);
                }
                None => return Err(Status::invalid_argument("empty part")),
            }
        }
        if old && rows.len() < header.rows as usize {
            self.state.lock().unwrap().cut_off += 1;
            return Err(Status::data_loss("the batch was cut off"));
        }
        if header.rows as usize != rows.len() {
            return Err(Status::invalid_argument("rows are missing"));
        }
        self.state.lock().unwrap().commits_come += 1;
        while self.read(|state| state.faults.commits_held) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let mut state = self.state.lock().unwrap();
        let gives = !rows.gives.is_empty();
        let mut reply = state.commit(&header, rows);
        reply.knows_positions = state.says_positions();
        let heard = reply.outcome() == commit_reply::Outcome::Done && gives;
        if state.faults.replies_lost > 0 {
            state.faults.replies_lost -= 1;
            return Err(Status::unavailable("the answer is lost"));
        }
        if state.faults.newer_outcomes > 0 {
            state.faults.newer_outcomes -= 1;
            reply.outcome = NEWER;
        }
        drop(state);
        if heard {
            self.change(|_| ());
        }
        Ok(Response::new(reply))
    }
}

#[tonic::async_trait]
impl Directory for Store {
    type WatchStream =
        std::pin::Pin<Box<dyn tokio_stream::Stream<Item = Result<DirectoryUpdate, Status>> + Send>>;

    async fn suspect(
        &self,
        request: Request<SuspectRequest>,
    ) -> Result<Response<SuspectReply>, Status> {
        let SuspectRequest { run_id, witness } = request.into_inner();
        self.change(|state| state.suspects.push((run_id, witness)));
        Ok(Response::new(SuspectReply {}))
    }

    async fn watch(
        &self,
        _request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let store = self.clone();
        let changes = WatchStream::new(self.version.subscribe());
        let changes = changes.map(move |version| Ok(store.directory_update(version)));
        let every = tokio::time::interval(std::time::Duration::from_secs(1));
        let alive = tokio_stream::wrappers::IntervalStream::new(every).map(|_| {
            Ok(DirectoryUpdate {
                unchanged: true,
                ..DirectoryUpdate::default()
            })
        });
        Ok(Response::new(Box::pin(changes.merge(alive))))
    }
}
