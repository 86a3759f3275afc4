//! Decides whether items and coins may change owners in a tick. Pure.
//!
//! Always: the value that waits for the store is bounded. Nothing of value happens any more once
//! too much waits, or once it has waited for too long.

use world::Value;

/// Entries of the ledger that may wait for an acknowledgement.
pub(crate) const LEDGER_MAX: usize = 20_000;
/// Ticks for which a batch may wait for its answer: more than 5 s.
pub(crate) const WAIT_TICKS_MAX: u64 = 9;
/// Ticks for which a batch may wait when an attempt at it has failed.
const AWAY_TICKS_MAX: u64 = 3;

/// The state of commits at the beginning of a tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// Entries of the ledger that are not acknowledged.
    pub(crate) ledger: usize,
    /// Ticks since the batch in flight was cut.
    pub(crate) waiting_ticks: u64,
    /// Whether the last attempt at that batch has failed.
    pub(crate) failed: bool,
    /// Whether an operator has frozen value.
    pub(crate) frozen: bool,
}

/// Returns whether items and coins may change owners.
pub(crate) fn value(under: Pressure) -> Value {
    let ticks_max = if under.failed {
        AWAY_TICKS_MAX
    } else {
        WAIT_TICKS_MAX
    };
    if under.ledger > LEDGER_MAX || under.waiting_ticks >= ticks_max {
        Value::Unavailable
    } else if under.frozen {
        Value::Frozen
    } else {
        Value::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pressure_has_its_answer() {
        let table = [
            ((0, 0, false, false), Value::Open),
            ((20_000, 8, false, false), Value::Open),
            ((20_001, 0, false, false), Value::Unavailable),
            ((0, 9, false, false), Value::Unavailable),
            ((0, 2, true, false), Value::Open),
            ((0, 3, true, false), Value::Unavailable),
            ((0, 0, false, true), Value::Frozen),
            ((0, 9, false, true), Value::Unavailable),
        ];
        for ((ledger, waiting_ticks, failed, frozen), expected) in table {
            let under = Pressure {
                ledger,
                waiting_ticks,
                failed,
                frozen,
            };
            assert_eq!(value(under), expected, "{under:?}");
        }
    }
}
