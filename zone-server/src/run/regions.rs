//! Which regions are played: as the directory says, from the edge after they came.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use proto::rpc::{
    persistence::v1::{DirectoryUpdate, LoadRegionReply},
    zone::v1::CompleteRegionRequest,
};
use tonic::Status;
use world::{CharacterId, Region, Tick};

use super::Run;
use crate::{
    handover::region::{Seen, TakingEvent, TakingStep},
    ownership::{
        decide::{Act, Known, decide},
        keeper::Renewed,
    },
    tick_loop::End,
};

/// A run whose clock is further off gives its regions away.
const CLOCK_TICKS_MAX: u64 = 3;

/// A region that is given away stands still for no more ticks.
const MISSED_TICKS_MAX: u64 = 1;

/// How a region comes.
pub(super) enum Coming {
    /// As the store has it.
    Store(Box<LoadRegionReply>),
    /// As its last owner left it.
    Owner(Box<CompleteRegionRequest>),
}

impl Run {
    /// A new version of the directory, or a sign of life, at which loads that failed are tried
    /// again.
    pub(super) fn directory(&mut self, update: DirectoryUpdate) {
        self.directory.apply(update);
        self.reconcile();
    }

    /// Plays just what is the run's own, as far as it knows.
    pub(super) fn reconcile(&mut self) {
        self.forget_lost_loads();
        let awaited = self.awaited();
        let mut coming = self.loading.clone();
        let loaded = self.loaded.iter();
        coming.extend(loaded.map(|(region, epoch, _)| (*region, *epoch)));
        let out = self.giving.iter().filter(|(_, going)| going.committing());
        let known = Known {
            me: self.id,
            owners: self.directory.owners(),
            held: &self.held,
            coming: &coming,
            giving: &out.map(|(region, _)| *region).collect(),
            awaited: &awaited,
            seen: &self.seen,
        };
        for act in decide(known) {
            match act {
                Act::Drop(region) => self.drop_region(region),
                Act::Load(region, epoch) => {
                    self.loading.insert(region, epoch);
                    self.hands.outside.load_region(region, epoch);
                }
            }
        }
    }

    /// What is on its way to this run and is somebody else's by now comes no more.
    fn forget_lost_loads(&mut self) {
        let owners = self.directory.owners();
        let me = self.id;
        let lost = |region: &Region, epoch: u64| {
            owners.get(region).is_none_or(|owner| {
                owner.epoch > epoch || (owner.epoch == epoch && owner.run_id != me)
            })
        };
        self.loading.retain(|region, epoch| !lost(region, *epoch));
        let mut gone = Vec::new();
        self.loaded.retain(|(region, epoch, _)| {
            let lost = lost(region, *epoch);
            if lost {
                gone.push(*region);
            }
            !lost
        });
        for region in gone {
            self.drop_region(region);
        }
    }

    /// Regions that were promised and whose last owner's word is still waited for.
    fn awaited(&mut self) -> BTreeMap<Region, u64> {
        let (directory, held, now, me) = (&self.directory, &self.held, self.now, self.id);
        let mut awaited = BTreeMap::new();
        self.taking.retain(|region, taking| {
            let Some(owner) = directory.owners().get(region) else {
                return false;
            };
            let seen = Seen {
                now,
                epoch: owner.epoch,
                mine: owner.run_id == me,
                giver_alive: directory.alive(taking.from_run_id),
            };
            let step = taking.on(TakingEvent::Seen(seen));
            if step == TakingStep::Wait {
                awaited.insert(*region, taking.epoch);
            }
            step != TakingStep::Drop && held.get(region) < Some(&taking.epoch)
        });
        awaited
    }

    /// At an edge: promises that nobody keeps are looked after.
    pub(super) fn taking_edges(&mut self) {
        if !self.taking.is_empty() {
            self.reconcile();
        }
        self.early_edges();
    }

    /// Whether any region is on its way to this run.
    pub(super) fn awaits_regions(&self) -> bool {
        self.loads_regions() || !self.taking.is_empty()
    }

    /// Whether any region is on its way to this run from the store, with everybody in it.
    pub(super) fn loads_regions(&self) -> bool {
        !(self.loading.is_empty() && self.loaded.is_empty())
    }

    /// Whether a region is on its way to this run.
    pub(super) fn is_coming(&self, region: Region) -> bool {
        let loaded = self.loaded.iter().any(|(of, ..)| *of == region);
        loaded || self.loading.contains_key(&region)
    }

