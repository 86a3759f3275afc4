//! The regions that this run owns, and its right to do so. `give` is pure, as is the crate's
//! sibling `handover::decide`; `keeper` does it; `presence` watches the other runs, `progress` the own tick
//! loop.

pub(crate) mod agents;
pub(crate) mod directory;
pub(crate) mod give;
pub(crate) mod keeper;
pub(crate) mod lease;
pub(crate) mod mirror;
pub(crate) mod presence;
pub(crate) mod progress;
pub(crate) mod towns;
