//! Which regions are played: as the directory says, from the edge after they came.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use proto::rpc::persistence::v1::{DirectoryUpdate, LoadRegionReply};
use tonic::Status;
use world::{CharacterId, Region, Tick};

use super::Run;
use crate::{
    ownership::{
        decide::{Act, decide},
        keeper::Renewed,
    },
    tick_loop::End,
};

/// A run whose clock is further off gives its regions away.
const CLOCK_TICKS_MAX: u64 = 3;
/// A tick begins no further region after so much time.
const REGIONS_IN_MAX: Duration = Duration::from_millis(50);

impl Run {
    /// A new version of the directory, or a sign of life, at which loads that failed are tried
    /// again.
    pub(super) fn directory(&mut self, update: DirectoryUpdate) {
        self.directory.apply(update);
        let named = self.directory.of(self.id);
        self.loading
            .retain(|region, epoch| named.get(region) == Some(epoch));
        self.loaded
            .retain(|(region, epoch, _)| named.get(region) == Some(epoch));
        let mut coming = self.loading.clone();
        coming.extend(
            self.loaded
                .iter()
                .map(|(region, epoch, _)| (*region, *epoch)),
        );
        for act in decide(&named, &self.held, &coming) {
            match act {
                Act::Drop(region) => self.drop_region(region),
                Act::Load(region, epoch) => {
                    self.loading.insert(region, epoch);
                    self.hands.outside.load_region(region, epoch);
                }
            }
        }
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
            Ok(reply) => self.loaded.push_back((region, epoch, reply)),
            Err(status) => {
                tracing::warn!(run = self.id, ?region, %status, "cannot load a region yet");
            }
        }
    }

    /// At an edge: what has come is played from this tick, as much as it has time for; the rest
    /// waits for the next.
    pub(super) fn regions_in(&mut self, last: u64) {
        let begun = Instant::now();
        while let Some((region, epoch, reply)) = self.loaded.pop_front() {
            let LoadRegionReply {
                characters,
                state,
                ground,
                played_tick,
            } = *reply;
            let state = (!state.is_empty()).then_some(&*state);
            if let Err(why) = self.world.region_in(region, Tick(last), state) {
                tracing::error!(run = self.id, ?region, %why, "a region's state cannot be read");
                if self.world.region_in(region, Tick(last), None).is_err() {
                    continue;
                }
            }
            self.held.insert(region, epoch);
            self.ground_from_store(region, played_tick, &ground);
            for row in characters {
                self.admit(row);
            }
            if begun.elapsed() > REGIONS_IN_MAX {
                break;
            }
        }
    }

    /// A region is another's: everything in it is dropped here.
    pub(super) fn drop_region(&mut self, region: Region) {
        tracing::info!(run = self.id, ?region, "a region is no longer this run's");
        self.held.remove(&region);
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
                if off > CLOCK_TICKS_MAX {
                    tracing::error!(run = self.id, ticks = off, "the clock is off; the run ends");
                    self.end = Some(End::Astray);
                }
            }
        }
    }
}
