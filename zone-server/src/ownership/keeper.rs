//! Keeps a run's right to live: registers it, renews its lease, follows the directory, and loads
//! the run's regions and characters. Decides nothing.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use opentelemetry::trace::FutureExt;
use proto::rpc::{
    common::v1 as common,
    persistence::v1::{
        DirectoryUpdate, DrainRequest, EndedRequest, LoadCharacterRequest, LoadRegionRequest,
        OnlineCharactersRequest, QuarantineRequest, RegisterRequest, ReleaseRequest, RenewRequest,
        RunState, WatchRequest, ended_request::Reason,
    },
};
use service_runtime::{
    tasks::TaskGroup,
    watchdog::{Pace, Watchdog},
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};
use world::{CharacterId, Content, Region, Tile, geometry::tile::REGION_TILES};

use super::{
    agents::AgentPoll,
    lease::{Pulse, Registered, Renewed},
    presence::Presence,
};
use crate::{
    mailbox::{Mailbox, NotHeard, StoreMessage},
    metrics::Metrics,
    store::Store,
    translate::record,
};

const RENEW_EVERY: Duration = Duration::from_secs(1);
const RECONCILE_EVERY: Duration = Duration::from_secs(5);
/// Silence after which the directory is asked anew; it gives a sign of life each second.
const SILENCE_MAX: Duration = Duration::from_secs(4);
/// Regions that are loaded at a time. They are few, so that a takeover of many regions leaves the
/// store's connections to others, above all to commits.
const REGION_LOADS_MAX: usize = 6;
/// Characters that are loaded at a time; they do not wait behind regions. The store answers for many of
/// them together, so that they take few of its connections.
const CHARACTER_LOADS_MAX: usize = 128;
/// Characters that a run may quarantine in its life. If it cannot read more than these, most likely
/// the run is at fault, and the characters wait for another one.
const QUARANTINES_MAX: usize = 100;
/// Time for a region to come with all its characters.
const LOAD_REGION_DEADLINE: Duration = Duration::from_secs(5);

/// Registers a new run, however long the store is away. Returns `None` when `stop` comes first. A
/// stop does not cut a request short. The store would then know a run that nobody lives, and peers
/// would offer their regions to it until its lease ends.
pub(crate) async fn register(
    store: &Store,
    request: &RegisterRequest,
    stop: &CancellationToken,
) -> Option<Registered> {
    let mut backoff = service_runtime::rpc::Backoff::new();
    let mut away = false;
    loop {
        let asked = Instant::now();
        let call = service_runtime::rpc::bounded(async {
            let mut client = store.runs();
            client.register(request.clone()).await
        });
        match call.await {
            Ok(reply) => {
                return Some(Registered {
                    run_id: reply.run_id,
                    incarnation: reply.incarnation,
                    store_ms: reply.store_time_ms,
                    at: middle(asked),
                    knows_positions: reply.knows_positions,
                });
            }
            Err(status) => {
                if !away {
                    tracing::warn!(%status, "cannot register with the store; trying on");
                }
                away = true;
                stop.run_until_cancelled(backoff.wait()).await?;
            }
        }
    }
}

/// Returns the moment at which the other side read its clock, as near as the run can know it.
fn middle(asked: Instant) -> Instant {
    asked + asked.elapsed() / 2
}

/// Tells the store that a run ended in order.
pub(crate) async fn release(store: &Store, run_id: u64) {
    let mut client = store.runs();
    let call = client.release(ReleaseRequest { run_id });
    if let Err(status) = service_runtime::rpc::bounded(call).await {
        tracing::warn!(run_id, %status, "could not release the run; its lease will end");
    }
}

/// Attempts to report how a run ended; its lease ends soon anyway.
const ENDED_TRIES: u32 = 4;

/// Tells the store that a run ended by a fault, so that others take its regions at once and the
/// store counts the cause.
pub(crate) async fn ended(store: &Store, request: EndedRequest, stop: &CancellationToken) {
    let mut backoff = service_runtime::rpc::Backoff::new();
    for _ in 0..ENDED_TRIES {
        let mut client = store.runs();
        let run_id = request.run_id;
        match service_runtime::rpc::bounded(client.ended(request.clone())).await {
            Ok(_) => return,
            Err(status) => {
                tracing::warn!(run_id, %status, "the store does not hear how the run ended");
            }
        }
        if stop.run_until_cancelled(backoff.wait()).await.is_none() {
            return;
        }
    }
}

