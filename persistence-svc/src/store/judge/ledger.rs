//! Checks that each row of a batch's ledger stays within the balance class of its cause. Pure.
//!
//! Always: classes that make do not destroy, and the other way round; items that move add up to
//! nothing; classes for characters leave the ground alone.

use std::collections::{BTreeMap, BTreeSet};

use super::holdings::refused;
use crate::store::model::{Batch, CommitOutcome};
use crate::store::value::{Balance, COINS, DELETED, LedgerRow};

/// Gain and loss of one character, of all items together.
type Turnover = (i64, i64);

/// Sums over the rows of a batch, by cause.
#[derive(Debug, Default)]
struct Sums<'a> {
    /// Sums of items that move, by cause and item.
    moved: BTreeMap<(&'a str, &'a str), i64>,
    /// Sums of items that became others, by cause and character.
    changed: BTreeMap<(&'a str, &'a str), i64>,
    gathered: BTreeMap<(&'a str, &'a str), Turnover>,
    worked: BTreeMap<(&'a str, &'a str), Turnover>,
}

/// Fails with the outcome that refuses the batch.
pub(super) fn suits(batch: &Batch) -> Result<(), CommitOutcome> {
    let rows = batch.rows.iter().map(|row| row.record.id.as_str());
    let rows: BTreeSet<&str> = rows.collect();
    let mut sums = Sums::default();
    for row in &batch.ledger {
        let who = row.character.as_deref();
        let why = match who {
            Some(id) if !rows.contains(id) => Some("has no row in the batch"),
            _ => fault(row),
        };
        if let Some(why) = why {
            let detail = format!(
                "{}: {} of {}: {why}",
                who.unwrap_or("the ground"),
                row.cause,
                row.item
            );
            return Err(refused(who.into_iter().collect(), detail));
        }
        sums.add(row);
    }
    sums.add_up(batch)
}

/// Returns the reason why a row by itself breaks its class; `None`: it does not.
fn fault(row: &LedgerRow) -> Option<&'static str> {
    let on_ground = row.character.is_none();
    let makes = row.delta > 0;
    let coins = row.item == COINS;
    let wrong = match row.balance {
        _ if row.cause == DELETED => Some("only the store deletes"),
        Balance::Makes | Balance::Grants if !makes => Some("it destroys nothing"),
        Balance::Leaves if !makes || !on_ground => Some("it only leaves things on the ground"),
        Balance::Destroys | Balance::Consumes if makes => Some("it makes nothing"),
        Balance::Buys if coins == makes => Some("a buyer pays coins and gets things"),
        Balance::Sells if coins != makes => Some("a seller gets coins and gives things"),
        Balance::Makes
        | Balance::Grants
        | Balance::Leaves
        | Balance::Moves
        | Balance::Exchanges
        | Balance::Destroys
        | Balance::Consumes
        | Balance::Changes
        | Balance::Gathers
        | Balance::Works
        | Balance::Buys
        | Balance::Sells => None,
    };
    wrong.or((on_ground && !may_touch_ground(row.balance)).then_some("it leaves the ground alone"))
}

fn may_touch_ground(balance: Balance) -> bool {
    match balance {
        Balance::Makes | Balance::Leaves | Balance::Moves | Balance::Destroys => true,
        Balance::Grants
        | Balance::Exchanges
        | Balance::Consumes
        | Balance::Changes
        | Balance::Gathers
        | Balance::Works
        | Balance::Buys
        | Balance::Sells => false,
    }
}

impl<'a> Sums<'a> {
    fn add(&mut self, row: &'a LedgerRow) {
        let (cause, item) = (row.cause.as_str(), row.item.as_str());
        let who = row.character.as_deref().unwrap_or_default();
        let turnover = match row.balance {
            Balance::Moves | Balance::Exchanges => {
                *self.moved.entry((cause, item)).or_default() += row.delta;
                return;
            }
            Balance::Changes => {
                *self.changed.entry((cause, who)).or_default() += row.delta;
                return;
            }
            Balance::Gathers => self.gathered.entry((cause, who)).or_default(),
            Balance::Works => self.worked.entry((cause, who)).or_default(),
            Balance::Makes
            | Balance::Grants
            | Balance::Leaves
            | Balance::Destroys
            | Balance::Consumes
            | Balance::Buys
            | Balance::Sells => return,
        };
        turnover.0 += row.delta.max(0);
        turnover.1 -= row.delta.min(0);
    }

    fn add_up(self, batch: &Batch) -> Result<(), CommitOutcome> {
        let changed = self.changed.into_iter().filter(|(_, sum)| *sum != 0);
        let changed = changed.map(|(of, sum)| (of, format!("makes {sum} too many")));
        let gathered = self.gathered.into_iter();
        let gathered = gathered.filter(|(_, (gained, lost))| lost > gained);
        let gathered = gathered.map(|(of, _)| (of, "loses more than it gains".to_owned()));
        let worked = self.worked.into_iter();
        let worked = worked.filter(|(_, (gained, lost))| *gained > 0 && *lost == 0);
        let worked = worked.map(|(of, _)| (of, "makes something of nothing".to_owned()));
        if let Some(((cause, who), why)) = changed.chain(gathered).chain(worked).next() {
            return Err(refused(
                BTreeSet::from([who]),
                format!("{who}: {cause} {why}"),
            ));
        }
        let Some(((cause, item), sum)) = self.moved.into_iter().find(|(_, sum)| *sum != 0) else {
            return Ok(());
        };
        let of = batch.ledger.iter();
        let of = of.filter(|row| row.cause == cause && row.item == item);
        let ids = of.filter_map(|row| row.character.as_deref()).collect();
        Err(refused(ids, format!("{cause} of {item} leaves {sum} over")))
    }
}
