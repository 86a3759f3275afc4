//! Decides whether items and coins may change owners in a tick, and brings in the ground items of a
//! region.

use proto::rpc::persistence::v1::{ChunkRow, GroundItem};
use world::{Chunk, Region, Tick, Value};

use super::Run;
use crate::{
    commit::bounds::{self, Pressure},
    metrics::WaitingValue,
    translate::value,
};

impl Run {
    /// Returns whether items and coins may change owners in the tick that begins.
    pub(super) fn value_now(&self) -> Value {
        bounds::value(Pressure {
            ledger: self.batch.ledger_entries(),
            waiting_ticks: self.batch.waiting_ticks(self.now),
            failed: self.batch.failing(),
            frozen: self.regions.directory.frozen(),
        })
    }

    /// Records in the metrics the value that waits for the store.
    pub(super) fn measure_value(&mut self) {
        let batches = self.roster.values();
        let batches = batches.flat_map(crate::roster::PlayerSlot::held_for);
        let held_ticks = self.held_since.note(batches, self.now);
        let held = self.roster.values().map(crate::roster::PlayerSlot::held);
        let held = held.sum::<usize>() + self.shown.held_ground.len();
        let state = match self.value_now() {
            Value::Open => 0,
            Value::Frozen => 1,
            Value::Unavailable => 2,
        };
        self.context.metrics.value(WaitingValue {
            ledger: self.batch.ledger_entries(),
            held,
            held_ms: held_ticks * self.config.tick_ms,
            commit_ms: self.batch.waiting_ticks(self.now) * self.config.tick_ms,
            state,
        });
    }

    /// Brings in the store's ground items of a region that has just come in from the store.
    /// `played` is the last tick of its last owner, from which the items' timers go on.
    pub(super) fn ground_from_store(&mut self, region: Region, played: u64, rows: &[GroundItem]) {
        let items: Vec<_> = rows.iter().filter_map(value::ground).collect();
        if items.len() < rows.len() {
            tracing::error!(
                run = self.id,
                ?region,
                "rows of ground items cannot be read"
            );
        }
        if !items.is_empty() {
            self.world.ground_in(region, Tick(played), items.clone());
        }
        self.ground_lies(region);
        // The items' timers differ from those in the store, and would differ again after a crash.
        let later = items.iter().filter_map(|before| {
            let now = self.world.ground_item(&before.id)?;
            (now != before).then(|| now.clone())
        });
        let later: Vec<_> = later.collect();
        for item in later {
            self.batch.value().put(item);
        }
    }

    /// Brings in the store's persistent objects of a region that has just come in from the store.
    /// `played` is as in [`Run::ground_from_store`].
    pub(super) fn persistent_objects_from_store(
        &mut self,
        region: Region,
        played: u64,
        rows: &[ChunkRow],
    ) {
        let all: Vec<_> = rows.iter().filter_map(value::lasts).collect();
        if all.len() < rows.len() {
            tracing::error!(run = self.id, ?region, "rows of chunks cannot be read");
        }
        if all.is_empty() {
            return;
        }
        self.world.persistent_objects_in(region, Tick(played), all);
        // The objects' timers differ from those in the store.
        let chunks = rows.iter().filter_map(|row| row.chunk);
        let chunks: Vec<Chunk> = chunks.map(|at| Chunk { x: at.x, z: at.z }).collect();
        for chunk in chunks {
            let data = value::persistent_objects(&self.world.persistent_objects(chunk));
            self.batch.value().lasts(chunk, data);
        }
    }

    /// Notes that the store has all ground items of a region that has come in.
    pub(super) fn ground_lies(&mut self, region: Region) {
        for item in self.world.ground(region) {
            self.batch.value().lies(&item.id, region);
        }
    }
}