    /// A region came from the store, or did not.
    pub(super) fn region_loaded(
        &mut self,
        region: Region,
        epoch: u64,
        loaded: Result<Box<LoadRegionReply>, Status>,
    ) {
        if self.loading.get(&region) != Some(&epoch) {
            return;
        }
        self.loading.remove(&region);
        match loaded {
            Ok(reply) => {
                let coming = Coming::Store(reply);
                self.loaded.push_back((region, epoch, coming));
            }
            Err(status) => {
                tracing::warn!(run = self.id, ?region, %status, "cannot load a region yet");
            }
        }
    }

    /// At an edge: what has come is played from this tick, as much as it has time for; the rest
    /// waits for the next.
    pub(super) fn regions_in(&mut self, last: u64) {
        let begun = Instant::now();
        let mut later = Vec::new();
        while let Some((region, epoch, coming)) = self.loaded.pop_front() {
            match coming {
                // Nobody is played twice in one tick, however early its last owner was.
                Coming::Owner(request) if request.tick >= self.now => {
                    later.push((region, epoch, Coming::Owner(request)));
                    continue;
                }
                Coming::Owner(request) => self.region_comes(region, epoch, last, &request),
                Coming::Store(reply) => self.region_stored(region, epoch, last, *reply),
            }
            if begun.elapsed() > self.config.regions_in_max {
                break;
            }
        }
        self.loaded.extend(later);
    }

    /// A region is played from now on as the store has it.
    fn region_stored(&mut self, region: Region, epoch: u64, last: u64, reply: LoadRegionReply) {
        let LoadRegionReply {
            characters,
            state,
            ground,
            played_tick,
            chunks,
        } = reply;
        if self.taking.get(&region).is_some_and(|t| t.epoch == epoch) {
            // It was given, and its last owner's word was lost.
            self.missed(region, played_tick);
        }
        let state = (!state.is_empty()).then_some(&*state);
        if let Err(why) = self.world.region_in(region, Tick(last), state) {
            tracing::error!(run = self.id, ?region, %why, "a region's state cannot be read");
            if self.world.region_in(region, Tick(last), None).is_err() {
                return;
            }
        }
        self.region_held(region, epoch);
        self.ground_from_store(region, played_tick, &ground);
        self.lasting_from_store(region, played_tick, &chunks);
        for row in characters {
            self.admit(row);
        }
    }

    /// A region that was given is played from this tick on, after `last` with its last owner.
    pub(super) fn missed(&self, region: Region, last: u64) {
        let ticks = self.now.saturating_sub(last.saturating_add(1));
        self.hands.metrics.region_missed(ticks);
        if ticks > MISSED_TICKS_MAX {
            tracing::warn!(
                run = self.id,
                ?region,
                ticks,
                "a region that was given stood still"
            );
        }
    }

    /// A region is in the world from this tick on.
    pub(super) fn region_held(&mut self, region: Region, epoch: u64) {
        self.taking.remove(&region);
        self.held.insert(region, epoch);
        self.held_since.insert(region, self.now);
        let seen = self.seen.entry(region).or_default();
        *seen = epoch.max(*seen);
    }

    /// A region is another's: everything in it is dropped here.
    pub(super) fn drop_region(&mut self, region: Region) {
        tracing::info!(run = self.id, ?region, "a region is no longer this run's");
        self.held.remove(&region);
        self.held_since.remove(&region);
        self.giving.remove(&region);
        self.arrivals
            .retain(|(_, arrival)| arrival.region != region);
        let lost = self.batch.lost(region);
        if lost.value {
            tracing::error!(
                run = self.id,
                ?region,
                "what changed in it cannot be saved; the run ends"
            );
            self.end = Some(End::Astray);
        }
        let here = self.roster.iter().filter(|(_, seat)| seat.region == region);
        let mut here: BTreeSet<CharacterId> = here.map(|(who, _)| who.clone()).collect();
        here.extend(lost.characters);
        for who in here {
            if let Some(seat) = self.roster.remove(&who) {
                self.turn_out(&who, &seat, "not_here");
            }
            if self.calls.contains_key(&who) {
                // A newer session waits for its logout, whose answer means nothing any more.
                self.hands.outside.load_character(who.clone());
            }
            // One who is on its way here by the world's count stands in another region still.
            self.world.leave(&who);
        }
        self.world.region_out(region);
    }

    /// The store renewed the lease, or refused.
    pub(super) fn renewed(&mut self, renewed: Renewed) {
        match renewed {
            Renewed::Fenced => {
                tracing::warn!(run = self.id, "the run is fenced");
                self.end = Some(End::Fenced);
            }
            Renewed::OtherIncarnation => {
                tracing::error!(run = self.id, "another store answers; the run ends");
                self.end = Some(End::Astray);
            }
            Renewed::Live { store_ms, at } => {
                let off = self.beat.off(at, store_ms);
                if off > CLOCK_TICKS_MAX && self.drain.is_none() {
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
