//! The regions that the run plays: those that the directory names, from the edge after they came.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Instant,
};

use handover::decide::{Act, Known, decide};
use proto::rpc::{
    persistence::v1::{DirectoryUpdate, LoadRegionReply},
    zone::v1::CompleteRegionRequest,
};
use tonic::Status;
use world::{CharacterId, Region, Tick};

use super::Run;
use crate::{
    beat::End,
    ownership::{directory::Directory, lease::Renewed},
    spans::Ongoing,
};

/// Ticks by which a run's clock may be off; a run further off gives its regions away.
const CLOCK_TICKS_MAX: u64 = 3;

/// Parts of a saved region that do not fit, in one line of the log.
const UNFIT_NAMED: usize = 10;

/// Ticks for which a region that is given away may stand still.
const MISSED_TICKS_MAX: u64 = 1;

/// Ticks for which a region from the store waits for the places that gateways offer. A gateway that
/// has to reach its new owner first needs more than one.
const OFFERS_TICKS_MAX: u64 = 3;

/// The source of a region that comes in.
pub(super) enum Coming {
    /// The store, with the state that it has.
    Store {
        reply: Box<LoadRegionReply>,
        /// Ticks for which the region has waited for the places that gateways offer.
        waited: u64,
    },
    /// The last owner, with the state that it left.
    Owner(Box<CompleteRegionRequest>),
}

/// The regions that the run plays, and those that are on their way to it.
#[derive(Default)]
pub(super) struct Regions {
    /// Owners of all regions, as the store said last.
    pub(super) directory: Directory,
    /// Epoch of each region that the run plays.
    pub(super) held: BTreeMap<Region, u64>,
    /// Tick since which the run plays each region.
    pub(super) held_since: BTreeMap<Region, u64>,
    /// Tick in which somebody last came into a region by a handover.
    pub(super) came: BTreeMap<Region, u64>,
    /// Highest known epoch of a region, but for the directory's.
    pub(super) seen: BTreeMap<Region, u64>,
    /// Epoch of each region that the run has requested from the store.
    loading: BTreeMap<Region, u64>,
    /// Spans of these requests, until the run plays the regions.
    loads: BTreeMap<Region, Ongoing>,
    /// Regions that came; the run plays them from the next tick.
    loaded: VecDeque<(Region, u64, Coming)>,
}

impl Regions {
    /// Returns whether the run plays a region.
    pub(super) fn plays(&self, region: Region) -> bool {
        self.held.contains_key(&region)
    }

    /// Returns whether the run plays a region at just this epoch.
    pub(super) fn plays_at(&self, region: Region, epoch: u64) -> bool {
        self.held.get(&region) == Some(&epoch)
    }

    /// Returns whether any region is on its way from the store, with everybody in it.
    pub(super) fn loads(&self) -> bool {
        !(self.loading.is_empty() && self.loaded.is_empty())
    }

    /// Returns whether a region is on its way to this run.
    pub(super) fn is_coming(&self, region: Region) -> bool {
        let loaded = self.loaded.iter().any(|(of, ..)| *of == region);
        loaded || self.loading.contains_key(&region)
    }

    /// Returns the regions that are on their way, with their epochs.
    pub(super) fn coming(&self) -> BTreeMap<Region, u64> {
        let mut coming = self.loading.clone();
        let loaded = self.loaded.iter();
        coming.extend(loaded.map(|(region, epoch, _)| (*region, *epoch)));
        coming
    }

    /// Notes that the run has asked the store for a region.
    fn asked_for(&mut self, region: Region, epoch: u64, span: Ongoing) {
        self.loading.insert(region, epoch);
        self.loads.insert(region, span);
    }

    /// Takes back that the run has asked the store for a region at this epoch. Returns false if it
    /// has not.
    fn answered_for(&mut self, region: Region, epoch: u64) -> bool {
        let asked = self.loading.get(&region) == Some(&epoch);
        if asked {
            self.loading.remove(&region);
        }
        asked
    }

    /// Returns whether the last owner's word on a region at this epoch waits for the next tick.
    pub(super) fn comes_from_owner(&self, region: Region, epoch: u64) -> bool {
        self.loaded.iter().any(|(at, of, coming)| {
            *at == region && *of == epoch && matches!(coming, Coming::Owner(_))
        })
    }

    /// Notes the last owner's word that the region is this run's at this epoch. The run needs the
    /// store's word no more.
    pub(super) fn reported_by_owner(&mut self, region: Region, epoch: u64) {
        self.loading.remove(&region);
        self.loads.remove(&region);
        self.loaded.retain(|(at, ..)| *at != region);
        self.seen.insert(region, epoch);
    }

    /// Lets a region come in at the next edge, as its last owner left it.
    pub(super) fn comes(&mut self, region: Region, epoch: u64, request: CompleteRegionRequest) {
        let coming = Coming::Owner(Box::new(request));
        self.loaded.push_back((region, epoch, coming));
    }

