//! Whether a batch's ledger says just what its rows do to what everybody holds. Pure.
//!
//! Always: per holder and item the rows of the ledger add up to the change of holdings, nothing
//! missing and nothing over; what is moved adds up to nothing; only causes that make make, and
//! only those that destroy destroy; a ground item belongs to a region of the writing run.

use std::collections::{BTreeMap, BTreeSet};

use super::Held;
use crate::store::model::{Batch, CommitOutcome};
use crate::store::value::{COINS, Cause, GroundItem, Holdings, Stack};

/// Who holds (nobody: the ground), and what.
type Account<'a> = (Option<&'a str>, &'a str);

/// What the pack rows of a batch change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotChanges<'a> {
    /// Character, slot and what is in it now.
    pub(crate) put: Vec<(&'a str, i32, &'a Stack)>,
    /// Character and slot that are empty now.
    pub(crate) cleared: Vec<(&'a str, i32)>,
}

/// The slots that differ from what the store holds, and no others.
pub(crate) fn slots<'a>(batch: &'a Batch, held: &'a Held) -> SlotChanges<'a> {
    let mut changes = SlotChanges::default();
    for row in batch.rows.iter().filter(|row| row.holdings) {
        let id = row.record.id.as_str();
        let now = &row.record.holdings.pack;
        let before = held.holdings.get(id).map(|holdings| &holdings.pack);
        let was = |slot: &i32| before.and_then(|pack| pack.get(slot));
        let differs = now.iter().filter(|(slot, stack)| was(slot) != Some(stack));
        changes
            .put
            .extend(differs.map(|(slot, stack)| (id, *slot, stack)));
        let gone = before.into_iter().flat_map(|pack| pack.keys());
        let gone = gone.filter(|slot| !now.contains_key(slot));
        changes.cleared.extend(gone.map(|slot| (id, *slot)));
    }
    changes
}

/// Those of whose graves the batch changes something.
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
        return causes(batch);
    };
    let holder = holder.unwrap_or("the ground");
    let detail =
        format!("{holder}: the change of {item} differs by {left} from what the ledger says");
    Err(refused(at_fault(&open, batch), detail))
}

/// Whose holdings differ; of what the ground has too much or too little, whoever moved it.
fn at_fault<'a>(open: &BTreeMap<Account<'a>, i64>, batch: &'a Batch) -> BTreeSet<&'a str> {
    let mut ids: BTreeSet<&str> = open.keys().filter_map(|(holder, _)| *holder).collect();
    if ids.is_empty() {
        let moved = batch.ledger.iter();
        let moved = moved.filter(|row| open.contains_key(&(None, row.item.as_str())));
        ids.extend(moved.filter_map(|row| row.character.as_deref()));
    }
    ids
}

fn refused(ids: BTreeSet<&str>, detail: String) -> CommitOutcome {
    CommitOutcome::Refused {
        ids: ids.into_iter().map(str::to_owned).collect(),
        detail,
    }
}

