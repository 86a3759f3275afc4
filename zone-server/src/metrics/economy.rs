//! Coins and items that come into the world and go out of it, by the ledger's causes.
//!
//! Always: a batch counts once, when the store says that it has it, and never for an attempt; a
//! cause that only moves things between holders counts for nothing. The store itself writes off what
//! deleted characters had: it counts that, as `persistence_coins_written_off_total` and
//! `persistence_items_written_off_total`.

use std::collections::BTreeMap;

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Meter},
};
use proto::rpc::persistence::v1::LedgerRow;
use service_runtime::instruments::counter;
use world::{Balance, Cause, item::COINS};

/// Counters of things made and destroyed.
#[derive(Debug, Clone)]
pub(super) struct Economy {
    coins_made: Counter<u64>,
    coins_destroyed: Counter<u64>,
    items_made: Counter<u64>,
    items_destroyed: Counter<u64>,
}

/// Things made and destroyed by one cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    coins_made: u64,
    coins_destroyed: u64,
    items_made: u64,
    items_destroyed: u64,
}

impl Economy {
    pub(super) fn new(meter: &Meter) -> Economy {
        let count = |name, what| counter(meter, name, what);
        Economy {
            coins_made: count("zone_coins_made_total", "Coins made, by the ledger's cause"),
            coins_destroyed: count(
                "zone_coins_destroyed_total",
                "Coins destroyed, by the ledger's cause",
            ),
            items_made: count(
                "zone_items_made_total",
                "Items other than coins made, by the ledger's cause",
            ),
            items_destroyed: count(
                "zone_items_destroyed_total",
                "Items other than coins destroyed, by the ledger's cause",
            ),
        }
    }

    /// Counts the ledger of a batch that the store has applied.
    pub(super) fn applied(&self, ledger: &[LedgerRow]) {
        for (cause, sums) in sums(ledger) {
            let labels = [KeyValue::new("cause", cause.name())];
            for (counter, sum) in [
                (&self.coins_made, sums.coins_made),
                (&self.coins_destroyed, sums.coins_destroyed),
                (&self.items_made, sums.items_made),
                (&self.items_destroyed, sums.items_destroyed),
            ] {
                if sum > 0 {
                    counter.add(sum, &labels);
                }
            }
        }
    }
}

/// Returns what each cause made and destroyed.
fn sums(ledger: &[LedgerRow]) -> BTreeMap<Cause, Sums> {
    let mut all: BTreeMap<Cause, Sums> = BTreeMap::new();
    for row in ledger {
        let named = |cause: &&Cause| cause.name() == row.cause;
        let Some(cause) = Cause::ALL.iter().find(named).filter(|cause| makes(**cause)) else {
            continue;
        };
        let sums = all.entry(*cause).or_default();
        let sum = match (row.item_id == COINS, row.delta > 0) {
            (true, true) => &mut sums.coins_made,
            (true, false) => &mut sums.coins_destroyed,
            (false, true) => &mut sums.items_made,
            (false, false) => &mut sums.items_destroyed,
        };
        *sum = sum.saturating_add(row.delta.unsigned_abs());
    }
    all
}

/// Returns whether a cause makes or destroys things; else a holder's gain is another's loss.
const fn makes(cause: Cause) -> bool {
    match cause.balance() {
        Balance::Moves | Balance::Exchanges => false,
        Balance::Makes
        | Balance::Grants
        | Balance::Leaves
        | Balance::Destroys
        | Balance::Consumes
        | Balance::Changes
        | Balance::Gathers
        | Balance::Works
        | Balance::Buys
        | Balance::Sells => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cause: Cause, who: &str, item: &str, delta: i64) -> LedgerRow {
        LedgerRow {
            character_id: who.to_owned(),
            item_id: item.to_owned(),
            delta,
            cause: cause.name().to_owned(),
            ..LedgerRow::default()
        }
    }

    #[test]
    fn what_is_made_and_destroyed_is_summed_by_cause_and_what_moves_is_not() {
        let made = sums(&[
            row(Cause::ShopBuy, "ann", COINS, -12),
            row(Cause::ShopBuy, "ann", "shrimp", 3),
            row(Cause::ShopBuy, "bob", COINS, -8),
            row(Cause::Drop, "ann", "shrimp", -3),
            row(Cause::Drop, "", "shrimp", 3),
            row(Cause::Trade, "ann", COINS, -5),
            row(Cause::Trade, "bob", COINS, 5),
            row(Cause::Loot, "", COINS, 40),
            row(Cause::Expire, "", "shrimp", -3),
        ]);
        let bought = Sums {
            coins_destroyed: 20,
            items_made: 3,
            ..Sums::default()
        };
        let looted = Sums {
            coins_made: 40,
            ..Sums::default()
        };
        let expired = Sums {
            items_destroyed: 3,
            ..Sums::default()
        };
        let expected = [
            (Cause::Expire, expired),
            (Cause::Loot, looted),
            (Cause::ShopBuy, bought),
        ];
        assert_eq!(made, BTreeMap::from(expected));
    }

    #[test]
    fn a_cause_that_nobody_knows_makes_no_series() {
        let mut strange = row(Cause::Loot, "", COINS, 40);
        strange.cause = "made up".to_owned();
        assert!(sums(&[strange]).is_empty());
    }
}
