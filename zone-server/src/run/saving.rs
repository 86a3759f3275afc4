//! Batches: the run cuts one when something is due, and settles it when the store answers.

use proto::rpc::persistence::v1::{CommitReply, commit_reply::Outcome};
use world::{CharacterId, Region};

use super::Run;
use crate::{
    beat::End,
    commit::batch::{Answer, Sending, Settled, Wanted},
    translate::record,
};

impl Run {
    /// Sends the next batch, if one is due and none is in flight.
    pub(super) fn cut(&mut self) {
        if !self.batch.flying() {
            let interval = self.config.ticks(self.config.region_save_interval);
            for region in self.saves.due(self.now, interval) {
                self.save_region(region);
            }
        }
        let (roster, world) = (&self.roster, &self.world);
        let record = |who: &CharacterId, wanted: Wanted<'_>| {
            let slot = roster.get(who)?;
            let player = world.player(who)?.record();
            let mut row = match wanted {
                Wanted::Place => record::place(player, slot.session_epoch),
                Wanted::Whole(banked) => record::row_with(player, &slot.owner(), banked),
            };
            if let Some(place) = slot.departure.place {
                (row.x, row.z) = (place.x, place.z);
            }
            Some(row)
        };
        if let Some(mut sending) = self.batch.cut(self.now, record) {
            sending.traces = std::mem::take(&mut self.traces);
            self.send(sending);
        }
    }

    /// Sends the state of a region that the run plays along with the next batch, unless the store
    /// has it.
    pub(super) fn save_region(&mut self, region: Region) {
        let epoch = self.regions.held.get(&region);
        let (Some(epoch), Some(state)) = (epoch, self.world.saved_region(region)) else {
            return self.saves.left(region);
        };
        match self.saves.looked(region, self.now, state) {
            Ok(Some(state)) => self.batch.region_state(region, *epoch, state),
            Ok(None) => {}
            Err(bytes) => {
                tracing::error!(
                    run = self.id,
                    ?region,
                    bytes,
                    "a region's state is too long"
                );
            }
        }
    }

    fn send(&mut self, sending: Sending) {
        if self.context.effects.commit(sending).is_err() {
            // One batch is in flight at most, so there is room unless the committer is gone.
            tracing::error!(run = self.id, "nobody commits any more; the run ends");
            self.ending.end = Some(End::Refused);
        }
    }

    /// Handles the store's answer to a batch.
    pub(super) fn answered(&mut self, sequence: u64, reply: CommitReply) {
        let ids = reply.character_ids.iter();
        let ids = ids.map(|id| CharacterId::from(id.as_str()));
        let regions = reply.regions.iter();
        let regions = regions.filter_map(|at| record::region(Some(*at)));
        let answer = match reply.outcome() {
            Outcome::Done => Answer::Done,
            Outcome::TransferStale => Answer::Stale(ids.collect(), regions.collect()),
            Outcome::Fenced => {
                tracing::warn!(run = self.id, "the run is fenced");
                self.ending.end = Some(End::Fenced);
                return;
            }
            Outcome::Refused | Outcome::Unspecified => {
                tracing::error!(
                    run = self.id,
                    sequence,
                    characters = reply.character_ids.join(" "),
                    detail = reply.detail,
                    "the store refused a batch; the run ends"
                );
                self.ending.refused = ids.collect();
                self.ending.end = Some(End::Refused);
                return;
            }
        };
        let settled = self.batch.answered(sequence, answer);
        self.settle(settled);
        self.cut();
        self.stopped();
    }

    fn settle(&mut self, settled: Settled) {
        if settled.broken {
            tracing::error!(
                run = self.id,
                "the store called a batch stale that gives nobody away"
            );
            self.ending.end = Some(End::Refused);
            return;
        }
        if let Some((sequence, rows)) = &settled.applied {
            self.context.metrics.applied(rows);
            self.release(*sequence, rows, &settled);
        }
        for who in &settled.transferred {
            self.handed_over(who);
        }
        for (who, reason) in &settled.logged_out {
            self.logged_out(who, reason);
        }
        for who in &settled.stale {
            self.transfer_stale(who);
        }
        for region in &settled.given {
            self.region_given(*region);
        }
        for region in &settled.stale_gives {
            self.region_stays(*region);
        }
        for region in settled.not_mine {
            if self.regions.plays(region) {
                self.drop_region(region);
            }
        }
        if let Some(again) = settled.again {
            self.send(again);
        }
    }
}