/// The keeper of one run until `over`.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    pub(crate) run: Registered,
    pub(crate) store: Store,
    pub(crate) mailbox: Mailbox,
    pub(crate) over: CancellationToken,
    tasks: TaskGroup,
    presence: Presence,
    content: Arc<Content>,
    region_loads: Arc<Semaphore>,
    character_loads: Arc<Semaphore>,
    quarantines: Arc<Semaphore>,
}

impl Keeper {
    pub(crate) fn new(
        run: Registered,
        store: Store,
        mailbox: Mailbox,
        tasks: TaskGroup,
        content: Arc<Content>,
    ) -> Self {
        let presence = Presence::new(run.run_id, store.clone(), tasks.clone());
        Self {
            over: tasks.stop().clone(),
            tasks,
            presence,
            run,
            store,
            mailbox,
            content,
            region_loads: Arc::new(Semaphore::new(REGION_LOADS_MAX)),
            character_loads: Arc::new(Semaphore::new(CHARACTER_LOADS_MAX)),
            quarantines: Arc::new(Semaphore::new(QUARANTINES_MAX)),
        }
    }

    /// Starts tasks that renew the lease, follow the directory and reconcile.
    pub(crate) fn start(&self, pulse: &Arc<Pulse>) {
        let agents = AgentPoll {
            run_id: self.run.run_id,
            store: self.store.clone(),
            mailbox: self.mailbox.clone(),
            over: self.over.clone(),
        };
        self.tasks.spawn("agents", agents.work(Arc::clone(pulse)));
        let (renewer, renewed) = (self.clone(), Arc::clone(pulse));
        self.tasks
            .spawn("lease", async move { renewer.renew(renewed).await });
        let watcher = self.clone();
        self.tasks
            .spawn("directory", async move { watcher.watch().await });
        let reconciler = self.clone();
        self.tasks.spawn("who is online", async move {
            reconciler.reconcile().await;
        });
    }

    /// Watches the tick loop. Gives up the right to live when the loop stands still, and cancels
    /// `wedged` when it has stood still for so long that the process must end.
    pub(crate) async fn watch_ticks(
        self,
        pulse: Arc<Pulse>,
        mut watchdog: Watchdog,
        metrics: Metrics,
        wedged: CancellationToken,
    ) {
        let mut every = tokio::time::interval(watchdog.every());
        // A process that was frozen as a whole looks once, not once for each tick that it missed.
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while self.over.run_until_cancelled(every.tick()).await.is_some() {
            let pace = watchdog.look(&pulse.progress.steps);
            metrics.stood_still(watchdog.stood());
            let was_stale = pulse.stale.swap(pace != Pace::Moves, Ordering::Relaxed);
            match pace {
                Pace::Moves if was_stale => {
                    tracing::warn!(run = self.run.run_id, "the tick loop moves again");
                }
                Pace::Moves => {}
                Pace::Stale if was_stale => {}
                Pace::Stale => self.give_up(&pulse),
                Pace::Wedged => {
                    tracing::error!(run = self.run.run_id, "the tick loop is wedged");
                    return wedged.cancel();
                }
            }
        }
    }

    /// Tells the store that the tick loop stands still, so that others take the regions at once.
    fn give_up(&self, pulse: &Pulse) {
        let region = pulse.progress.region();
        tracing::error!(
            run = self.run.run_id,
            region = region.map(tracing::field::debug),
            "the tick loop stands still; the run gives up its regions"
        );
        let request = EndedRequest {
            run_id: self.run.run_id,
            reason: Reason::Wedged.into(),
            regions: region.into_iter().map(record::rpc_region).collect(),
            character_ids: Vec::new(),
        };
        let (store, over) = (self.store.clone(), self.over.clone());
        self.tasks.spawn("give up", async move {
            ended(&store, request, &over).await;
        });
    }

