//! Bringing a player or a whole region from one zone to another without missing a tick.
//! `protocol` and `region` are pure: the states of a player and of a region between two owners;
//! `driver` talks.

pub(crate) mod driver;
pub(crate) mod protocol;
pub(crate) mod region;

#[cfg(test)]
mod model;
