//! Live queries to zones: where a character stands, how full regions are, and how long ticks take.
//!
//! Always: no call to a zone takes longer than [`DEADLINE`], but for a record and a profile: they take
//! their time. The gateway asks how full regions are at most once in [`KEPT`]. It leaves out zones that
//! do not answer, and never guesses.

use std::{collections::BTreeMap, time::Duration};

use proto::rpc::{
    queries::v1::{
        CrowdRequest, WhereaboutsReply, WhereaboutsRequest, live_queries_client::LiveQueriesClient,
    },
    zone::v1::{
        ProfilePart, ProfileRequest, RecordPart, RecordRequest, inspect_client::InspectClient,
    },
};
use service_runtime::rpc::{Channels, Role, Trust};
use tokio::{
    sync::Mutex as AsyncMutex,
    time::{Instant, timeout},
};
use tonic::{Code, Response, Status, Streaming, transport::Channel};
use world::{Region, TICK_MS};

use crate::directory::DirectoryView;

/// Longest time for a call to a zone.
const DEADLINE: Duration = Duration::from_millis(500);
/// Ticks that a record may take beyond its own.
const SPARE_TICKS: u64 = 15;
/// Time in which a process finds the names of the functions of a profile.
pub(crate) const NAMING: Duration = Duration::from_secs(20);
/// Time for which an answer about all zones is good.
const KEPT: Duration = Duration::from_secs(1);

/// Number of players and NPCs of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowd {
    pub(crate) players: u32,
    pub(crate) npcs: u32,
}

/// The pace of a run that answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Its last tick.
    pub(crate) tick: u64,
    /// Mean work of a tick, in microseconds; `None`: the zone is of a version that does not tell, or has
    /// played none.
    pub(crate) tick_us: Option<u32>,
    /// Mean time of a commit, in microseconds; `None` likewise.
    pub(crate) commit_us: Option<u32>,
}

/// Numbers for the regions of all zones that answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowds {
    /// The last tick that any zone played; 0: none answered.
    pub(crate) tick: u64,
    /// The pace of each run that answered.
    pub(crate) paces: BTreeMap<u64, Pace>,
    pub(crate) regions: BTreeMap<Region, Crowd>,
}

/// Clients of the zones, and their last answer.
pub(crate) struct LiveQueries {
    zones: Channels,
    last: AsyncMutex<Option<(Instant, Crowds)>>,
}

impl LiveQueries {
    /// Connects when first used.
    pub(crate) fn new(trust: &Trust) -> Self {
        Self {
            zones: Channels::new(trust, Role::Zone),
            last: AsyncMutex::default(),
        }
    }

    /// Asks where a character stands: first the run that plays `region`, then all others. `None`:
    /// no run knows.
    pub(crate) async fn whereabouts(
        &self,
        view: &DirectoryView,
        region: Region,
        character_id: &str,
    ) -> Option<WhereaboutsReply> {
        let owner = view.owner_of(region)?;
        if let Some(found) = self.of_run(view, owner.run_id, character_id).await {
            return Some(found);
        }
        // The character may have crossed a border since the store's answer.
        let others = view.runs().filter(|run| run.run_id != owner.run_id);
        let asked = others.map(|run| self.of_run(view, run.run_id, character_id));
        let found = futures::future::join_all(asked).await;
        found.into_iter().flatten().next()
    }

    /// Asks a zone for a record of its next ticks. Returns its parts when the ticks were played.
    ///
    /// # Errors
    /// The zone's; NOT_FOUND: no such run; DEADLINE_EXCEEDED: it does not answer in time.
    pub(crate) async fn record(
        &self,
        view: &DirectoryView,
        run_id: u64,
        ticks: u32,
    ) -> Result<Streaming<RecordPart>, Status> {
        let mut client = self.inspected(view, run_id)?;
        let deadline = Duration::from_millis((u64::from(ticks) + SPARE_TICKS) * TICK_MS);
        within(deadline, client.record(RecordRequest { run_id, ticks })).await
    }