    /// Forgets regions on their way to run `me` that belong to other runs by now. Returns those
    /// that had come already.
    fn forget_lost(&mut self, me: u64) -> Vec<Region> {
        let owners = self.directory.owners();
        let lost = |region: &Region, epoch: u64| {
            owners.get(region).is_none_or(|owner| {
                owner.epoch > epoch || (owner.epoch == epoch && owner.run_id != me)
            })
        };
        self.loading.retain(|region, epoch| !lost(region, *epoch));
        self.loads
            .retain(|region, _| owners.get(region).is_some_and(|owner| owner.run_id == me));
        let mut gone = Vec::new();
        self.loaded.retain(|(region, epoch, _)| {
            let lost = lost(region, *epoch);
            if lost {
                gone.push(*region);
            }
            !lost
        });
        gone
    }

    /// Notes that the run plays a region from tick `now` on.
    fn enter(&mut self, region: Region, epoch: u64, now: u64) {
        self.held.insert(region, epoch);
        self.held_since.insert(region, now);
        let seen = self.seen.entry(region).or_default();
        *seen = epoch.max(*seen);
    }

    /// Notes that the region belongs to another run from `epoch` on.
    pub(super) fn given(&mut self, region: Region, epoch: u64) {
        self.seen.insert(region, epoch);
        self.held_since.remove(&region);
        self.came.remove(&region);
    }
}

impl Run {
    /// Takes in a new version of the directory, or a sign of life. The run tries failed loads again
    /// at each of them.
    pub(super) fn directory(&mut self, update: DirectoryUpdate) {
        self.regions.directory.apply(update);
        self.reconcile();
    }

    /// Makes the run play just the regions that it owns, as far as it knows.
    pub(super) fn reconcile(&mut self) {
        for region in self.regions.forget_lost(self.id) {
            self.drop_region(region);
        }
        let awaited = self.moves.awaited(&self.regions, self.id, self.now);
        let coming = self.regions.coming();
        let known = Known {
            me: self.id,
            owners: self.regions.directory.owners(),
            held: &self.regions.held,
            coming: &coming,
            giving: &self.moves.committing(),
            awaited: &awaited,
            seen: &self.regions.seen,
        };
        for act in decide(known) {
            match act {
                Act::Drop(region) => self.drop_region(region),
                Act::Load(region, epoch) => self.load(region, epoch),
            }
        }
    }

    /// Asks the store for a region that is the run's.
    pub(super) fn load(&mut self, region: Region, epoch: u64) {
        let tracer = self.context.tracing.then_some(&self.context.tracer);
        let span = Ongoing::begin(tracer, "zone.region_load", self.id, region);
        {
            let _within = span.enter();
            self.context.effects.load_region(region, epoch);
        }
        self.regions.asked_for(region, epoch, span);
    }

    /// Looks after promises that nobody keeps, at an edge.
    pub(super) fn taking_edges(&mut self) {
        if self.moves.takes() {
            self.reconcile();
        }
        self.early_edges();
    }

    /// Returns whether any region is on its way to this run.
    pub(super) fn awaits_regions(&self) -> bool {
        self.regions.loads() || self.moves.takes()
    }

    /// Takes in a region from the store, or its failure to come.
    pub(super) fn region_loaded(
        &mut self,
        region: Region,
        epoch: u64,
        loaded: Result<Box<LoadRegionReply>, Status>,
    ) {
        if !self.regions.answered_for(region, epoch) {
            return;
        }
        match loaded {
            Ok(reply) => {
                let coming = Coming::Store { reply, waited: 0 };
                self.regions.loaded.push_back((region, epoch, coming));
            }
            Err(status) => {
                if let Some(mut span) = self.regions.loads.remove(&region) {
                    span.end("failed");
                }
                tracing::warn!(run = self.id, ?region, %status, "cannot load a region yet");
            }
        }
    }

    /// Brings in the regions that have come, as many as the tick has time for; the rest waits for
    /// the next.
    pub(super) fn regions_in(&mut self, last: u64) {
        let begun = Instant::now();
        let mut later = Vec::new();
        while let Some((region, epoch, coming)) = self.regions.loaded.pop_front() {
            match coming {
                // No region is played twice in one tick, however early its last owner was.
                Coming::Owner(request) if request.tick >= self.now => {
                    later.push((region, epoch, Coming::Owner(request)));
                    continue;
                }
                Coming::Owner(request) => self.region_comes(region, epoch, last, &request),
                // Else everybody would see its players where the store has them, and soon after where
                // gateways saw them last.
                Coming::Store { reply, waited }
                    if waited < OFFERS_TICKS_MAX && !self.all_offered(&reply) =>
                {
                    let waited = waited + 1;
                    later.push((region, epoch, Coming::Store { reply, waited }));
                    continue;
                }
                Coming::Store { reply, .. } => self.region_stored(region, epoch, last, *reply),
            }
            if begun.elapsed() > self.config.regions_in_max {
                break;
            }
        }
        self.regions.loaded.extend(later);
    }

