//! The directory as this gateway knows it: the owner of each region, and the address of each run.
//!
//! Always: within an incarnation of the store neither the version nor the epoch of a region goes
//! back, and the gateway never believes an older incarnation. Reading never waits: readers get the
//! last whole view, and [`DirectoryView::age`] gives its age.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use proto::rpc::persistence::v1::{
    DirectoryUpdate, RunState, WatchRequest, directory_client::DirectoryClient,
};
use service_runtime::rpc::{self, Backoff, Replicas, Route};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use world::Region;

/// Silence that ends a watch: signs of life come every second.
const SILENCE: Duration = Duration::from_secs(4);
/// Maximum size of an update: the directory of a large world, in bytes.
const UPDATE_BYTES_MAX: usize = 16 * 1024 * 1024;
const NEVER: u64 = u64::MAX;
/// Age beyond which a view is no longer certain.
pub(crate) const FRESH: Duration = Duration::from_secs(5);

/// Owner of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Never 0.
    pub(crate) run_id: u64,
    /// Grows with every change of owner.
    pub(crate) epoch: u64,
}

/// One life of a zone server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunEntry {
    /// Never used again.
    pub(crate) run_id: u64,
    /// host:port.
    pub(crate) address: String,
    /// Whether it gives its regions away.
    pub(crate) draining: bool,
    /// Hash of the content that it plays; empty when it did not say.
    pub(crate) content: String,
}

/// Time of the last push, in milliseconds after `start`.
#[derive(Debug)]
struct Pulse {
    start: Instant,
    last_ms: AtomicU64,
}

impl Pulse {
    fn beat(&self) {
        let ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(NEVER - 1);
        self.last_ms.store(ms, Ordering::Relaxed);
    }
}

/// One version of the directory.
#[derive(Debug, Clone)]
pub(crate) struct DirectoryView {
    version: u64,
    incarnation: u64,
    runs: BTreeMap<u64, RunEntry>,
    /// Owners by region; run 0: nobody.
    regions: HashMap<Region, Owner>,
    /// Regions that nobody may play until an operator says so.
    paused: HashSet<Region>,
    /// Time at which a region last got another owner.
    moved: Instant,
    pulse: Arc<Pulse>,
}

/// Result of a push.
#[derive(Debug)]
enum Push {
    /// A newer view.
    New(DirectoryView),
    /// Nothing has changed; the view is as fresh as the push.
    Same,
    /// A push older than the present view.
    Old,
    /// A push on top of a version that never came: watch anew.
    Gap,
}

impl DirectoryView {
    fn empty() -> Self {
        Self {
            version: 0,
            incarnation: 0,
            runs: BTreeMap::new(),
            regions: HashMap::new(),
            paused: HashSet::new(),
            moved: Instant::now(),
            pulse: Arc::new(Pulse {
                start: Instant::now(),
                last_ms: AtomicU64::new(NEVER),
            }),
        }
    }

    /// Returns the owner of the region, if it has one.
    pub(crate) fn owner_of(&self, region: Region) -> Option<Owner> {
        self.regions
            .get(&region)
            .copied()
            .filter(|owner| owner.run_id != 0)
    }

    /// Returns whether the view is fresh and each region is paused or has an owner that is `live`.
    pub(crate) fn played_by(&self, live: impl Fn(u64) -> bool) -> bool {
        let played =
            |(region, owner): (&Region, &Owner)| live(owner.run_id) || self.paused.contains(region);
        self.age() <= FRESH && self.regions.iter().all(played)
    }

    /// Returns for how long no region has got another owner, as far as this gateway knows.
    pub(crate) fn settled(&self) -> Duration {
        self.moved.elapsed()
    }

    /// Returns whether nobody may play the region until an operator says so; its owner may be about
    /// to let it go.
    pub(crate) fn paused(&self, region: Region) -> bool {
        self.paused.contains(&region)
    }