    async fn renew(&self, pulse: Arc<Pulse>) {
        let mut every = tokio::time::interval(RENEW_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut away = false;
        while self.over.run_until_cancelled(every.tick()).await.is_some() {
            if pulse.stale.load(Ordering::Relaxed) {
                continue;
            }
            let request = RenewRequest {
                run_id: self.run.run_id,
                players: pulse.players.load(Ordering::Relaxed),
                tick_cost_us: pulse.tick.micros(),
                regions: pulse.loads(),
            };
            let asked = Instant::now();
            let mut client = self.store.runs();
            let renewed = match service_runtime::rpc::bounded(client.renew(request)).await {
                Ok(reply) if reply.state() == RunState::Fenced => Renewed::Fenced,
                Ok(reply) if reply.incarnation != self.run.incarnation => Renewed::OtherIncarnation,
                Ok(reply) => Renewed::Live {
                    store_ms: reply.store_time_ms,
                    at: middle(asked),
                },
                Err(status) => {
                    if !std::mem::replace(&mut away, true) {
                        tracing::warn!(run = self.run.run_id, %status, "cannot renew the lease");
                    }
                    continue;
                }
            };
            if std::mem::replace(&mut away, false) {
                tracing::info!(run = self.run.run_id, "the lease is renewed again");
            }
            self.mailbox.insist(|| StoreMessage::Renewed(renewed)).await;
        }
    }

    async fn watch(&self) {
        let mut backoff = service_runtime::rpc::Backoff::new();
        let mut away = false;
        while !self.over.is_cancelled() {
            let status = match self.watch_once(&mut backoff, &mut away).await {
                Ok(()) => return,
                Err(status) => status,
            };
            if !std::mem::replace(&mut away, true) {
                tracing::warn!(run = self.run.run_id, %status, "the directory is silent");
            }
            if self
                .over
                .run_until_cancelled(backoff.wait())
                .await
                .is_none()
            {
                return;
            }
        }
    }

    /// Follows one stream; returns `Ok` when the run is over.
    async fn watch_once(
        &self,
        backoff: &mut service_runtime::rpc::Backoff,
        away: &mut bool,
    ) -> Result<(), Status> {
        let request = WatchRequest {
            client: format!("zone run {}", self.run.run_id),
        };
        let mut client = self.store.directory();
        let mut updates = service_runtime::rpc::bounded(client.watch(request)).await?;
        loop {
            let next = self.over.run_until_cancelled(next(&mut updates)).await;
            let Some(update) = next.transpose()? else {
                return Ok(());
            };
            backoff.reset();
            if std::mem::replace(away, false) {
                tracing::info!(run = self.run.run_id, "the directory speaks again");
            }
            self.presence.follow(&update);
            match self.mailbox.say(StoreMessage::Directory(update)).await {
                Ok(()) => {}
                Err(NotHeard::Over) => return Ok(()),
                // The store does not repeat a version on this stream.
                Err(why @ NotHeard::Full) => return Err(why.into()),
            }
        }
    }

    async fn reconcile(&self) {
        let mut every = tokio::time::interval(RECONCILE_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while self.over.run_until_cancelled(every.tick()).await.is_some() {
            let request = OnlineCharactersRequest {
                run_id: self.run.run_id,
            };
            let mut client = self.store.runs();
            let answer = service_runtime::rpc::bounded(client.online_characters(request));
            // The next round asks again, also when the mailbox is full.
            if let Ok(reply) = answer.await {
                let online = StoreMessage::Online(reply.characters);
                let _ = self.mailbox.say(online).await;
            }
        }
    }

    /// Loads a region; the run hears of it as `RegionLoaded`.
    pub(crate) fn load_region(&self, region: Region, epoch: u64) {
        let keeper = self.clone();
        let loading = async move {
            let _permit = keeper.region_loads.acquire().await;
            let request = LoadRegionRequest {
                run_id: keeper.run.run_id,
                region: Some(common::Region {
                    x: region.x,
                    z: region.z,
                }),
                epoch,
            };
            let mut client = keeper.store.runs();
            let call = tokio::time::timeout(LOAD_REGION_DEADLINE, client.load_region(request));
            let loaded = match call.await {
                Ok(loaded) => loaded.map(|reply| Box::new(reply.into_inner())),
                Err(_) => Err(Status::deadline_exceeded("no region in time")),
            };
            if loaded.is_ok() {
                keeper.lay_out(region).await;
            }
            let message = || StoreMessage::RegionLoaded {
                region,
                epoch,
                loaded: loaded.clone(),
            };
            keeper.mailbox.insist(message).await;
        };
        // The call belongs to the span of the load.
        self.tasks
            .spawn("load a region", loading.with_current_context());
    }

    /// Lays out the land of a region and around it before a tick needs it. The land is made on
    /// first use, and that takes longer than a tick has.
    async fn lay_out(&self, region: Region) {
        let content = Arc::clone(&self.content);
        let laid = tokio::task::spawn_blocking(move || {
            for corner in around(region) {
                content.terrain().walkable(corner);
            }
        });
        if let Err(error) = laid.await {
            tracing::error!(?region, %error, "cannot lay out the land of a region");
        }
    }

    /// Tells the store that the run gives its regions away; the run hears of it as `Drained`.
    pub(crate) fn drain(&self) {
        let keeper = self.clone();
        self.tasks.spawn("drain", async move {
            let run_id = keeper.run.run_id;
            let mut client = keeper.store.runs();
            let call = client.drain(DrainRequest { run_id });
            let drained = service_runtime::rpc::bounded(call).await;
            if let Err(status) = &drained {
                tracing::warn!(run = run_id, %status, "the store does not hear of the drain");
            }
            let drained = drained.is_ok();
            keeper
                .mailbox
                .insist(|| StoreMessage::Drained(drained))
                .await;
        });
    }

    /// Makes the store keep a character out. If the store does not hear of it, the run finds the
    /// character unreadable again and asks once more.
    pub(crate) fn quarantine(&self, who: CharacterId) {
        let Ok(permit) = self.quarantines.try_acquire() else {
            tracing::error!(character = %who, "too many to quarantine; the run may be at fault");
            return;
        };
        permit.forget();
        let keeper = self.clone();
        self.tasks.spawn("quarantine a character", async move {
            let request = QuarantineRequest {
                run_id: keeper.run.run_id,
                character_id: who.to_string(),
            };
            let mut client = keeper.store.runs();
            if let Err(status) = service_runtime::rpc::bounded(client.quarantine(request)).await {
                tracing::warn!(character = %who, %status, "the store does not hear of it");
            }
        });
    }

    /// Loads a character; the run hears of it as `CharacterLoaded`.
    pub(crate) fn load_character(&self, who: CharacterId) {
        let keeper = self.clone();
        self.tasks.spawn("load a character", async move {
            let _permit = keeper.character_loads.acquire().await;
            let request = LoadCharacterRequest {
                run_id: keeper.run.run_id,
                character_id: who.to_string(),
            };
            let mut client = keeper.store.runs();
            let loaded = service_runtime::rpc::bounded(client.load_character(request)).await;
            let loaded = loaded.map(Box::new);
            let message = || StoreMessage::CharacterLoaded {
                who: who.clone(),
                loaded: loaded.clone(),
            };
            keeper.mailbox.insist(message).await;
        });
    }
}

/// Returns a tile of the region and of each that touches it.
fn around(region: Region) -> impl Iterator<Item = Tile> {
    let bounds = region.bounds();
    let (x, z) = (bounds.min_x, bounds.min_z);
    (-1..=1).flat_map(move |dx| {
        (-1..=1).map(move |dz| Tile {
            x: x.saturating_add(dx * REGION_TILES),
            z: z.saturating_add(dz * REGION_TILES),
        })
    })
}

async fn next(updates: &mut Streaming<DirectoryUpdate>) -> Result<DirectoryUpdate, Status> {
    match tokio::time::timeout(SILENCE_MAX, updates.message()).await {
        Ok(Ok(Some(update))) => Ok(update),
        Ok(Ok(None)) => Err(Status::unavailable("the stream ended")),
        Ok(Err(status)) => Err(status),
        Err(_) => Err(Status::deadline_exceeded("no sign of life")),
    }
}
