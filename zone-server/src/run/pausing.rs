//! Gives the regions that an operator paused to nobody.
//!
//! Always: the region goes with a commit that has everybody in it as they stand. Whoever loads it
//! after it was resumed plays on from there. Until the commit, the run plays it.

use handover::decide::NOBODY;
use world::Region;

use super::{Run, giving::Move};
use crate::{ownership::give::GIVES_MAX, spans::Ongoing};

impl Run {
    /// Begins to give the paused regions that the run plays to nobody, few at a time.
    pub(super) fn begin_pauses(&mut self) {
        if self.ending.stopping.is_some() {
            return;
        }
        let room = GIVES_MAX.saturating_sub(self.moves.giving.len());
        for (region, epoch) in self.to_pause(room) {
            let tracer = self.context.tracing.then_some(&self.context.tracer);
            let span = Ongoing::begin(tracer, "zone.region_move", self.id, region);
            span.goes_to(NOBODY);
            let going = Move::to_nobody(region, epoch, self.now, span);
            self.moves.giving.insert(region, going);
        }
    }

    /// Returns the paused regions that the run can give away now, with their epochs.
    fn to_pause(&self, room: usize) -> Vec<(Region, u64)> {
        let directory = &self.regions.directory;
        let mine = directory.paused().iter().filter_map(|region| {
            let owner = directory.owner(*region)?;
            let plays = owner.run_id == self.id && self.regions.plays_at(*region, owner.epoch);
            let goes = self.moves.giving.contains_key(region);
            let waits = self.moves.is_turned_down(*region, NOBODY);
            (plays && !goes && !waits).then_some((*region, owner.epoch))
        });
        mine.take(room).collect()
    }

    /// Lets everybody in a region go that is nobody's from `epoch` on, and tells their gateways.
    /// The outcome of the inputs that the run did not play is unknown, as after a takeover.
    pub(super) fn players_rest(&mut self, region: Region, epoch: u64) {
        let gone = self.gone_with(region);
        let players = gone.len();
        tracing::info!(run = self.id, ?region, epoch, players, "a region is paused");
        self.context.metrics.departed("region_paused", players);
        self.context.metrics.region_move("paused");
        for (who, slot) in gone {
            self.tell_moved(&who, &slot, NOBODY);
            self.handovers.rests(&who, slot.sequence + 1, self.now);
            self.unanswered(&who, slot);
        }
    }
}