    /// Returns whether the region is paused and its last owner has let it go.
    pub(crate) fn rests(&self, region: Region) -> bool {
        self.paused(region) && self.owner_of(region).is_none()
    }

    /// Returns whether the world has this region, owned or not.
    pub(crate) fn has(&self, region: Region) -> bool {
        self.regions.contains_key(&region)
    }

    /// Returns all runs that are not fenced, by id.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &RunEntry> {
        self.runs.values()
    }

    /// Returns the run, unless it is fenced.
    pub(crate) fn run(&self, run_id: u64) -> Option<&RunEntry> {
        self.runs.get(&run_id)
    }

    /// Returns the time since the last push or sign of life; the greatest duration if there was
    /// none.
    pub(crate) fn age(&self) -> Duration {
        match self.pulse.last_ms.load(Ordering::Relaxed) {
            NEVER => Duration::MAX,
            ms => self
                .pulse
                .start
                .elapsed()
                .saturating_sub(Duration::from_millis(ms)),
        }
    }

    /// Returns a view with these owners, as if pushed.
    #[cfg(test)]
    pub(crate) fn of(regions: impl IntoIterator<Item = (Region, u64)>) -> Self {
        let owned = |(region, run_id)| (region, Owner { run_id, epoch: 1 });
        let regions: HashMap<_, _> = regions.into_iter().map(owned).collect();
        let entry = |owner: &Owner| RunEntry {
            run_id: owner.run_id,
            address: String::new(),
            draining: false,
            content: String::new(),
        };
        let runs = regions.values().map(|owner| (owner.run_id, entry(owner)));
        Self {
            version: 1,
            runs: runs.collect(),
            regions,
            ..Self::empty()
        }
    }

    fn after(&self, update: DirectoryUpdate) -> Push {
        let now = (self.incarnation, self.version);
        let then = (update.incarnation, update.version);
        if then < now {
            return Push::Old;
        }
        if then == now && self.version != 0 {
            return Push::Same;
        }
        if update.unchanged {
            return Push::Gap;
        }
        let fenced = RunState::Fenced as i32;
        let runs = update.runs.into_iter().filter(|run| run.state != fenced);
        let runs = runs.map(|run| {
            let draining = run.state == RunState::Draining as i32;
            (
                run.run_id,
                RunEntry {
                    run_id: run.run_id,
                    address: run.address,
                    draining,
                    content: run.content_hash,
                },
            )
        });
        let mut regions = HashMap::with_capacity(update.regions.len());
        let mut paused = HashSet::new();
        for owned in update.regions {
            let Some(region) = owned.region else { continue };
            let region = Region {
                x: region.x,
                z: region.z,
            };
            let told = Owner {
                run_id: owned.run_id,
                epoch: owned.epoch,
            };
            if owned.paused {
                paused.insert(region);
            }
            let known = self.regions.get(&region).copied();
            let older =
                known.filter(|k| update.incarnation == self.incarnation && k.epoch > told.epoch);
            regions.insert(region, older.unwrap_or(told));
        }
        let moved = if regions == self.regions {
            self.moved
        } else {
            Instant::now()
        };
        Push::New(Self {
            moved,
            version: update.version,
            incarnation: update.incarnation,
            runs: runs.collect(),
            regions,
            paused,
            pulse: Arc::clone(&self.pulse),
        })
    }

    /// Returns the view after an owner gave a region away, by its own word; `None` when that is no
    /// news.
    fn given(&self, region: Region, to: Owner) -> Option<Self> {
        let known = self.regions.get(&region)?;
        if known.epoch >= to.epoch {
            return None;
        }
        let mut next = self.clone();
        next.regions.insert(region, to);
        next.moved = Instant::now();
        Some(next)
    }
}

/// The latest view, and notifications of every newer one.
#[derive(Debug)]
pub(crate) struct Directory {
    view: ArcSwap<DirectoryView>,
    /// Lock of a task that makes a new view from the last one.
    writing: Mutex<()>,
    changed: watch::Sender<u64>,
}