/// What the rows do to what everybody holds.
fn changes<'a>(batch: &'a Batch, held: &'a Held) -> BTreeMap<Account<'a>, i64> {
    let mut changes: BTreeMap<Account<'a>, i64> = BTreeMap::new();
    for row in &batch.rows {
        let id = row.record.id.as_str();
        let mut has = |holdings: &'a Holdings, sign: i64| {
            let carried = holdings.carried().filter(|_| row.holdings);
            let dressed = holdings.dressed().filter(|_| row.worn);
            let staked = holdings.staked().filter(|_| row.staked);
            // Of the bank, both sides hold only what the row names.
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

/// Ground items: each once, each of a region of the run and of the same one as ever.
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

/// Whether each cause does only what it may.
#[allow(clippy::too_many_lines, reason = "one arm a cause")]
fn causes(batch: &Batch) -> Result<(), CommitOutcome> {
    let rows: BTreeSet<&str> = batch
        .rows
        .iter()
        .map(|row| row.record.id.as_str())
        .collect();
    let mut moved: BTreeMap<(Cause, &str), i64> = BTreeMap::new();
    let mut noted: BTreeMap<&str, i64> = BTreeMap::new();
    let mut worked: BTreeMap<(Cause, &str), (i64, i64)> = BTreeMap::new();
    for row in &batch.ledger {
        let who = row.character.as_deref();
        let why = match row.cause {
            _ if who.is_some_and(|id| !rows.contains(id)) => Some("has no row in the batch"),
            Cause::Starter if row.delta < 0 => Some("a starter pack destroys nothing"),
            Cause::Quest if row.delta < 0 => Some("a quest destroys nothing"),
            Cause::Gift if who.is_none() || row.delta < 0 => Some("a gift is for somebody"),
            Cause::Expire if row.delta > 0 => Some("what expires is not made"),
            Cause::Deleted => Some("only the store deletes"),
            Cause::ShopBuy | Cause::ShopSell if who.is_none() => Some("the ground is no customer"),
            // Coins go one way, and things the other.
            Cause::ShopBuy if (row.item == COINS) != (row.delta < 0) => {
                Some("who buys pays coins and gets things")
            }
            Cause::ShopSell if (row.item == COINS) != (row.delta > 0) => {
                Some("who sells gets coins and gives things")
            }
            Cause::ShopBuy | Cause::ShopSell => None,
            Cause::Trade if who.is_none() => Some("nobody trades with the ground"),
            Cause::Duel if who.is_none() => Some("nobody fights the ground"),
            Cause::Drop
            | Cause::Pickup
            | Cause::Shoot
            | Cause::Trade
            | Cause::Death
            | Cause::Duel => {
                *moved.entry((row.cause, &row.item)).or_default() += row.delta;
                None
            }
            Cause::Note if who.is_none() => Some("what lies on the ground stays as it is"),
            Cause::Note => {
                *noted.entry(who.unwrap_or_default()).or_default() += row.delta;
                None
            }
            Cause::Gather | Cause::Make | Cause::Burn if who.is_none() => {
                Some("what lies on the ground is not worked on")
            }
            Cause::Gather | Cause::Make => {
                let of = worked.entry((row.cause, who.unwrap_or_default()));
                let (gained, lost) = of.or_default();
                *gained += row.delta.max(0);
                *lost -= row.delta.min(0);
                None
            }
            Cause::Ashes if who.is_some() => Some("ashes fall to the ground"),
            Cause::Ashes if row.delta < 0 => Some("ashes destroy nothing"),
            Cause::Eat | Cause::Bury | Cause::Rub | Cause::Burn | Cause::Spend if row.delta > 0 => {
                Some("what is used up is not made")
            }
            Cause::Loot if who.is_some() || row.delta < 0 => {
                Some("loot comes to lie on the ground")
            }
            Cause::Starter
            | Cause::Quest
            | Cause::Gift
            | Cause::Expire
            | Cause::Eat
            | Cause::Bury
            | Cause::Rub
            | Cause::Burn
            | Cause::Ashes
            | Cause::Spend
            | Cause::Loot => None,
        };
        if let Some(why) = why {
            let whom = who.unwrap_or("the ground");
            let detail = format!("{whom}: {why} ({})", row.item);
            return Err(refused(who.into_iter().collect(), detail));
        }
    }
    if let Some((who, sum)) = noted.into_iter().find(|(_, sum)| *sum != 0) {
        let detail = format!("{who}: note makes {sum} of what was not there");
        return Err(refused(BTreeSet::from([who]), detail));
    }
    unworked(&worked)?;
    let odd = moved.into_iter().find(|(_, sum)| *sum != 0);
    let Some(((cause, item), sum)) = odd else {
        return Ok(());
    };
    let of = batch.ledger.iter();
    let of = of.filter(|row| row.cause == cause && row.item == item);
    let ids = of.filter_map(|row| row.character.as_deref()).collect();
    let detail = format!("{} of {item} leaves {sum} over", cause.name());
    Err(refused(ids, detail))
}

/// Whether somebody made something of nothing, or lost more in gathering than it gathered.
fn unworked(worked: &BTreeMap<(Cause, &str), (i64, i64)>) -> Result<(), CommitOutcome> {
    for ((cause, who), (gained, lost)) in worked {
        let why = match cause {
            Cause::Gather if lost > gained => "loses more than it gathers",
            Cause::Make if *gained > 0 && *lost == 0 => "makes something of nothing",
            _ => continue,
        };
        return Err(refused(BTreeSet::from([*who]), format!("{who}: {why}")));
    }
    Ok(())
}
