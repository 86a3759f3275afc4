//! Keeps what a run was given, so that a command can play it again.
//!
//! Always: every change to a run's world goes through `recorded`, which writes it down before
//! it is done; the same record gives the same world, byte for byte. In reading order: `change`
//! (what is written down), `recorder` (the bounded memory), `recorded` (the world that is
//! written down), `file` (as it lies in a folder), `again` (playing it), `command`.

mod again;
pub(crate) mod change;
pub(crate) mod command;
pub(crate) mod file;
pub(crate) mod recorded;
pub(crate) mod recorder;

#[cfg(test)]
mod tests;