impl Directory {
    /// Returns a directory that is empty until the first push.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            view: ArcSwap::from_pointee(DirectoryView::empty()),
            writing: Mutex::new(()),
            changed: watch::Sender::new(0),
        })
    }

    /// Returns the latest view.
    pub(crate) fn view(&self) -> Arc<DirectoryView> {
        self.view.load_full()
    }

    /// Returns a receiver that changes with every newer view.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Takes a newer view.
    pub(crate) fn set(&self, view: DirectoryView) {
        let version = view.version;
        self.view.store(Arc::new(view));
        self.changed.send_replace(version);
    }

    /// Takes an owner's word that it gave a region away. Returns whether that was news.
    pub(crate) fn give(&self, region: Region, to: Owner) -> bool {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.view().given(region, to);
        let news = next.is_some();
        if let Some(next) = next {
            self.set(next);
        }
        news
    }

    /// Takes a push. Returns whether the watch may go on.
    fn push(&self, update: DirectoryUpdate) -> bool {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let view = self.view();
        match view.after(update) {
            Push::New(next) => {
                next.pulse.beat();
                self.set(next);
                true
            }
            Push::Same => {
                view.pulse.beat();
                true
            }
            // A replica that is behind catches up within a poll; until then it is no news.
            Push::Old => true,
            Push::Gap => false,
        }
    }

    /// Watches one persistence service after the other until `stop`.
    pub(crate) async fn follow(
        self: Arc<Self>,
        store: Replicas,
        client: String,
        stop: CancellationToken,
    ) {
        let mut backoff = Backoff::new();
        let mut was_well = true;
        loop {
            let watching = self.watch(store.route(), &client, &mut backoff, &mut was_well);
            let why = tokio::select! {
                () = stop.cancelled() => return,
                ended = watching => ended,
            };
            if was_well {
                tracing::warn!(error = %why, "the directory is not being pushed");
                was_well = false;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = backoff.wait() => {}
            }
        }
    }

    /// Watches one persistence service until that ends. Returns the reason.
    async fn watch(
        &self,
        route: Route,
        client: &str,
        backoff: &mut Backoff,
        was_well: &mut bool,
    ) -> String {
        let mut stub = DirectoryClient::new(route).max_decoding_message_size(UPDATE_BYTES_MAX);
        let request = WatchRequest {
            client: client.to_owned(),
        };
        let mut pushes = match tokio::time::timeout(rpc::DEADLINE, stub.watch(request)).await {
            Ok(Ok(answer)) => answer.into_inner(),
            Ok(Err(status)) => return status.to_string(),
            Err(_) => return "no answer in time".to_owned(),
        };
        loop {
            let update = match tokio::time::timeout(SILENCE, pushes.message()).await {
                Ok(Ok(Some(update))) => update,
                Ok(Ok(None)) => return "the stream ended".to_owned(),
                Ok(Err(status)) => return status.to_string(),
                Err(_) => return "no sign of life".to_owned(),
            };
            if !self.push(update) {
                return "a version was missed".to_owned();
            }
            backoff.reset();
            if !*was_well {
                tracing::info!("the directory is being pushed again");
                *was_well = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::rpc::{common, persistence::v1 as wire};

    use super::*;

    fn update(incarnation: u64, version: u64, run_id: u64, epoch: u64) -> DirectoryUpdate {
        let run = |run_id, state: RunState| wire::Run {
            run_id,
            address: format!("zone:{run_id}"),
            state: state.into(),
            ..Default::default()
        };
        DirectoryUpdate {
            version,
            incarnation,
            runs: vec![
                run(1, RunState::Live),
                run(2, RunState::Draining),
                run(3, RunState::Fenced),
            ],
            regions: vec![wire::RegionOwner {
                region: Some(common::v1::Region { x: 0, z: -1 }),
                run_id,
                epoch,
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    const REGION: Region = Region { x: 0, z: -1 };

    #[tokio::test(start_paused = true)]
    async fn a_push_replaces_the_view_and_sets_its_age_back() {
        let directory = Directory::new();
        assert_eq!(directory.view().age(), Duration::MAX);
        assert!(directory.push(update(1, 5, 1, 3)));
        let view = directory.view();
        assert_eq!(
            view.owner_of(REGION),
            Some(Owner {
                run_id: 1,
                epoch: 3
            })
        );
        let runs: Vec<_> = view.runs().map(|r| (r.run_id, r.draining)).collect();
        assert_eq!(runs, [(1, false), (2, true)], "a fenced run is no run");
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(view.age(), Duration::from_secs(2));
        let life = DirectoryUpdate {
            unchanged: true,
            ..update(1, 5, 0, 0)
        };
        assert!(directory.push(life));
        assert_eq!(view.age(), Duration::ZERO);
        assert_eq!(
            directory.view().owner_of(REGION),
            Some(Owner {
                run_id: 1,
                epoch: 3
            })
        );
    }

    #[tokio::test]
    async fn a_run_of_a_state_that_only_a_newer_store_knows_lives() {
        let directory = Directory::new();
        let mut newer = update(1, 5, 1, 3);
        newer.runs[0].state = 1_000_000;
        assert!(directory.push(newer));
        let view = directory.view();
        let runs: Vec<_> = view.runs().map(|r| (r.run_id, r.draining)).collect();
        assert_eq!(runs, [(1, false), (2, true)]);
    }

    #[tokio::test]
    async fn versions_and_epochs_never_go_back_within_an_incarnation() {
        let directory = Directory::new();
        directory.push(update(2, 5, 1, 3));
        directory.push(update(2, 4, 9, 9));
        directory.push(update(1, 99, 9, 9));
        directory.push(update(2, 6, 2, 2));
        let view = directory.view();
        assert_eq!(view.version, 6);
        assert_eq!(
            view.owner_of(REGION),
            Some(Owner {
                run_id: 1,
                epoch: 3
            })
        );
        directory.push(update(3, 1, 2, 1));
        assert_eq!(
            directory.view().owner_of(REGION),
            Some(Owner {
                run_id: 2,
                epoch: 1
            })
        );
    }

    #[tokio::test]
    async fn a_sign_of_life_of_an_unknown_version_ends_the_watch() {
        let directory = Directory::new();
        directory.push(update(1, 5, 1, 1));
        assert!(!directory.push(DirectoryUpdate {
            unchanged: true,
            ..update(1, 6, 0, 0)
        }));
    }

    #[tokio::test]
    async fn what_an_owner_says_of_its_gift_counts_until_a_push_knows_more() {
        let directory = Directory::new();
        directory.push(update(1, 5, 1, 3));
        let owner = |run_id, epoch| Owner { run_id, epoch };
        assert!(!directory.give(REGION, owner(2, 3)), "no higher epoch");
        assert!(directory.give(REGION, owner(2, 4)));
        assert!(
            !directory.give(Region { x: 9, z: 9 }, owner(2, 4)),
            "no such region"
        );
        assert_eq!(directory.view().owner_of(REGION), Some(owner(2, 4)));
        // A push from before the gift does not take it back; one of the same epoch confirms it.
        directory.push(update(1, 6, 1, 3));
        assert_eq!(directory.view().owner_of(REGION), Some(owner(2, 4)));
        directory.push(update(1, 7, 2, 5));
        assert_eq!(directory.view().owner_of(REGION), Some(owner(2, 5)));
    }

    #[tokio::test]
    async fn nobody_owns_a_region_of_run_zero() {
        let directory = Directory::new();
        directory.push(update(1, 1, 0, 0));
        assert_eq!(directory.view().owner_of(REGION), None);
        assert!(directory.view().has(REGION));
        assert!(!directory.view().has(Region { x: 7, z: 7 }));
    }
}
