//! The changes of value since the last batch was cut: ground items and the ledger. Pure.
//!
//! Always: a ground item gives at most one row, its last state; an item that came and went unseen
//! by the store gives none. The ledger is the sum of its entries by holder, item and cause; sums of
//! zero give no row.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use proto::rpc::persistence::v1::{ChunkRow, CommitRows, GroundGone, LedgerRow};
use world::{Cause, CharacterId, Chunk, EntityId, GroundItem, Holder, LedgerEntry, Region};

use crate::translate::{record::rpc_region, value};

type Key = (Holder, Arc<str>, Cause);

/// The changes that no batch holds yet.
#[derive(Debug, Default)]
pub(crate) struct Value {
    /// Ground items of which the store will know once the batch in flight is done.
    stored: BTreeMap<EntityId, Region>,
    put: BTreeMap<EntityId, GroundItem>,
    gone: BTreeMap<EntityId, Region>,
    ledger: BTreeMap<Key, i64>,
    /// Persistent objects of chunks as they are now, in JSON.
    chunks: BTreeMap<Chunk, String>,
}

impl Value {
    /// Notes that the store has this ground item.
    pub(crate) fn lies(&mut self, id: &EntityId, region: Region) {
        self.stored.insert(id.clone(), region);
    }

    /// Notes that a ground item came or changed.
    pub(crate) fn put(&mut self, item: GroundItem) {
        self.gone.remove(&item.id);
        self.put.insert(item.id.clone(), item);
    }

    /// Notes that a ground item lies no more.
    pub(crate) fn gone(&mut self, id: &EntityId) {
        self.put.remove(id);
        if let Some(region) = self.stored.get(id) {
            self.gone.insert(id.clone(), *region);
        }
    }

    /// Notes the persistent objects of a chunk as they are now; `data` is JSON.
    pub(crate) fn lasts(&mut self, chunk: Chunk, data: String) {
        self.chunks.insert(chunk, data);
    }

    /// Notes that a holder gained or lost some of an item.
    pub(crate) fn ledger(&mut self, entry: LedgerEntry) {
        let key = (entry.holder, entry.item, entry.cause);
        let sum = self.ledger.entry(key).or_default();
        // The store refuses a sum that differs from the real change, so this bound cannot duplicate
        // items.
        *sum = sum.saturating_add(entry.delta);
    }

    /// Returns whether no change waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.put.is_empty()
            && self.gone.is_empty()
            && self.ledger.is_empty()
            && self.chunks.is_empty()
    }

    /// Returns the number of ledger entries that wait.
    pub(crate) fn entries(&self) -> usize {
        self.ledger.len()
    }

    /// Moves all that waits into `rows`.
    pub(crate) fn take(&mut self, rows: &mut CommitRows) {
        for (id, item) in std::mem::take(&mut self.put) {
            rows.ground.push(value::row(&item));
            self.stored.insert(id, item.region);
        }
        for (id, region) in std::mem::take(&mut self.gone) {
            self.stored.remove(&id);
            rows.gone.push(GroundGone {
                id: id.to_string(),
                region: Some(rpc_region(region)),
            });
        }
        let chunks = std::mem::take(&mut self.chunks).into_iter();
        rows.chunks.extend(chunks.map(|(at, data)| ChunkRow {
            chunk: Some(proto::rpc::common::v1::Chunk { x: at.x, z: at.z }),
            data,
        }));
        let ledger = std::mem::take(&mut self.ledger);
        rows.ledger
            .extend(ledger.into_iter().filter_map(ledger_row));
    }

    /// Moves only the ledger entries of `who` into `rows`, for the broken variant `separate_saves`.
    pub(crate) fn take_of(&mut self, who: &CharacterId, rows: &mut CommitRows) {
        let of = Holder::Character(who.clone());
        let all = std::mem::take(&mut self.ledger).into_iter();
        let (taken, rest) = all.partition(|(key, _)| key.0 == of);
        self.ledger = rest;
        let taken: BTreeMap<Key, i64> = taken;
        rows.ledger.extend(taken.into_iter().filter_map(ledger_row));
    }

    /// Forgets a region that belongs to another run although no batch says so. Returns true when a
    /// change of this region or of one of `lost` waits, which the run can never write.
    pub(crate) fn lost(&mut self, region: Region, lost: &BTreeSet<CharacterId>) -> bool {
        let put = self.put.values().any(|item| item.region == region);
        let gone = self.gone.values().any(|of| *of == region);
        let of_lost = |holder: &Holder| match holder {
            Holder::Character(who) => lost.contains(who),
            Holder::Ground => false,
        };
        let held = self.ledger.keys().any(|(holder, ..)| of_lost(holder));
        self.forget(region);
        put || gone || held
    }

    /// Forgets the ground items and chunks of a region that went with a batch: they are another's.
    pub(crate) fn forget(&mut self, region: Region) {
        self.stored.retain(|_, of| *of != region);
        self.chunks
            .retain(|chunk, _| Region::from(*chunk) != region);
    }
}

fn ledger_row(((holder, item, cause), delta): (Key, i64)) -> Option<LedgerRow> {
    (delta != 0).then(|| LedgerRow {
        character_id: match holder {
            Holder::Character(who) => who.to_string(),
            Holder::Ground => String::new(),
        },
        item_id: item.to_string(),
        delta,
        cause: cause.name().to_owned(),
        balance: value::balance(cause.balance()).into(),
    })
}
