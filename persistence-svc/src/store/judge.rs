//! Decides whether a batch fits the contents of the store. Pure: the stores lock and read, this
//! module decides, the stores write.
//!
//! Always: a row passes only when its region and ownership sequence are the store's and the region
//! is the writing run's; a transfer passes only when its target stands at the epoch that the row
//! names; only its owner gives a region away, and only to a run that is live.

mod holdings;
mod ledger;

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Batch, CommitOutcome, NOBODY, Region, Row, Then};
use super::value::{Chunk, GroundItem, Holdings};
pub(crate) use holdings::{SlotChanges, grave_owners, slots};

/// A character as the store holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldCharacter {
    pub(crate) region: Region,
    pub(crate) ownership_sequence: i64,
    pub(crate) session_epoch: i64,
    pub(crate) online: bool,
}

/// A region as the store holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldRegion {
    pub(crate) run: i64,
    pub(crate) epoch: i64,
}

/// Rows that the transaction has locked.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) characters: BTreeMap<String, HeldCharacter>,
    pub(crate) regions: BTreeMap<Region, HeldRegion>,
    /// Holdings of the characters whose rows write them.
    pub(crate) holdings: BTreeMap<String, Holdings>,
    /// Ground items that the batch names, by id.
    pub(crate) ground: BTreeMap<String, GroundItem>,
    /// Live runs among those to which the batch gives regions.
    pub(crate) live: BTreeSet<i64>,
    /// Whether the store believes the run although it is fenced; see
    /// [`crate::Mutants::no_fence`].
    pub(crate) believes: bool,
}

impl Held {
    fn owns(&self, run: i64, region: Region) -> bool {
        let owner = self.regions.get(&region);
        owner.is_some_and(|owner| owner.run == run) || self.believes
    }
}

/// State that a row leaves behind, beside its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct After {
    pub(crate) region: Region,
    pub(crate) ownership_sequence: i64,
    pub(crate) online: bool,
}

/// Place of a batch among those of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Next,
    Repeated,
    Gap,
}

/// Compares the batch's sequence with the last applied one.
pub(crate) fn order(last: i64, sequence: i64) -> Order {
    match sequence {
        repeated if repeated <= last => Order::Repeated,
        next if next - 1 == last => Order::Next,
        _ => Order::Gap,
    }
}

/// Returns the refusal of a batch that leaves one out.
pub(crate) fn gap(last: i64, sequence: i64) -> CommitOutcome {
    CommitOutcome::Refused {
        ids: Vec::new(),
        detail: format!("sequence {sequence} does not follow {last}"),
    }
}

/// Returns every region that the batch reads, in the order in which the stores lock them.
pub(crate) fn regions(batch: &Batch) -> BTreeSet<Region> {
    let from = batch.rows.iter().map(|row| row.record.region);
    let to = batch.rows.iter().filter_map(|row| match row.then {
        Then::Transfer { region, .. } => Some(region),
        Then::Stay | Then::Logout { .. } => None,
    });
    let ground = batch.ground.iter().map(|item| item.region);
    let gone = batch.gone.iter().map(|gone| gone.region);
    let given = batch.gives.iter().map(|give| give.region);
    let rows = from.chain(to);
    let chunks = batch.chunks.iter().map(Chunk::region);
    let states = batch.states.iter().map(|state| state.region);
    let value = ground.chain(gone).chain(chunks).chain(states);
    rows.chain(value).chain(given).collect()
}

/// Returns the state that each row leaves behind, in the order of the rows; or the outcome that
/// refuses the batch.
pub(crate) fn judge(batch: &Batch, held: &Held) -> Result<Vec<After>, CommitOutcome> {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut stale = Vec::new();
    let mut why = String::new();
    let mut after = Vec::with_capacity(batch.rows.len());
    for row in &batch.rows {
        let id = row.record.id.as_str();
        let fits = if seen.insert(id) {
            fits(batch.run, row, held)
        } else {
            Err("the character has two rows")
        };
        match fits.and_then(|online| arrives(batch.run, row, held).map(|place| (online, place))) {
            Ok((online, Some((region, ownership_sequence)))) => after.push(After {
                region,
                ownership_sequence,
                online,
            }),
            Ok((_, None)) => stale.push(id.to_owned()),
            Err(reason) => {
                if wrong.is_empty() {
                    why = format!("{id}: {reason}");
                }
                wrong.push(id.to_owned());
            }
        }
    }
    if !wrong.is_empty() {
        return Err(CommitOutcome::Refused {
            ids: wrong,
            detail: why,
        });
    }
    let kept = gives(batch, held)?;
    chunks(batch, held)?;
    states(batch, held)?;
    holdings::balances(batch, held)?;
    if !stale.is_empty() || !kept.is_empty() {
        return Err(CommitOutcome::TransferStale {
            ids: stale,
            regions: kept,
            detail: "the target does not own the region at that epoch, or is not live".to_owned(),
        });
    }
    Ok(after)
}

