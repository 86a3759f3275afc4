//! Requests of zones to the store.

use proto::rpc::common::v1::Region;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_part::Part;
use tonic::{Status, Streaming};

use super::{Stage, Zone, unique, until, watch};

impl Stage {
    pub(crate) async fn register(&self, regions: &[Region]) -> wire::RegisterReply {
        let ask = wire::RegisterRequest {
            address: format!("127.0.0.1:{}", 20_000 + unique()),
            build: "test".to_owned(),
            content_hash: "content".to_owned(),
            regions: regions.to_vec(),
            ..wire::RegisterRequest::default()
        };
        self.runs().register(ask).await.unwrap().into_inner()
    }

    /// Registers a run and waits until it owns a region of its own, `place`.
    pub(crate) async fn zone(&self, place: Region) -> Zone {
        let run = self.register(&[place]).await.run_id;
        let epoch = until("the run owns its region", async || {
            let owner = self.owner(place).await;
            (owner.run_id == run).then_some(owner.epoch)
        })
        .await;
        Zone { run, place, epoch }
    }

    /// Returns the owner of a region, by the directory.
    pub(crate) async fn owner(&self, place: Region) -> wire::RegionOwner {
        let directory = self.directory().await;
        let mut owners = directory.regions.into_iter();
        let owner = owners.find(|owner| owner.region == Some(place));
        owner.unwrap_or_default()
    }

    /// Returns the owner of a region, by the store itself.
    pub(crate) async fn owner_at_once(&self, place: Region) -> String {
        let (x, z) = (place.x, place.z);
        let query = format!("SELECT run_id FROM regions WHERE region_x = {x} AND region_z = {z}");
        self.ask(&query).await.pop().unwrap()
    }

    pub(crate) async fn watch(&self) -> Streaming<wire::DirectoryUpdate> {
        watch(self.channel()).await
    }

    /// Returns the newest directory.
    pub(crate) async fn directory(&self) -> wire::DirectoryUpdate {
        self.watch().await.message().await.unwrap().unwrap()
    }

    pub(crate) async fn renew(&self, run: u64) -> wire::RunState {
        let ask = wire::RenewRequest {
            run_id: run,
            players: 3,
            tick_cost_us: 900,
            ..wire::RenewRequest::default()
        };
        let reply = self.runs().renew(ask).await.unwrap().into_inner();
        reply.state()
    }

    pub(crate) async fn release(&self, run: u64) {
        let ask = wire::ReleaseRequest { run_id: run };
        self.runs().release(ask).await.unwrap();
    }

    pub(crate) async fn load_region(&self, zone: &Zone) -> Result<wire::LoadRegionReply, Status> {
        let ask = wire::LoadRegionRequest {
            run_id: zone.run,
            region: Some(zone.place),
            epoch: zone.epoch,
        };
        Ok(self.runs().load_region(ask).await?.into_inner())
    }

    pub(crate) async fn load(&self, run: u64, id: &str) -> Result<wire::CharacterRecord, Status> {
        let ask = wire::LoadCharacterRequest {
            run_id: run,
            character_id: id.to_owned(),
        };
        Ok(self.runs().load_character(ask).await?.into_inner())
    }

    pub(crate) async fn owner_of(&self, id: &str) -> wire::CharacterOwnership {
        let ask = wire::CharacterOwnerRequest {
            character_id: id.to_owned(),
        };
        self.runs().character_owner(ask).await.unwrap().into_inner()
    }

    pub(crate) async fn commit(
        &self,
        run: u64,
        sequence: u64,
        rows: Vec<wire::CharacterRow>,
    ) -> wire::CommitReply {
        let count = u32::try_from(rows.len()).unwrap();
        self.send(run, sequence, count, rows).await.unwrap()
    }

    /// Sends a batch whose header says `count` rows.
    pub(crate) async fn send(
        &self,
        run: u64,
        sequence: u64,
        count: u32,
        rows: Vec<wire::CharacterRow>,
    ) -> Result<wire::CommitReply, Status> {
        let mut parts = vec![header(run, sequence, count)];
        parts.extend(rows.chunks(1_000).map(|some| {
            part(Part::Rows(wire::CommitRows {
                characters: some.to_vec(),
                ..wire::CommitRows::default()
            }))
        }));
        let reply = self.runs().commit(tokio_stream::iter(parts)).await?;
        Ok(reply.into_inner())
    }

    /// Sends a batch with rows of all kinds.
    pub(crate) async fn batch(
        &self,
        run: u64,
        sequence: u64,
        rows: wire::CommitRows,
    ) -> wire::CommitReply {
        self.try_batch(run, sequence, rows).await.unwrap()
    }

    /// Sends a batch that may get no answer.
    pub(crate) async fn try_batch(
        &self,
        run: u64,
        sequence: u64,
        rows: wire::CommitRows,
    ) -> Result<wire::CommitReply, Status> {
        let value = rows.ground.len() + rows.gone.len() + rows.ledger.len();
        let count = rows.characters.len()
            + rows.positions.len()
            + value
            + rows.gives.len()
            + rows.chunks.len()
            + rows.states.len();
        let mut parts = vec![header(run, sequence, u32::try_from(count).unwrap())];
        parts.extend(rows.characters.chunks(500).map(|some| {
            part(Part::Rows(wire::CommitRows {
                characters: some.to_vec(),
                ..wire::CommitRows::default()
            }))
        }));
        parts.push(part(Part::Rows(wire::CommitRows {
            characters: Vec::new(),
            ..rows
        })));
        let reply = self.runs().commit(tokio_stream::iter(parts)).await?;
        Ok(reply.into_inner())
    }

    /// Makes a new run that owns the region of one that ended.
    pub(crate) async fn heir(&self, of: &Zone) -> Zone {
        self.zone(of.place).await
    }
}

fn header(run: u64, sequence: u64, rows: u32) -> wire::CommitPart {
    part(Part::Header(wire::CommitHeader {
        run_id: run,
        sequence,
        tick: sequence,
        rows,
        ..wire::CommitHeader::default()
    }))
}

fn part(part: Part) -> wire::CommitPart {
    wire::CommitPart { part: Some(part) }
}
