//! Brings the changes of ticks to the store. `batch` is pure: it merges, numbers and settles. It
//! uses `row` (one character), `value` (ground items, the ledger) and `rows` (the messages to the
//! store). `traces` keeps the trace contexts that a batch carries. `regions` says when a region's
//! state goes along, and `bounds` when value must wait; `committer` sends.

pub(crate) mod batch;
pub(crate) mod bounds;
pub(crate) mod committer;
pub(crate) mod regions;
mod row;
pub(crate) mod rows;
pub(crate) mod traces;
pub(crate) mod value;