    /// Asks a zone for a profile of its processor. Returns its parts after these seconds.
    ///
    /// # Errors
    /// As for a record.
    pub(crate) async fn profile(
        &self,
        view: &DirectoryView,
        run_id: u64,
        seconds: u32,
    ) -> Result<Streaming<ProfilePart>, Status> {
        let mut client = self.inspected(view, run_id)?;
        let deadline = Duration::from_secs(seconds.into()) + NAMING;
        within(deadline, client.profile(ProfileRequest { run_id, seconds })).await
    }

    fn inspected(
        &self,
        view: &DirectoryView,
        run_id: u64,
    ) -> Result<InspectClient<Channel>, Status> {
        let none = || Status::not_found("no such run lives");
        let run = view.run(run_id).ok_or_else(none)?;
        let channel = self.zones.to(&run.address).ok_or_else(none)?;
        Ok(InspectClient::new(channel))
    }

    async fn of_run(
        &self,
        view: &DirectoryView,
        run_id: u64,
        character_id: &str,
    ) -> Option<WhereaboutsReply> {
        let mut client = self.client(view, run_id)?;
        let ask = WhereaboutsRequest {
            run_id,
            character_id: character_id.to_owned(),
        };
        match timeout(DEADLINE, client.whereabouts(ask)).await {
            Ok(Ok(reply)) => Some(reply.into_inner()),
            Ok(Err(status)) if status.code() == Code::NotFound => None,
            Ok(Err(status)) => {
                tracing::debug!(run = run_id, %status, "a zone does not say where somebody is");
                None
            }
            Err(_) => None,
        }
    }

    /// Returns how full all regions are.
    pub(crate) async fn crowds(&self, view: &DirectoryView) -> Crowds {
        let mut last = self.last.lock().await;
        if let Some((at, crowds)) = &*last
            && at.elapsed() < KEPT
        {
            return crowds.clone();
        }
        let asked = view.runs().map(|run| self.crowd(view, run.run_id));
        let answers = futures::future::join_all(asked).await;
        let mut crowds = Crowds::default();
        for (run, answer) in view.runs().zip(answers) {
            let Some((pace, regions)) = answer else {
                continue;
            };
            crowds.tick = crowds.tick.max(pace.tick);
            crowds.paces.insert(run.run_id, pace);
            crowds.regions.extend(regions);
        }
        *last = Some((Instant::now(), crowds.clone()));
        crowds
    }

    async fn crowd(
        &self,
        view: &DirectoryView,
        run_id: u64,
    ) -> Option<(Pace, Vec<(Region, Crowd)>)> {
        let mut client = self.client(view, run_id)?;
        let reply = timeout(DEADLINE, client.crowd(CrowdRequest { run_id })).await;
        let reply = reply.ok()?.ok()?.into_inner();
        let regions = reply.regions.into_iter().filter_map(|row| {
            let at = row.region?;
            let (players, npcs) = (row.players, row.npcs);
            Some((Region { x: at.x, z: at.z }, Crowd { players, npcs }))
        });
        let pace = Pace {
            tick: reply.tick,
            tick_us: told(reply.tick_us),
            commit_us: told(reply.commit_us),
        };
        Some((pace, regions.collect()))
    }

    fn client(&self, view: &DirectoryView, run_id: u64) -> Option<LiveQueriesClient<Channel>> {
        let channel = self.zones.to(&view.run(run_id)?.address)?;
        Some(LiveQueriesClient::new(channel))
    }
}

/// Returns a mean in microseconds, which no process measures as 0.
pub(crate) fn told(us: u32) -> Option<u32> {
    (us > 0).then_some(us)
}

/// Waits for the beginning of an answer in parts.
pub(crate) async fn within<T>(
    deadline: Duration,
    asked: impl Future<Output = Result<Response<Streaming<T>>, Status>>,
) -> Result<Streaming<T>, Status> {
    let parts = timeout(deadline, asked).await;
    let parts = parts.map_err(|_| Status::deadline_exceeded("no answer in time"))?;
    Ok(parts?.into_inner())
}
