//! Checks that a batch's ledger agrees exactly with the changes of holdings in its rows. Pure.
//!
//! Always: per holder and item the rows of the ledger add up to the change of holdings, nothing
//! missing and nothing over; a ground item belongs to a region of the writing run.

use std::collections::{BTreeMap, BTreeSet};

use super::{Held, ledger};
use crate::store::model::{Batch, CommitOutcome};
use crate::store::value::{GroundItem, Holdings, Stack};

/// Holder (`None`: the ground) and item.
type Account<'a> = (Option<&'a str>, &'a str);

/// Pack slots that the rows of a batch change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotChanges<'a> {
    /// Character, slot that was empty and its stack now.
    pub(crate) filled: Vec<(&'a str, i32, &'a Stack)>,
    /// Character, slot that held another stack and its stack now.
    pub(crate) changed: Vec<(&'a str, i32, &'a Stack)>,
    /// Character and its slot that is empty now.
    pub(crate) cleared: Vec<(&'a str, i32)>,
}

/// Returns the slots that differ from those in the store, and no others.
pub(crate) fn slots<'a>(batch: &'a Batch, held: &'a Held) -> SlotChanges<'a> {
    let mut changes = SlotChanges::default();
    for row in batch.rows.iter().filter(|row| row.holdings) {
        let id = row.record.id.as_str();
        let now = &row.record.holdings.pack;
        let before = held.holdings.get(id).map(|holdings| &holdings.pack);
        let was = |slot: &i32| before.and_then(|pack| pack.get(slot));
        for (slot, stack) in now {
            match was(slot) {
                None => changes.filled.push((id, *slot, stack)),
                Some(old) if old != stack => changes.changed.push((id, *slot, stack)),
                Some(_) => {}
            }
        }
        let gone = before.into_iter().flat_map(|pack| pack.keys());
        let gone = gone.filter(|slot| !now.contains_key(slot));
        changes.cleared.extend(gone.map(|slot| (id, *slot)));
    }
    changes
}

/// Returns the owners of the graves that the batch changes.
pub(crate) fn grave_owners<'a>(batch: &'a Batch, held: &'a Held) -> BTreeSet<&'a str> {
    let put = batch.ground.iter();
    let ids = batch.ground.iter().map(|item| &item.id);
    let ids = ids.chain(batch.gone.iter().map(|gone| &gone.id));
    let before = ids.filter_map(|id| held.ground.get(id));
    let buried = put.chain(before).filter(|item| !item.grave.is_empty());
    buried.map(|item| item.owner.as_str()).collect()
}

/// Fails with the outcome that refuses the batch.
pub(super) fn balances(batch: &Batch, held: &Held) -> Result<(), CommitOutcome> {
    ground(batch, held).map_err(|detail| refused(BTreeSet::new(), detail))?;
    let mut open = changes(batch, held);
    for row in &batch.ledger {
        let account = (row.character.as_deref(), row.item.as_str());
        *open.entry(account).or_default() -= row.delta;
    }
    open.retain(|_, left| *left != 0);
    let Some(((holder, item), left)) = open.first_key_value() else {
        return ledger::suits(batch);
    };
    let holder = holder.unwrap_or("the ground");
    let detail =
        format!("{holder}: the change of {item} differs by {left} from what the ledger says");
    Err(refused(at_fault(&open, batch), detail))
}

/// Returns the characters whose holdings differ. If only the ground differs, it returns each
/// character that moved one of those items.
fn at_fault<'a>(open: &BTreeMap<Account<'a>, i64>, batch: &'a Batch) -> BTreeSet<&'a str> {
    let mut ids: BTreeSet<&str> = open.keys().filter_map(|(holder, _)| *holder).collect();
    if ids.is_empty() {
        let moved = batch.ledger.iter();
        let moved = moved.filter(|row| open.contains_key(&(None, row.item.as_str())));
        ids.extend(moved.filter_map(|row| row.character.as_deref()));
    }
    ids
}

pub(super) fn refused(ids: BTreeSet<&str>, detail: String) -> CommitOutcome {
    CommitOutcome::Refused {
        ids: ids.into_iter().map(str::to_owned).collect(),
        detail,
    }
}

/// Returns the changes of everybody's holdings by the rows.
fn changes<'a>(batch: &'a Batch, held: &'a Held) -> BTreeMap<Account<'a>, i64> {
    let mut changes: BTreeMap<Account<'a>, i64> = BTreeMap::new();
    for row in &batch.rows {
        let id = row.record.id.as_str();
        let mut has = |holdings: &'a Holdings, sign: i64| {
            let carried = holdings.carried().filter(|_| row.holdings);
            let dressed = holdings.dressed().filter(|_| row.worn);
            let staked = holdings.staked().filter(|_| row.staked);
            // Of the bank, both sides hold only the items that the row names.
            let kept = holdings.banked().chain(staked);
            for (item, amount) in carried.chain(dressed).chain(kept) {
                *changes.entry((Some(id), item)).or_default() += sign * amount;
            }
        };
        has(&row.record.holdings, 1);
        if let Some(before) = held.holdings.get(id) {
            has(before, -1);
        }
    }
    let mut lies = |item: &'a GroundItem, sign: i64| {
        let amount = sign * i64::from(item.stack.quantity);
        *changes.entry((None, &item.stack.item)).or_default() += amount;
    };
    for item in &batch.ground {
        lies(item, 1);
    }
    let given = batch.ground.iter().map(|item| &item.id);
    for id in given.chain(batch.gone.iter().map(|gone| &gone.id)) {
        if let Some(before) = held.ground.get(id) {
            lies(before, -1);
        }
    }
    changes
}

/// Checks the ground items: each appears once, belongs to a region of the run, and keeps its
/// region.
fn ground(batch: &Batch, held: &Held) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let put = batch
        .ground
        .iter()
        .map(|item| (&item.id, item.region, true));
    let gone = batch.gone.iter().map(|gone| (&gone.id, gone.region, false));
    for (id, region, lies) in put.chain(gone) {
        let before = held.ground.get(id);
        let why = if !seen.insert(id) {
            "it is there twice"
        } else if !held.owns(batch.run, region) {
            "the run does not own its region"
        } else if before.is_some_and(|before| before.region != region) {
            "it belongs to another region"
        } else if !lies && before.is_none() {
            "there is no such ground item"
        } else {
            continue;
        };
        return Err(format!("{id}: {why}"));
    }
    Ok(())
}