    /// Plays a region from now on as the store has it.
    fn region_stored(&mut self, region: Region, epoch: u64, last: u64, reply: LoadRegionReply) {
        let LoadRegionReply {
            characters,
            state,
            ground,
            played_tick,
            chunks,
        } = reply;
        if self
            .moves
            .taking
            .get(&region)
            .is_some_and(|t| t.epoch == epoch)
        {
            // Another run gave the region, and its word was lost.
            self.missed(region, played_tick);
        }
        if !self.saved_region_in(region, last, played_tick, &state) {
            return;
        }
        self.region_held(region, epoch);
        if !state.is_empty() {
            // The timers differ from those in the store, and would differ again after a crash.
            self.saves.must(region);
        }
        if let Some(mut span) = self.regions.loads.remove(&region) {
            span.end("played");
        }
        self.ground_from_store(region, played_tick, &ground);
        self.persistent_objects_from_store(region, played_tick, &chunks);
        for row in characters {
            let who = CharacterId::from(row.id.as_str());
            // No session waits for the character yet. The run refuses a session that asks for it
            // later.
            let _ = self.admit(row);
            if let Some(slot) = self.roster.get_mut(&who) {
                slot.regains = Some(played_tick);
            }
        }
    }

    /// Takes a region into the world with the state that the store has of it; with none, as content
    /// has it. Returns false if the region is there already.
    fn saved_region_in(&mut self, region: Region, last: u64, played: u64, state: &[u8]) -> bool {
        let last = Tick(last);
        let taken_in = if state.is_empty() {
            let fresh = self.world.region_in(region, last, None);
            fresh.map(|()| Vec::new())
        } else {
            let played = Tick(played);
            self.world.region_saved_in(region, last, played, state)
        };
        match taken_in {
            Ok(unfit) if unfit.is_empty() => true,
            Ok(unfit) => {
                let (parts, some) = (
                    unfit.len(),
                    unfit[..unfit.len().min(UNFIT_NAMED)].join(", "),
                );
                tracing::warn!(
                    run = self.id,
                    ?region,
                    parts,
                    some,
                    "parts of a saved region do not fit"
                );
                true
            }
            Err(why) => {
                tracing::error!(run = self.id, ?region, %why, "a region cannot come in");
                false
            }
        }
    }

    /// Measures how long a region stood still that was given to this run. Its last owner played it
    /// until `last`, and this run plays it from this tick on.
    pub(super) fn missed(&self, region: Region, last: u64) {
        let ticks = self.now.saturating_sub(last.saturating_add(1));
        self.context.metrics.region_missed(ticks);
        if ticks > MISSED_TICKS_MAX {
            tracing::warn!(
                run = self.id,
                ?region,
                ticks,
                "a region that was given stood still"
            );
        }
    }

    /// Notes that a region is in the world from this tick on.
    pub(super) fn region_held(&mut self, region: Region, epoch: u64) {
        self.moves.taking.remove(&region);
        self.regions.enter(region, epoch, self.now);
        self.saves.entered(region, self.now);
    }

    /// Drops everything in a region, because the region belongs to another run.
    pub(super) fn drop_region(&mut self, region: Region) {
        tracing::info!(run = self.id, ?region, "a region is no longer this run's");
        self.regions.held.remove(&region);
        self.regions.held_since.remove(&region);
        self.saves.left(region);
        self.moves.giving.remove(&region);
        self.handovers
            .arrivals
            .retain(|(_, arrival)| arrival.region != region);
        let lost = self.batch.lost(region);
        if lost.value {
            tracing::error!(
                run = self.id,
                ?region,
                "what changed in it cannot be saved; the run ends"
            );
            self.ending.end = Some(End::Astray);
        }
        let here = self.roster.iter().filter(|(_, slot)| slot.region == region);
        let mut here: BTreeSet<CharacterId> = here.map(|(who, _)| who.clone()).collect();
        here.extend(lost.characters);
        for who in here {
            if let Some(slot) = self.roster.remove(&who) {
                self.context.metrics.departed("lost", 1);
                self.turn_out(&who, &slot, "not_here");
            }
            if self.handovers.calls.contains_key(&who) {
                // A newer session waits for the character's logout, whose answer means nothing any
                // more.
                self.context.effects.load_character(who.clone());
            }
            // A character on its way here still stands in another region by the world's count.
            self.world.leave(&who);
        }
        self.world.region_out(region);
    }

    /// Handles the store's answer to a renewal of the lease.
    pub(super) fn renewed(&mut self, renewed: Renewed) {
        match renewed {
            Renewed::Fenced => {
                tracing::warn!(run = self.id, "the run is fenced");
                self.ending.end = Some(End::Fenced);
            }
            Renewed::OtherIncarnation => {
                tracing::error!(run = self.id, "another store answers; the run ends");
                self.ending.end = Some(End::Astray);
            }
            Renewed::Live { store_ms, at } => {
                let off = self.beat.off(at, store_ms);
                if off > CLOCK_TICKS_MAX && self.ending.drain.is_none() {
                    tracing::error!(
                        run = self.id,
                        ticks = off,
                        "the clock is off; the run gives its regions away"
                    );
                    self.stop(End::Astray);
                }
            }
        }
    }
}