/// Checks that the batch names each chunk once, and each in a region of the run.
fn chunks(batch: &Batch, held: &Held) -> Result<(), CommitOutcome> {
    let mut seen = BTreeSet::new();
    for chunk in &batch.chunks {
        let why = if !seen.insert((chunk.x, chunk.z)) {
            "is there twice"
        } else if !held.owns(batch.run, chunk.region()) {
            "is not of a region of the run"
        } else {
            continue;
        };
        return Err(CommitOutcome::Refused {
            ids: Vec::new(),
            detail: format!("chunk {},{} {why}", chunk.x, chunk.z),
        });
    }
    Ok(())
}

/// Checks that the batch names the state of each region once, and each of a region that the run owns
/// at that epoch.
fn states(batch: &Batch, held: &Held) -> Result<(), CommitOutcome> {
    let mut seen = BTreeSet::new();
    for state in &batch.states {
        let owner = held.regions.get(&state.region);
        let stands =
            owner.is_some_and(|owner| owner.run == batch.run && owner.epoch == state.epoch);
        let why = if !seen.insert(state.region) {
            "has two states"
        } else if !(stands || held.believes) {
            "is not the run's at the epoch of its state"
        } else {
            continue;
        };
        return Err(CommitOutcome::Refused {
            ids: Vec::new(),
            detail: format!("region {},{} {why}", state.region.x, state.region.z),
        });
    }
    Ok(())
}

/// Returns the regions that the run cannot give, because their taker is not live.
fn gives(batch: &Batch, held: &Held) -> Result<Vec<Region>, CommitOutcome> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for give in &batch.gives {
        let owner = held.regions.get(&give.region);
        let stands = owner.is_some_and(|owner| owner.run == batch.run && owner.epoch == give.epoch);
        let why = if !seen.insert(give.region) {
            "is given twice"
        } else if !stands {
            "is not the run's at that epoch"
        } else if give.to == batch.run || give.to == NOBODY {
            "is given to nobody else"
        } else {
            if !held.live.contains(&give.to) {
                kept.push(give.region);
            }
            continue;
        };
        return Err(CommitOutcome::Refused {
            ids: Vec::new(),
            detail: format!("region {},{} {why}", give.region.x, give.region.z),
        });
    }
    Ok(kept)
}

/// Checks that the run owns the character of the row, and returns whether the character stays in
/// the world. If a newer session replaced the one that logs out, the row saves the character and
/// leaves it online. The run attaches the newer session next and must find it.
fn fits(run: i64, row: &Row, held: &Held) -> Result<bool, &'static str> {
    let record = &row.record;
    let Some(character) = held.characters.get(&record.id) else {
        return Err("there is no such character");
    };
    if held.believes {
        return Ok(true);
    }
    if !character.online {
        return Err("the character is not in the world");
    }
    if character.region != record.region {
        return Err("the character belongs to another region");
    }
    if character.ownership_sequence != record.ownership_sequence {
        return Err("the ownership sequence is another");
    }
    if record.session_epoch > character.session_epoch {
        return Err("the session epoch is not known");
    }
    if !held.owns(run, record.region) {
        return Err("the run does not own the region");
    }
    let leaves = matches!(row.then, Then::Logout { .. });
    Ok(!(leaves && record.session_epoch == character.session_epoch))
}

/// Returns the region and ownership sequence of the character afterwards; `None` if its transfer is
/// stale.
fn arrives(run: i64, row: &Row, held: &Held) -> Result<Option<(Region, i64)>, &'static str> {
    let before = row.record.ownership_sequence;
    let Then::Transfer {
        region,
        epoch,
        ownership_sequence,
    } = row.then
    else {
        return Ok(Some((row.record.region, before)));
    };
    let expected = if epoch.is_some() { before + 1 } else { before };
    if ownership_sequence != expected {
        return Err("the transfer's ownership sequence does not follow");
    }
    let target = held.regions.get(&region);
    let stands = target.is_some_and(|target| match epoch {
        Some(epoch) => target.epoch == epoch && target.run != NOBODY,
        None => target.run == run,
    });
    Ok(stands.then_some((region, ownership_sequence)))
}
