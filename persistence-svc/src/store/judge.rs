//! Decides whether a batch fits the contents of the store. Pure: the stores lock and read, this
//! module decides, the stores write.
//!
//! Always: a row passes only when its region and ownership sequence are the store's and the region
//! is the writing run's; a transfer passes only when its target stands at the epoch that the row
//! names; only its owner gives a region away, and only to a run that is live, or to nobody while it
//! is paused.

mod holdings;
mod ledger;

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Batch, CommitOutcome, NOBODY, Position, Region, Row, Then};
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
    /// Whether nobody may play it until an operator resumes it.
    pub(crate) paused: bool,
}

impl HeldRegion {
    /// Returns whether the owner may give it to `to`.
    fn may_go_to(&self, to: i64, live: &BTreeSet<i64>) -> bool {
        match to {
            NOBODY => self.paused,
            run => live.contains(&run),
        }
    }
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
    let walked = batch.positions.iter();
    let walked = walked.flat_map(|row| [Some(row.region), row.to]).flatten();
    let given = batch.gives.iter().map(|give| give.region);
    let rows = from.chain(to).chain(walked);
    let chunks = batch.chunks.iter().map(Chunk::region);
    let states = batch.states.iter().map(|state| state.region);
    let value = ground.chain(gone).chain(chunks).chain(states);
    rows.chain(value).chain(given).collect()
}

/// State that the rows of a batch leave behind, in their order.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) rows: Vec<After>,
    /// Region of each of [`Batch::positions`].
    pub(crate) positions: Vec<Region>,
}

/// The rows of a batch that do not fit.
#[derive(Default)]
struct Faults {
    wrong: Vec<String>,
    /// Why the first of them is wrong.
    why: String,
    stale: Vec<String>,
}

impl Faults {
    /// Returns the state of a row that fits; notes why it does not.
    fn sort<T>(&mut self, id: &str, found: Result<Option<T>, &'static str>) -> Option<T> {
        match found {
            Ok(Some(after)) => return Some(after),
            Ok(None) => self.stale.push(id.to_owned()),
            Err(reason) => {
                if self.wrong.is_empty() {
                    self.why = format!("{id}: {reason}");
                }
                self.wrong.push(id.to_owned());
            }
        }
        None
    }
}

/// Returns the state that the rows leave behind; or the outcome that refuses the batch.
pub(crate) fn judge(batch: &Batch, held: &Held) -> Result<Verdict, CommitOutcome> {
    let mut seen = BTreeSet::new();
    let mut faults = Faults::default();
    let mut once = |id| match seen.insert(id) {
        true => Ok(()),
        false => Err("the character has two rows"),
    };
    let mut after = Verdict::default();
    for row in &batch.rows {
        let id = row.record.id.as_str();
        let found = once(id).and_then(|()| stands(batch.run, row, held));
        after.rows.extend(faults.sort(id, found));
    }
    for row in &batch.positions {
        let id = row.id.as_str();
        let found = once(id).and_then(|()| stays(batch.run, row, held));
        after.positions.extend(faults.sort(id, found));
    }
    let Faults { wrong, why, stale } = faults;
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
            detail:
                "the target does not own the region at that epoch, is not live, or is nobody and \
the region is not paused"
                    .to_owned(),
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

/// Returns the regions that the run cannot give, because their taker is not live, or because they
/// are not paused and would be nobody's.
fn gives(batch: &Batch, held: &Held) -> Result<Vec<Region>, CommitOutcome> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for give in &batch.gives {
        let owner = held.regions.get(&give.region);
        let owner = owner.filter(|owner| owner.run == batch.run && owner.epoch == give.epoch);
        let first = seen.insert(give.region);
        let why = match owner {
            _ if !first => "is given twice",
            None => "is not the run's at that epoch",
            Some(_) if give.to == batch.run => "is given to the run itself",
            Some(owner) => {
                if !owner.may_go_to(give.to, &held.live) {
                    kept.push(give.region);
                }
                continue;
            }
        };
        return Err(CommitOutcome::Refused {
            ids: Vec::new(),
            detail: format!("region {},{} {why}", give.region.x, give.region.z),
        });
    }
    Ok(kept)
}

/// Word of a run about a character of which it writes.
struct Claim<'a> {
    id: &'a str,
    region: Region,
    ownership_sequence: i64,
    session_epoch: i64,
}

/// Checks that the run owns the character, and returns it as the store holds it.
fn owned<'a>(
    run: i64,
    claim: &Claim<'_>,
    held: &'a Held,
) -> Result<&'a HeldCharacter, &'static str> {
    let Some(character) = held.characters.get(claim.id) else {
        return Err("there is no such character");
    };
    if held.believes {
        return Ok(character);
    }
    if !character.online {
        return Err("the character is not in the world");
    }
    if character.region != claim.region {
        return Err("the character belongs to another region");
    }
    if character.ownership_sequence != claim.ownership_sequence {
        return Err("the ownership sequence is another");
    }
    if claim.session_epoch > character.session_epoch {
        return Err("the session epoch is not known");
    }
    if !held.owns(run, claim.region) {
        return Err("the run does not own the region");
    }
    Ok(character)
}

/// Returns the state that a row leaves behind; `None` if its transfer is stale. If a newer session
/// replaced the one that logs out, the row saves the character and leaves it online. The run attaches
/// the newer session next and must find it.
fn stands(run: i64, row: &Row, held: &Held) -> Result<Option<After>, &'static str> {
    let record = &row.record;
    let claim = Claim {
        id: &record.id,
        region: record.region,
        ownership_sequence: record.ownership_sequence,
        session_epoch: record.session_epoch,
    };
    let character = owned(run, &claim, held)?;
    let leaves = matches!(row.then, Then::Logout { .. })
        && record.session_epoch == character.session_epoch
        && !held.believes;
    let place = arrives(run, row, held)?;
    Ok(place.map(|(region, ownership_sequence)| After {
        region,
        ownership_sequence,
        online: !leaves,
    }))
}

/// Returns the region of a character of which the batch writes only the position; `None` if the run
/// does not own that region.
fn stays(run: i64, row: &Position, held: &Held) -> Result<Option<Region>, &'static str> {
    let claim = Claim {
        id: &row.id,
        region: row.region,
        ownership_sequence: row.ownership_sequence,
        session_epoch: row.session_epoch,
    };
    owned(run, &claim, held)?;
    let region = row.to.unwrap_or(row.region);
    let target = held.regions.get(&region);
    let stands = row.to.is_none() || target.is_some_and(|target| target.run == run);
    Ok(stands.then_some(region))
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
