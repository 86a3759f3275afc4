//! Bringing a player from one zone to another without missing a tick. `protocol` is pure: the
//! states of a player between two owners; `driver` talks.

pub(crate) mod driver;
pub(crate) mod protocol;
