//! Regions between two runs: those that this run gives, those that it has given, and those that
//! others promised to it.

use std::collections::{BTreeMap, BTreeSet};

use handover::{
    decide::NOBODY,
    region::{Seen, Taking, TakingEvent, TakingStep},
};
use world::{CharacterId, Region};

use super::{
    giving::{Given, Move},
    regions::Regions,
    taking::Early,
};

/// Ticks for which the run does not offer a region again to a run that did not take it.
const REFUSED_TICKS: u64 = 5;

/// Regions on their way from this run to others, and from others to this run.
#[derive(Default)]
pub(super) struct RegionMoves {
    /// Regions that are to go, or are out until the store has answered.
    pub(super) giving: BTreeMap<Region, Move>,
    /// Regions that other runs own now, and of which these runs may still have to hear.
    pub(super) given: BTreeMap<Region, Given>,
    /// Tick until which the run does not offer a region again to a run that did not take it.
    turned_down: BTreeMap<(Region, u64), u64>,
    /// Number of attempts to move a region.
    attempts: u64,
    /// Regions that others promised.
    pub(super) taking: BTreeMap<Region, Taking>,
    /// Messages that came for players before their regions did.
    pub(super) early: BTreeMap<CharacterId, Early>,
}

impl RegionMoves {
    /// Returns whether nobody may come into a region or begin to leave it, because the region
    /// itself goes.
    pub(super) fn closing(&self, region: Region) -> bool {
        self.giving.get(&region).is_some_and(Move::closing)
    }

    /// Returns whether a region is about to be nobody's, because it is paused.
    pub(super) fn goes_to_nobody(&self, region: Region) -> bool {
        let going = self.giving.get(&region);
        going.is_some_and(|going| going.to.run_id == NOBODY)
    }

    /// Returns the regions whose owner only the store knows.
    pub(super) fn committing(&self) -> BTreeSet<Region> {
        let out = self.giving.iter().filter(|(_, going)| going.committing());
        out.map(|(region, _)| *region).collect()
    }

    /// Returns whether another run has promised any region.
    pub(super) fn takes(&self) -> bool {
        !self.taking.is_empty()
    }

    /// Returns whether a region is between this run and another one.
    pub(super) fn moves(&self, region: Region) -> bool {
        self.taking.contains_key(&region) || self.giving.contains_key(&region)
    }

    /// Returns whether every run that took a region has heard of it.
    pub(super) fn told(&self) -> bool {
        self.given.values().all(|given| given.state.open())
    }

    /// Returns the number of the next attempt to move a region.
    pub(super) fn next_attempt(&mut self) -> u64 {
        self.attempts += 1;
        self.attempts
    }

    /// Notes that a run did not take a region.
    pub(super) fn turn_down(&mut self, region: Region, run_id: u64, now: u64) {
        self.turned_down
            .insert((region, run_id), now + REFUSED_TICKS);
    }

    /// Forgets the refusals that are old at tick `now`.
    pub(super) fn forgive(&mut self, now: u64) {
        self.turned_down.retain(|_, until| *until > now);
    }

    /// Returns whether a run did not take a region just now.
    pub(super) fn is_turned_down(&self, region: Region, run_id: u64) -> bool {
        self.turned_down.contains_key(&(region, run_id))
    }

    /// Returns the runs that did not take each region just now.
    pub(super) fn refusals(&self) -> BTreeMap<Region, BTreeSet<u64>> {
        let mut refusals: BTreeMap<Region, BTreeSet<u64>> = BTreeMap::new();
        for (region, run) in self.turned_down.keys() {
            refusals.entry(*region).or_default().insert(*run);
        }
        refusals
    }

    /// Forgets promises that nobody can keep any more. Returns the regions, with their epochs, for
    /// which run `me` still awaits the last owner's word at tick `now`.
    pub(super) fn awaited(
        &mut self,
        regions: &Regions,
        me: u64,
        now: u64,
    ) -> BTreeMap<Region, u64> {
        let mut awaited = BTreeMap::new();
        self.taking.retain(|region, taking| {
            let Some(owner) = regions.directory.owners().get(region) else {
                return false;
            };
            let seen = Seen {
                now,
                epoch: owner.epoch,
                mine: owner.run_id == me,
                giver_alive: regions.directory.alive(taking.from_run_id),
            };
            let step = taking.on(TakingEvent::Seen(seen));
            if step == TakingStep::Wait {
                awaited.insert(*region, taking.epoch);
            }
            step != TakingStep::Drop && regions.held.get(region) < Some(&taking.epoch)
        });
        awaited
    }
}
